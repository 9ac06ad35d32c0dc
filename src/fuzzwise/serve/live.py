"""What changes on a page, sent to those who look at it as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool

from fuzzwise.errors import FuzzwiseError
from fuzzwise.serve.campaigns import Campaign
from fuzzwise.serve.pages import NotThere
from fuzzwise.serve.pieces import Changes, Page

BEAT = 15.0
"""Seconds after which a word is sent in any case, so that both sides notice a lost connection."""
AGAIN = 2000
"""Milliseconds after which a browser tries again."""
MOST_READERS = 100
MOST_VIEWS = 200
MOST_TOLD = 4
"""Events of a view that are kept for others who are where one reader was."""

Draw = Callable[[bool], Page]
"""Makes a page; draws its charts too, if it is told to, which takes a while."""


class View:
    """One page of one address, for all who look at it; drawn once for all of them."""

    def __init__(self, draw: Draw) -> None:
        self.changes = Changes()
        self._draw = draw
        self._drawing = asyncio.Lock()
        self._of: object = None
        self._told: dict[str, tuple[str, str]] = {}
        self._told_at = ""

    async def first(self) -> tuple[Page, str]:
        """The page now, without waiting for charts, and the mark of who has it."""
        async with self._drawing:
            page = await run_in_threadpool(self._draw, False)
            self._of = None  # its charts may still be missing
            return self.changes.take(page), self.changes.mark()

    async def refreshed(self, moment: object) -> None:
        """Draw it again, with its charts, if it is of another moment."""
        async with self._drawing:
            if self._of != moment:
                self.changes.take(await run_in_threadpool(self._draw, True))
                self._of = moment

    def news_since(self, mark: str) -> tuple[str, str]:
        """Where a reader is then, and the event for one at a mark; made once for all there."""
        now = self.changes.mark()
        if now != self._told_at:
            self._told, self._told_at = {}, now
        if mark not in self._told:
            told, news = self.changes.since(mark)
            text = _event("news", told, news) if news else ": nothing new\n\n"
            if len(self._told) >= MOST_TOLD:
                return told, text
            self._told[mark] = (told, text)
        return self._told[mark]


class Live:
    """All pages that somebody looks at, and the task that reads the stores for them."""

    def __init__(self, campaigns: list[Campaign]) -> None:
        self._campaigns = campaigns
        self._views: OrderedDict[object, View] = OrderedDict()
        self._bell = asyncio.Event()
        self._wanted = asyncio.Event()
        self.unexpected: Callable[[Exception], None] = lambda error: None  # noqa: ARG005
        self.readers = 0
        self.closing = False

    def view(self, key: object, draw: Draw) -> View:
        """The view of an address; those that nobody has asked for are forgotten in time."""
        view = self._views.setdefault(key, View(draw))
        self._views.move_to_end(key)
        while len(self._views) > MOST_VIEWS:
            self._views.popitem(last=False)
        return view

    def moment(self) -> object:
        """Changes whenever a campaign has."""
        return tuple(campaign.moment.number for campaign in self._campaigns)

    async def read_stores(self) -> None:
        """Look at the stores, once and then at their pace while anybody looks on."""
        while True:
            before = self.moment()
            for campaign in self._campaigns:
                try:
                    await run_in_threadpool(campaign.look)
                    await run_in_threadpool(campaign.look_back)
                except Exception as error:  # the page goes on as it was
                    self.unexpected(error)
            if before != self.moment():
                self._ring()
            await self._wanted.wait()
            await asyncio.sleep(max(0.2, min(c.pace.seconds_left() for c in self._campaigns)))

    def close(self) -> None:
        """Say goodbye to everybody."""
        self.closing = True
        self._ring()

    def _ring(self) -> None:
        self._bell.set()
        self._bell = asyncio.Event()

    async def events(self, view: View, mark: str) -> AsyncIterator[str]:
        """The events for one reader, who is at a mark; each is sent when the one before has gone.

        A reader who is slow gets fewer and larger ones: nothing is kept for it.
        """
        self.readers += 1
        self._wanted.set()
        try:
            yield f"retry: {AGAIN}\n\n"
            while True:
                bell, closing = self._bell, self.closing
                try:
                    await view.refreshed(self.moment())
                except (NotThere, FuzzwiseError) as error:
                    yield _event("problem", mark, {"sentence": str(error)})
                mark, text = view.news_since(mark)
                yield text
                if closing:
                    yield _event("bye", mark, {})
                    return
                await _rung(bell, BEAT)
        finally:
            self.readers -= 1
            if not self.readers:
                self._wanted.clear()


async def _rung(bell: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(bell.wait(), seconds)
    except TimeoutError:
        return


def _event(kind: str, mark: str, value: object) -> str:
    """An event; JSON has no line breaks, so that nothing in it can begin another."""
    return f"event: {kind}\nid: {mark}\ndata: {json.dumps(value)}\n\n"
