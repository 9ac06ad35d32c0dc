"""Observed libFuzzer as an engine: harnesses in C and C++."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzwise.engines.contract import Engine

if TYPE_CHECKING:
    from fuzzwise.campaign.plan import TargetPlan
    from fuzzwise.campaign.session import Session
    from fuzzwise.config.table import Table
    from fuzzwise.engines.keys.common import Common
    from fuzzwise.engines.libfuzzer.build import Toolchain
    from fuzzwise.engines.progress import Supervisor
    from fuzzwise.engines.settings import Settings
    from fuzzwise.triage.workers import Workers


def _read_target(table: Table, common: Common) -> list[TargetPlan]:
    from fuzzwise.engines.libfuzzer.config import read_libfuzzer

    return read_libfuzzer(table, common)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:  # noqa: ARG001
    from fuzzwise.engines.libfuzzer.session import LibFuzzerSession

    return LibFuzzerSession(plan, folder, seed)


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    from fuzzwise.triage.examine import INPUT

    return (plan.command[0], INPUT)


def _build_words(words: list[str], cxx: bool) -> list[str]:  # noqa: ARG001
    from fuzzwise.engines.libfuzzer.build import COMPILER_VARIABLE, build_words

    return build_words(_toolchain(os.environ.get(COMPILER_VARIABLE)), words)


@cache
def _toolchain(asked: str | None) -> Toolchain:  # noqa: ARG001
    """The clang of this machine, looked for once: a hundred targets have the same."""
    from fuzzwise.engines.libfuzzer.build import find_toolchain

    return find_toolchain()


def _supervise(settings: Settings) -> Supervisor:
    from fuzzwise.engines.libfuzzer.supervisor import Supervisor as LibFuzzer

    return LibFuzzer(settings)


ENGINE = Engine(
    finds_coverage=True,
    read_target=_read_target,
    open_session=_open_session,
    one_input=_one_input,
    build_words=_build_words,
    supervise=_supervise,
)
