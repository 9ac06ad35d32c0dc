"""The report's charts on live pages, each drawn anew only now and then: a drawing costs a lot."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from fuzzwise.errors import MissingExtra
from fuzzwise.report.campaign import charts
from fuzzwise.serve.pace import Pace

MOST_KEPT = 64
SHARE = 0.01
"""The part of a core that drawing may take, for each chart that somebody looks at."""
LEAST = 5.0


@dataclass
class _Drawing:
    svg: str = ""
    of: object = None
    pace: Pace = field(default_factory=lambda: Pace(SHARE, LEAST, 120.0))


class Drawings:
    """Charts by name; the oldest are forgotten."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, _Drawing] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: object, of: object, draw: Callable[[], str], *, wait: bool) -> str:
        """A chart of something; drawn now if ``wait`` and it has changed since, else as it was.

        "" where it was never drawn.
        """
        with self._lock:
            kept = self._kept.setdefault(name, _Drawing())
            self._kept.move_to_end(name)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
            if wait and kept.of != of and kept.pace.is_due():
                with kept.pace.working():
                    kept.svg, kept.of = draw(), of
            return kept.svg


def missing() -> str:
    """What to install before charts can be drawn; "" where they can."""
    try:
        charts.check_installed()
    except MissingExtra as error:
        return str(error)
    return ""
