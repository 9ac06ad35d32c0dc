"""Black boxes as an engine: programs as they are, whose species are bugs."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.config.table import Table
from fuzzwise.engines.compilers import find_compiler, find_cxx_compiler
from fuzzwise.engines.contract import CommonKeys, Engine, FuzzRequest, Session, TargetPlan
from fuzzwise.triage.workers import Workers


def _claims(program: Path, in_command: bool) -> bool:  # noqa: ARG001
    return in_command


def _read_target(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    from fuzzwise.engines.blackbox.config import read_black_box

    return read_black_box(table, keys)


def _plan_fuzz(request: FuzzRequest) -> TargetPlan:
    from fuzzwise.engines.blackbox.config import plan_fuzz

    return plan_fuzz(request)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:
    from fuzzwise.engines.blackbox.session import BlackBoxSession

    return BlackBoxSession(plan, folder, seed, workers)


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    return plan.command


def _build_words(words: list[str], cxx: bool) -> list[str]:
    return [find_cxx_compiler() if cxx else find_compiler(), *words]


ENGINE = Engine(
    finds_coverage=False,
    keys=(
        *("command", "sources", "flags", "corpus", "mutation"),
        *("limits.time", "limits.memory_mib", "limits.file_mib", "limits.processes"),
    ),
    read_target=_read_target,
    plan_fuzz=_plan_fuzz,
    open_session=_open_session,
    one_input=_one_input,
    claims=_claims,
    build_words=_build_words,
)
