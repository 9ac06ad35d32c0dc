"""Go's own fuzzer as an engine: fuzz tests, compiled by go and run by its fuzzer."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.config.table import Table
from fuzzwise.engines.contract import CommonKeys, Engine, FuzzRequest, Session, TargetPlan
from fuzzwise.triage.examine import INPUT
from fuzzwise.triage.workers import Workers


def _claims(program: Path, in_command: bool) -> bool:
    from fuzzwise.engines.go.module import is_for_go

    return not in_command and is_for_go(program)


def _read_target(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    from fuzzwise.engines.go.config import read_go

    return read_go(table, keys)


def _plan_fuzz(request: FuzzRequest) -> TargetPlan:
    from fuzzwise.engines.go.config import plan_fuzz

    return plan_fuzz(request)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:  # noqa: ARG001
    from fuzzwise.engines.go.session import GoSession

    return GoSession(plan, folder)


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    from fuzzwise.engines.go.module import FuzzTest
    from fuzzwise.engines.go.replay import words

    return (*words(FuzzTest(Path(plan.command[0]), plan.command[1])), INPUT)


def _made_of(plan: TargetPlan) -> tuple[Path, ...]:
    """The files of the module; the folder of the package, which is its program, has none."""
    from fuzzwise.engines.go.module import parts_of

    return parts_of(plan.program)


ENGINE = Engine(
    finds_coverage=True,
    keys=("package", "function", "corpus", "limits.time", "limits.memory_mib", "limits.startup"),
    read_target=_read_target,
    plan_fuzz=_plan_fuzz,
    open_session=_open_session,
    one_input=_one_input,
    claims=_claims,
    made_of=_made_of,
)
