"""What an engine is to the rest: all that differs from one to another, in one object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzzwise.campaign.plan import TargetPlan
    from fuzzwise.campaign.session import Session
    from fuzzwise.config.table import Table
    from fuzzwise.engines.keys.common import Common
    from fuzzwise.engines.progress import Supervisor
    from fuzzwise.engines.settings import Settings
    from fuzzwise.triage.workers import Workers


def _nothing(program: Path, in_command: bool) -> bool:  # noqa: ARG001
    return False


def _program_alone(plan: TargetPlan) -> tuple[Path, ...]:
    return (plan.program,)


@dataclass(frozen=True)
class Engine:
    """One engine; its functions import what they need when they are called."""

    finds_coverage: bool
    """Whether its species are coverage; those of others are bugs."""

    read_target: Callable[[Table, Common], list[TargetPlan]]
    """The targets of a [[target]]; none, with a problem in the table, where something is wrong."""

    open_session: Callable[[TargetPlan, Path, int, Workers], Session]
    """From a target, its folder, a random seed and triage's workers to its session."""

    one_input: Callable[[TargetPlan], tuple[str, ...]]
    """The command that runs a target on one input, with @@ for its file."""

    claims: Callable[[Path, bool], bool] = _nothing
    """Whether a program for which nobody names an engine is one for it: the program of a command
    (True), or one that is given by itself. It need not exist."""

    made_of: Callable[[TargetPlan], tuple[Path, ...]] = _program_alone
    """The files that make a target what it is; with other content it is another one."""

    build_words: Callable[[list[str], bool], list[str]] | None = None
    """The command of a compiler from its words; for sources in C++ (True) or C. None: its targets
    have no sources."""

    supervise: Callable[[Settings], Supervisor] | None = None
    """Who keeps ``fuzzwise fuzz`` going on one target; None: that command does not have it."""
