"""Python functions as an engine: the sessions of observed libFuzzer, on a harness."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzwise.engines.contract import Engine

if TYPE_CHECKING:
    from fuzzwise.campaign.plan import TargetPlan
    from fuzzwise.campaign.session import Session
    from fuzzwise.config.table import Table
    from fuzzwise.engines.keys.common import Common
    from fuzzwise.engines.progress import Supervisor
    from fuzzwise.engines.settings import Settings
    from fuzzwise.triage.workers import Workers


def _claims(program: Path, in_command: bool) -> bool:
    from fuzzwise.engines.python.launch import SUFFIX

    return program.suffix == SUFFIX and not in_command


def _read_target(table: Table, common: Common) -> list[TargetPlan]:
    from fuzzwise.engines.python.config import read_python

    return read_python(table, common)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:  # noqa: ARG001
    from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
    from fuzzwise.engines.python.launch import launch

    return LibFuzzerSession(plan, folder, seed, partial(launch, plan.program, plan.python))


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    from fuzzwise.engines.python.launch import replay
    from fuzzwise.triage.examine import INPUT

    return (*replay(plan.program, plan.python), INPUT)


def _made_of(plan: TargetPlan) -> tuple[Path, ...]:
    """The harness, and the modules that it imported when it was loaded."""
    from fuzzwise.engines.python.probe import known_files

    return known_files(plan.program)


def _supervise(settings: Settings) -> Supervisor:
    from fuzzwise.engines.libfuzzer.supervisor import Supervisor as LibFuzzer
    from fuzzwise.engines.python.launch import launch

    return LibFuzzer(settings, launch(settings.target, settings.python))


ENGINE = Engine(
    finds_coverage=True,
    read_target=_read_target,
    open_session=_open_session,
    one_input=_one_input,
    claims=_claims,
    made_of=_made_of,
    supervise=_supervise,
)
