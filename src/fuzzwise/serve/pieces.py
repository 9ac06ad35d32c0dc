"""A page as pieces of HTML, of which only those that changed are sent again.

A piece is one element with ``data-piece``; a list is an element with ``data-list``, whose children
are pieces that come and go. Every reader is somewhere in the numbers of the changes: what is newer
than that is sent at once, however long a slow reader has missed, and nothing is kept for it.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

BEGUN = 0
"""Before any change: whoever is here needs everything."""


@dataclass
class Page:
    """The pieces of a page by name, and the lists in it with the names of their pieces in order."""

    pieces: dict[str, str] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Changes:
    """What a page is now, and which of its pieces changed when."""

    def __init__(self) -> None:
        self._name = secrets.token_hex(4)
        self._number = BEGUN
        self._page = Page()
        self._changed: dict[str, int] = {}
        self._lock = threading.Lock()

    def take(self, page: Page) -> Page:
        """The page is this now."""
        with self._lock:
            self._number += 1
            for names, new in (
                (self._page.pieces, page.pieces),
                (self._page.lists, page.lists),
            ):
                self._note(names, new)
            self._page = page
            return page

    def _note(self, old: Mapping[str, object], new: Mapping[str, object]) -> None:
        for name, value in new.items():
            if old.get(name) != value:
                self._changed[name] = self._number

    def mark(self) -> str:
        """Where a reader is who has all of the page."""
        return f"{self._name}:{self._number}"

    def since(self, mark: str) -> tuple[str, dict[str, object]]:
        """Where a reader is then, and all that is new for one who is at a mark; {} for nothing.

        A mark of another server, or of nobody, is one before everything.
        """
        name, _, number = mark.partition(":")
        known = int(number) if name == self._name and _is_number(number) else BEGUN
        with self._lock:
            pieces = self._newer(self._page.pieces, known)
            lists = self._newer(self._page.lists, known)
            news: dict[str, object] = {}
            if pieces:
                news["pieces"] = pieces
            if lists:
                news["lists"] = lists
            return f"{self._name}:{self._number}", news

    def _newer(self, of: Mapping[str, object], known: int) -> dict[str, object]:
        return {name: value for name, value in of.items() if self._changed.get(name, 0) > known}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 16
