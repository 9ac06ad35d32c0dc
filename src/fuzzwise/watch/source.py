"""What every reader of a fuzzer's files offers."""

from __future__ import annotations

from typing import Protocol

from fuzzwise.watch.reading import Reading


class Source(Protocol):
    """The files of one campaign; it keeps what it has read, so that reading again is cheap."""

    def read(self) -> Reading:
        """The campaign as its files tell now; BadInput where they cannot be read any more."""
        ...
