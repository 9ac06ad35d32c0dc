"""How often the inputs of a target fail, from turn to turn."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.engines.contract import Totals
from fuzzwise.triage.kinds import RESOURCE


@dataclass(frozen=True)
class Failures:
    """How often a target has failed, and of these, how often for want of time or of memory."""

    crashes: int = 0
    stalls: int = 0

    def since(self, before: Failures) -> Failures:
        """What came after; counts that began again have nothing less than none."""
        return Failures(max(0, self.crashes - before.crashes), max(0, self.stalls - before.stalls))


NO_FAILURES = Failures()


def failures(totals: Totals) -> Failures:
    """How often a target has shown its bugs, so far."""
    return Failures(
        sum(bug.count for bug in totals.bugs),
        sum(bug.count for bug in totals.bugs if bug.severity == RESOURCE),
    )
