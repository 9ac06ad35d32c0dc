"""A file that grows: each read gives what was added since."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path

from fuzzwise.received import cannot_read, open_regular

PIECE = 4 << 20
LONGEST_LINE = 1 << 20
"""What has no line end for so many bytes is no text, and is passed over."""

KNOWN_START = 256


class Tail:
    """Reads whole lines only: one that is still being written is read when it is complete.

    A file that was replaced, cut, or written anew is read from its start.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.modified = 0.0
        self._where = 0
        self._start = b""
        self._identity: tuple[int, int] | None = None

    def read(self, take: Callable[[bytes], None], forget: Callable[[], None]) -> None:
        """Give what is new to ``take``, in pieces that end with a line.

        ``forget`` is called before, where what was taken so far is no longer in the file.
        """
        try:
            with open_regular(self.path) as file:
                info = os.fstat(file.fileno())
                self.modified = info.st_mtime
                if self._is_other(file, info):
                    self._where = 0
                    forget()
                for piece in self._whole_lines(file):
                    take(piece)
        except OSError as error:
            raise cannot_read(self.path, error) from error

    def read_lines(self, take: Callable[[str], None], forget: Callable[[], None]) -> None:
        """The same, a line at a time."""

        def take_piece(piece: bytes) -> None:
            for line in piece.decode(errors="replace").splitlines():
                take(line)

        self.read(take_piece, forget)

    def _is_other(self, file: FileIO, info: os.stat_result) -> bool:
        identity = (info.st_dev, info.st_ino)
        start = file.read(KNOWN_START)
        same = (
            identity == self._identity
            and info.st_size >= self._where
            and start.startswith(self._start)
        )
        is_first = self._identity is None
        self._identity, self._start = identity, start
        return not (same or is_first)

    def _whole_lines(self, file: FileIO) -> Iterator[bytes]:
        while True:
            file.seek(self._where)
            piece = file.read(PIECE)
            end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
            if not end and len(piece) > LONGEST_LINE:
                self._where = _next_data(file, self._where + len(piece))
                continue
            if not end:
                return
            self._where += end
            yield piece[:end]


def _next_data(file: FileIO, where: int) -> int:
    """Where a file goes on after a hole: one can be larger than any disk, and holds no line."""
    try:
        return os.lseek(file.fileno(), where, os.SEEK_DATA)
    except OSError:  # nothing but a hole, up to the end
        return max(where, os.fstat(file.fileno()).st_size)
