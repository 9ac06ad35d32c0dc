"""AFL++ as an engine: programs that its compilers have built."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.config.table import Table
from fuzzwise.engines.contract import CommonKeys, Engine, FuzzRequest, Session, TargetPlan
from fuzzwise.engines.harness_keys import KEYS, SURROUNDINGS
from fuzzwise.errors import BadInput
from fuzzwise.programs import find
from fuzzwise.triage.workers import Workers


def _claims(program: Path, in_command: bool) -> bool:  # noqa: ARG001
    from fuzzwise.engines.aflplusplus.program import is_afl_target

    return is_afl_target(program)


def _read_target(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    from fuzzwise.engines.aflplusplus.config import read_afl

    return read_afl(table, keys)


def _plan_fuzz(request: FuzzRequest) -> TargetPlan:
    from fuzzwise.engines.aflplusplus.config import plan_fuzz

    return plan_fuzz(request)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:
    from fuzzwise.engines.aflplusplus.session import AflSession

    return AflSession(plan, folder, seed, workers)


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    from fuzzwise.engines.aflplusplus.program import reproducing

    return reproducing(plan.command)


def _build_words(words: list[str], cxx: bool) -> list[str]:
    from fuzzwise.engines.aflplusplus.program import COMPILERS, CXX_COMPILERS, INSTALL

    for name in CXX_COMPILERS if cxx else COMPILERS:
        if found := find(name):
            return [str(found), *words]
    raise BadInput(f"No compiler of AFL++ was found. {INSTALL}")


ENGINE = Engine(
    finds_coverage=True,
    keys=("program", "command", "sources", "flags", *KEYS, *SURROUNDINGS),
    read_target=_read_target,
    plan_fuzz=_plan_fuzz,
    open_session=_open_session,
    one_input=_one_input,
    shares_corpus=True,
    claims=_claims,
    build_words=_build_words,
)
