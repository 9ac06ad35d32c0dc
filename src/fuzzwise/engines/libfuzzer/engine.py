"""Observed libFuzzer as an engine: harnesses in C and C++."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzwise.config.table import Table
from fuzzwise.engines.contract import CommonKeys, Engine, FuzzRequest, Session, TargetPlan
from fuzzwise.engines.harness_keys import KEYS, SURROUNDINGS
from fuzzwise.triage.examine import INPUT
from fuzzwise.triage.workers import Workers

if TYPE_CHECKING:
    from fuzzwise.engines.libfuzzer.build import Toolchain


def _read_target(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    from fuzzwise.engines.libfuzzer.config import read_libfuzzer

    return read_libfuzzer(table, keys)


def _plan_fuzz(request: FuzzRequest) -> TargetPlan:
    from fuzzwise.engines.libfuzzer.config import plan_fuzz

    return plan_fuzz(request)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:  # noqa: ARG001
    from fuzzwise.engines.libfuzzer.session import LibFuzzerSession

    return LibFuzzerSession(plan, folder, seed)


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    return (plan.command[0], INPUT)


def _build_words(words: list[str], cxx: bool) -> list[str]:  # noqa: ARG001
    from fuzzwise.engines.libfuzzer.build import COMPILER_VARIABLE, build_words

    return build_words(_toolchain(os.environ.get(COMPILER_VARIABLE)), words)


@cache
def _toolchain(asked: str | None) -> Toolchain:  # noqa: ARG001
    """The clang of this machine, looked for once: a hundred targets have the same."""
    from fuzzwise.engines.libfuzzer.build import find_toolchain

    return find_toolchain()


ENGINE = Engine(
    finds_coverage=True,
    keys=("program", "sources", "flags", *KEYS, *SURROUNDINGS),
    read_target=_read_target,
    plan_fuzz=_plan_fuzz,
    open_session=_open_session,
    one_input=_one_input,
    shares_corpus=True,
    build_words=_build_words,
)
