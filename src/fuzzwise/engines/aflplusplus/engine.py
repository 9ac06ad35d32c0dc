"""AFL++ as an engine: programs that its compilers have built."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzwise.engines.contract import Engine
from fuzzwise.errors import BadInput

if TYPE_CHECKING:
    from fuzzwise.campaign.plan import TargetPlan
    from fuzzwise.campaign.session import Session
    from fuzzwise.config.table import Table
    from fuzzwise.engines.keys.common import Common
    from fuzzwise.engines.progress import Supervisor
    from fuzzwise.engines.settings import Settings
    from fuzzwise.triage.workers import Workers


def _claims(program: Path, in_command: bool) -> bool:  # noqa: ARG001
    from fuzzwise.engines.aflplusplus.program import is_afl_target

    return is_afl_target(program)


def _read_target(table: Table, common: Common) -> list[TargetPlan]:
    from fuzzwise.engines.aflplusplus.config import read_afl

    return read_afl(table, common)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:
    from fuzzwise.engines.aflplusplus.session import AflSession

    return AflSession(plan, folder, seed, workers)


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    from fuzzwise.engines.aflplusplus.program import reproducing

    return reproducing(plan.command)


def _build_words(words: list[str], cxx: bool) -> list[str]:
    from fuzzwise.engines.aflplusplus.program import COMPILERS, CXX_COMPILERS, INSTALL

    for name in CXX_COMPILERS if cxx else COMPILERS:
        if found := shutil.which(name):
            return [found, *words]
    raise BadInput(f"No compiler of AFL++ was found. {INSTALL}")


def _supervise(settings: Settings) -> Supervisor:
    from fuzzwise.engines.aflplusplus.supervisor import AflSupervisor

    return AflSupervisor(settings)


ENGINE = Engine(
    finds_coverage=True,
    read_target=_read_target,
    open_session=_open_session,
    one_input=_one_input,
    claims=_claims,
    build_words=_build_words,
    supervise=_supervise,
)
