"""A disk that forgets what nobody has synced: what a folder may be after a power cut.

``fsync`` of a file keeps its bytes, ``fsync`` of a folder the names in it. All else may be there or
not: names that were made, changed or removed since, each by itself; pages of files as they were, as
they are, or zero. The database is SQLite's own matter: what it has committed is there.
"""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PAGE = 4096


class Disk:
    """All that is below a folder, as it is and as it is kept; ``cut`` is called at each moment.

    A moment is before and after each sync, each change of a name, and at each call of ``moment``.
    """

    def __init__(self, top: Path, cut: Callable[[Disk], None]) -> None:
        self.top = top
        self._cut = cut
        self._files: dict[int, bytes] = {}  # by number of inode: as synced
        self._names: dict[int, dict[str, int]] = {top.stat().st_ino: {}}
        self._gone: dict[int, bytes] = {}  # what has no name any more, but may have one again
        self._held: list[int] = []  # keeps numbers of inodes from being used again
        self._real = {name: getattr(os, name) for name in ("fsync", "replace", "rename", "unlink")}

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Take part in every sync and rename of this process."""
        self._take_part()
        try:
            yield
        finally:
            self._leave()
            for handle in self._held:
                os.close(handle)

    def _take_part(self) -> None:
        os.fsync = self._fsync
        os.replace, os.rename = self._moves("replace"), self._moves("rename")
        os.unlink = self._unlink

    def _leave(self) -> None:
        for name, real in self._real.items():
            setattr(os, name, real)

    def moment(self) -> None:
        """Here the power may go; what is done about that is not watched."""
        self._leave()
        try:
            self._cut(self)
        finally:
            self._take_part()

    def image(self, rng: random.Random, target: Path) -> None:
        """What may be found after a power cut now."""
        self._copy(rng, self.top, self.top.stat().st_ino, target)

    def _fsync(self, handle: int) -> None:
        self.moment()
        info = os.fstat(handle)
        if stat.S_ISDIR(info.st_mode):
            path = Path(f"/proc/self/fd/{handle}").readlink()
            self._names[info.st_ino] = {p.name: p.lstat().st_ino for p in path.iterdir()}
        else:
            self._files[info.st_ino] = Path(f"/proc/self/fd/{handle}").read_bytes()
        self.moment()

    def _moves(self, name: str) -> Callable[..., None]:
        def move(source: object, target: object) -> None:
            self.moment()
            self._keep_in_mind(Path(str(target)))
            self._real[name](source, target)
            self.moment()

        return move

    def _unlink(self, path: object, **more: object) -> None:
        self._keep_in_mind(Path(str(path)))
        self._real["unlink"](path, **more)

    def _keep_in_mind(self, path: Path) -> None:
        if path.is_file() and path.is_relative_to(self.top):
            self._held.append(os.open(path, os.O_RDONLY))
            self._gone[path.stat().st_ino] = path.read_bytes()

    def _copy(self, rng: random.Random, now: Path | None, inode: int, target: Path) -> None:
        target.mkdir()
        present = {p.name: p.lstat().st_ino for p in now.iterdir()} if now else {}
        kept = self._names.get(inode, {})
        for name in sorted({*present, *kept}):
            if name.startswith("campaign.db"):
                (target / name).write_bytes((now / name).read_bytes())
                continue
            chosen = rng.choice((present.get(name), kept.get(name)))
            if chosen is None:
                continue
            at = self._find(chosen)
            if at is not None and at.is_dir():
                self._copy(rng, at, chosen, target / name)
            else:
                (target / name).write_bytes(self._content(rng, at, chosen))

    def _find(self, inode: int) -> Path | None:
        for path in self.top.rglob("*"):
            if path.lstat().st_ino == inode:
                return path
        return None

    def _content(self, rng: random.Random, at: Path | None, inode: int) -> bytes:
        now = at.read_bytes() if at is not None else self._gone[inode]
        kept = self._files.get(inode, b"")
        if now == kept:
            return now
        size = rng.choice((len(now), len(kept)))
        pages = [rng.choice((now, now, kept, b"")) for _ in range(0, size, PAGE)]
        content = b"".join(
            page[n * PAGE : (n + 1) * PAGE].ljust(PAGE, b"\0") for n, page in enumerate(pages)
        )
        return content[:size]
