"""Stock libFuzzer as an engine: programs that somebody else has built."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.config.table import Table
from fuzzwise.engines.contract import CommonKeys, Engine, FuzzRequest, Session, TargetPlan
from fuzzwise.engines.harness_keys import KEYS, SURROUNDINGS
from fuzzwise.triage.examine import INPUT
from fuzzwise.triage.workers import Workers


def _claims(program: Path, in_command: bool) -> bool:
    from fuzzwise.engines.stock.recognise import is_stock

    return not in_command and is_stock(program)


def _read_target(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    from fuzzwise.engines.stock.config import read_stock

    return read_stock(table, keys)


def _plan_fuzz(request: FuzzRequest) -> TargetPlan:
    from fuzzwise.engines.stock.config import plan_fuzz

    return plan_fuzz(request)


def _open_session(plan: TargetPlan, folder: Path, seed: int, workers: Workers) -> Session:  # noqa: ARG001
    from fuzzwise.engines.stock.session import StockSession

    return StockSession(plan, folder, seed)


def _one_input(plan: TargetPlan) -> tuple[str, ...]:
    return (plan.command[0], INPUT)


def _made_of(plan: TargetPlan) -> tuple[Path, ...]:
    from fuzzwise.engines.stock.parts import parts_of

    return parts_of(plan.program)


ENGINE = Engine(
    finds_coverage=True,
    keys=("program", *KEYS, *SURROUNDINGS),
    read_target=_read_target,
    plan_fuzz=_plan_fuzz,
    open_session=_open_session,
    one_input=_one_input,
    shares_corpus=True,
    claims=_claims,
    made_of=_made_of,
)
