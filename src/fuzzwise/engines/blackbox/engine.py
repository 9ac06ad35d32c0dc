"""Black boxes as an engine: programs as they are, whose species are bugs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzwise.engines.engine import Engine
from fuzzwise.errors import BadInput

if TYPE_CHECKING:
    from fuzzwise.campaign.plan import TargetPlan
    from fuzzwise.campaign.session import Session
    from fuzzwise.campaign.target_common import Common
    from fuzzwise.settings import Table
    from fuzzwise.triage.workers import Workers


def _claims(program: Path, in_command: bool) -> bool:  # noqa: ARG001
    return in_command


def _read_target(table: Table, common: Common) -> list[TargetPlan]:
    from fuzzwise.campaign.black_box_table import read_black_box

    return read_black_box(table, common)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:
    from fuzzwise.engines.blackbox.session import BlackBoxSession

    return BlackBoxSession(plan, folder, seed, workers)


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    return plan.command


def _build_words(words: list[str], cxx: bool) -> list[str]:
    from fuzzwise.engines.blackbox.build import find_compiler

    return [_cxx_compiler() if cxx else find_compiler(), *words]


def _cxx_compiler() -> str:
    for name in ("c++", "g++", "clang++"):
        if found := shutil.which(name):
            return found
    raise BadInput("No C++ compiler was found. Install one with: apt-get install g++")


ENGINE = Engine(
    finds_coverage=False,
    read_target=_read_target,
    open_session=_open_session,
    one_input=_one_input,
    claims=_claims,
    build_words=_build_words,
)
