"""The campaigns that are served, each by a key for its addresses, and what was read of them."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fuzzwise.errors import FuzzwiseError
from fuzzwise.serve.pace import Pace
from fuzzwise.serve.sparks import spark
from fuzzwise.store.contract import Reader
from fuzzwise.store.places import Place, glance, open_reader
from fuzzwise.store.states import CampaignState
from fuzzwise.text import printable

OFTEN = 1.0
"""Seconds between two readings of a store, at least."""
STATE_SHARE = 0.010
"""The part of a core for reading what all campaigns are now, and drawing their pages anew."""
SPARKS_SHARE = 0.003
"""The part of a core for reading what they were before."""
SPARK_POINTS = 24


@dataclass(frozen=True)
class Moment:
    """A campaign as it was last read; ``problem`` says why it could not be.

    ``number`` counts the moments that differ. ``state`` is the latest that could be read.
    """

    number: int = 0
    state: CampaignState | None = None
    problem: str = ""
    sparks: Mapping[str, str] = field(default_factory=dict)


class Campaign:
    """One campaign; any thread may ask it to look again."""

    def __init__(self, key: str, place: Place, share: float = 1.0) -> None:
        self.key = key
        self.place = place
        self.moment = Moment()
        self.pace = Pace(STATE_SHARE * share, OFTEN)
        self._sparks_pace = Pace(SPARKS_SHARE * share, 2 * OFTEN)
        self._reader: Reader = open_reader(place)
        self._seen: object = None
        self._seen_before: object = None
        self._reading = threading.Lock()

    @property
    def reader(self) -> Reader:
        """For what only one page needs."""
        return self._reader

    def look(self, *, at_once: bool = False) -> Moment:
        """The latest moment; reads the store if that is due and something may have changed."""
        with self._reading:
            if at_once or self.pace.is_due():
                with self.pace.working():
                    self._read()
            return self.moment

    def look_back(self) -> None:
        """Read what the targets were before, if that is due."""
        state = self.moment.state
        if state is None or not self._sparks_pace.is_due():
            return
        with self._sparks_pace.working():
            try:
                history = self._reader.history(SPARK_POINTS)
            except FuzzwiseError:
                return  # the next reading of the state says what is wrong
            accepted = {target.name: target.accepted_risk for target in state.targets}
            sparks = {past.name: spark(past, accepted.get(past.name)) for past in history}
        with self._reading:
            now = self.moment
            if sparks != now.sparks:
                self.moment = Moment(now.number + 1, now.state, now.problem, sparks)

    def _read(self) -> None:
        now = self.moment
        state: CampaignState | None
        files, running = glance(self.place), self._reader.is_running()
        seen = (files, running)
        try:
            if seen == self._seen == self._seen_before and not now.problem:
                return
            state, problem = self._reader.state(), ""
            # And once more at the next look: files written twice within a tick look alike.
            self._seen_before, self._seen = self._seen, seen
        except FuzzwiseError as error:
            has_begun = files is not None and not running
            state, problem = now.state, printable(str(error)) if has_begun or now.state else ""
        except OSError as error:
            state, problem = now.state, f"The store cannot be read ({error.strerror})."
        if (state, problem) != (now.state, now.problem):
            self.moment = Moment(now.number + 1, state, problem, now.sparks)


def campaigns_of(places: Iterable[Place]) -> dict[str, Campaign]:
    """Campaigns by their keys, in the order in which they were given; each place once."""
    unique = list(dict.fromkeys(p.absolute() if isinstance(p, Path) else p for p in places))
    made: dict[str, Campaign] = {}
    for place in unique:
        key = _key(place, made)
        made[key] = Campaign(key, place, 1.0 / len(unique))
    return made


def _key(place: Place, taken: Iterable[str]) -> str:
    """The name of the folder, or of the one above where all are called alike, in plain letters.

    Of a campaign in a database, its own name.
    """
    if isinstance(place, Path):
        names = [place.name, f"{place.parent.name}-{place.name}"]
    else:
        names = [place.campaign or "campaign"]
    plain = [re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "campaign" for name in names]
    numbered = (f"{plain[0]}-{number}" for number in range(2, 1 << 20))
    return next(key for key in (*plain, *numbered) if key not in set(taken))
