"""Mutation and limits as tables of a settings file."""

from __future__ import annotations

from typing import Any

from fuzzwise.config.table import Table, duration
from fuzzwise.engines.blackbox.model import KINDS, Limits, Mutation


def read_mutation(table: Table) -> Mutation:
    """How inputs are made: ratio, kinds and max_length; what is missing has its default."""
    default = Mutation()
    expected = "a share of the bits from 0 to 1, or a range [low, high] of them"
    ratio = table.value("ratio", expected, _ratio, default.ratio)
    kinds = table.choices("kinds", KINDS, default.kinds)
    length = table.whole("max_length", default.max_length, 1, 1 << 26)
    table.finish()
    return Mutation(ratio=ratio, kinds=kinds, max_length=length)


def read_limits(table: Table) -> Limits:
    """What a run may use: time, memory_mib, file_mib and processes."""
    default = Limits()
    seconds = table.value("time", 'a time from "10ms" to "1d"', _run_time, default.seconds)
    memory = table.whole("memory_mib", default.memory_mib, 1, 1 << 24)
    file = table.whole("file_mib", default.file_mib, 1, 1 << 20)
    processes = table.whole("processes", default.processes, 1, 4000)
    table.finish()
    return Limits(seconds=seconds, memory_mib=memory, file_mib=file, processes=processes)


def _run_time(value: Any) -> float:
    return Limits(seconds=duration(value)).seconds


def _ratio(value: Any) -> tuple[float, float]:
    low, high = value if isinstance(value, list) else (value, value)
    if isinstance(low, bool) or isinstance(high, bool):
        raise ValueError
    return Mutation(ratio=(float(low), float(high))).ratio
