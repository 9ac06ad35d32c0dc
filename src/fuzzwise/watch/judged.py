"""What follows from the files of a campaign that somebody else runs."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzwise.engines import idle, stability
from fuzzwise.judge import Judgement, Terms, judge_history
from fuzzwise.watch.reading import Reading

GROUPED = (
    "The file says how many discoveries lie between two of its lines, not where: they are spread "
    "evenly. Risk falls, so most were earlier than that, and the estimate errs on the high side; "
    "the campaign may stop only if its latest count allows it as well as the latest look."
)


@dataclass(frozen=True)
class Judged:
    """What was read of a campaign, and the judgement of it.

    ``notes``: what the reader had to say, then what limits the judgement.
    """

    reading: Reading
    judgement: Judgement
    notes: tuple[str, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether the accepted risk is reached; without one it never is."""
        return self.judgement.reached


def judge_reading(reading: Reading, terms: Terms) -> Judged:
    """The judgement of a reading."""
    unsettled = stability.unsettled(reading.stability) or _idle(reading)
    judgement = judge_history(reading.with_waiting, terms, exact=reading.exact, unsettled=unsettled)
    said = dict.fromkeys((*reading.notes, *stability.warnings(reading.stability)))
    notes = tuple(said) if reading.exact else (*said, GROUPED)
    return Judged(reading, judgement, notes)


def _idle(reading: Reading) -> str:
    """Why no risk is accepted of a target on which no input makes a difference."""
    found = reading.observation.discoveries
    if reading.corpus is None or found is None:
        return ""
    return idle.unsettled(reading.corpus, len(found))
