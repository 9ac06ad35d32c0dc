"""A running campaign: a picture that is redrawn on a terminal, lines of a log in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Self

from rich.text import Text

from fuzzwise.report import short
from fuzzwise.report.campaign.frame import frame, overview
from fuzzwise.report.campaign.news import news
from fuzzwise.report.terminal import Screen
from fuzzwise.store.states import CampaignState

DRAW_EVERY = 0.5
LOOK_EVERY = 2.0
SUMMARY_EVERY = 60.0
COST = 200
"""A picture that takes long is drawn less often: it may use one part in so many of a core."""


class View:
    """Shows a campaign while it runs; ``update`` is to be called again and again.

    ``read`` gives the campaign as it is now; what ``before`` knows already is no news in the log.
    A terminal that goes away, or a full disk under the log, ends the view and not the campaign.
    """

    def __init__(
        self,
        read: Callable[[], CampaignState],
        *,
        before: CampaignState | None = None,
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read = read
        self._quiet = quiet
        self._clock = clock
        self._known = {item.key for item in news(before)} if before else set()
        self._next = 0.0
        self._next_summary = 0.0
        self._screen: Screen | None = None

    def __enter__(self) -> Self:
        """Take over the terminal, if there is one."""
        self._next = self._clock()
        self._next_summary = self._next + SUMMARY_EVERY
        self._screen = None if self._quiet else Screen.take_over()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        """Give the terminal back, or end the log with a summary; not on top of an error."""
        screen, self._screen = self._screen, None
        try:
            if screen:
                screen.give_back()
            elif not (self._quiet or error):
                self._log(ended=True)
        except OSError:
            self._quiet = True

    def update(self) -> None:
        """Show the campaign, if it is time to."""
        if self._quiet or self._clock() < self._next:
            return
        began = time.thread_time()
        try:
            if self._screen:
                self._screen.draw(self._picture)
            else:
                self._log()
        except OSError:
            self._quiet = True
        rest = COST * (time.thread_time() - began)
        self._next = self._clock() + max(DRAW_EVERY if self._screen else LOOK_EVERY, rest)

    def _picture(self, width: int, height: int) -> Text:
        return Text("\n", no_wrap=True, end="").join(frame(self._read(), width, height))

    def _log(self, *, ended: bool = False) -> None:
        state = self._read()
        fresh = news(state, known=self._known)
        self._known.update(item.key for item in fresh)
        lines = [item.line() for item in fresh]
        late = self._clock() - self._next_summary
        if ended or late >= 0:
            self._next_summary += late - late % SUMMARY_EVERY + SUMMARY_EVERY
            budget = f" · budget {short.clock(state.budget)}" if state.budget else ""
            lines.append(f"{short.clock(state.seconds):>6}  {overview(state)}{budget}")
        if lines:
            sys.stderr.write("".join(f"{line}\n" for line in lines))
            sys.stderr.flush()
