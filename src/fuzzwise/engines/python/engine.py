"""Python functions as an engine: the sessions of observed libFuzzer, on a harness."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fuzzwise.config.table import Table
from fuzzwise.engines.contract import CommonKeys, Engine, FuzzRequest, Session, TargetPlan
from fuzzwise.engines.harness_keys import KEYS
from fuzzwise.engines.python import SUFFIX
from fuzzwise.engines.starting import STARTUP
from fuzzwise.triage.examine import INPUT
from fuzzwise.triage.workers import Workers


def _claims(program: Path, in_command: bool) -> bool:
    return program.suffix == SUFFIX and not in_command


def _read_target(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    from fuzzwise.engines.python.config import read_python

    return read_python(table, keys)


def _plan_fuzz(request: FuzzRequest) -> TargetPlan:
    from fuzzwise.engines.python.config import plan_fuzz

    return plan_fuzz(request)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:  # noqa: ARG001
    from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
    from fuzzwise.engines.python.launch import launch

    start = partial(launch, plan.program, _interpreter(plan), _startup(plan))
    return LibFuzzerSession(plan, folder, seed, start, partial(_one_input, plan))


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    from fuzzwise.engines.python.launch import replay

    return (*replay(plan.program, _interpreter(plan)), INPUT)


def _made_of(plan: TargetPlan) -> tuple[Path, ...]:
    """The harness, and the modules that it imported when it was loaded."""
    from fuzzwise.engines.python.probe import known_files

    return known_files(plan.program)


def _startup(plan: TargetPlan) -> float:
    return plan.settings.startup if plan.settings else STARTUP


def _interpreter(plan: TargetPlan) -> str | None:
    return plan.settings.python if plan.settings else None


ENGINE = Engine(
    finds_coverage=True,
    keys=("program", "python", *KEYS),
    read_target=_read_target,
    plan_fuzz=_plan_fuzz,
    open_session=_open_session,
    one_input=_one_input,
    shares_corpus=True,
    claims=_claims,
    made_of=_made_of,
)
