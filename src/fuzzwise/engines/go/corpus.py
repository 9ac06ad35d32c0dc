"""What Go's fuzzer starts from: its cache in the target's folder, with copies of other files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.go.counts import GoFolder
from fuzzwise.engines.go.module import FuzzTest, import_path
from fuzzwise.errors import BadInput
from fuzzwise.files import files_of, make_folders, write_whole
from fuzzwise.received import read_limited

FORMAT = b"go test fuzz v1\n"
"""How a file of Go's corpora begins."""


class Corpus:
    """The cache of a fuzz test, which Go writes to; ``foreign``: the user's files that are none."""

    def __init__(self, plan: TargetPlan, test: FuzzTest, folder: GoFolder) -> None:
        self._theirs = plan.corpus
        self._test = test
        self.cache = folder.corpus / test.function
        self.foreign = 0

    def take_in(self, skipped: set[str]) -> None:
        """Copy the user's files, and what Go's own cache has of this test; both are only read."""
        make_folders(self.cache)
        self.foreign = 0
        for path in (*files_of(self._theirs), *_of_go(self._test)):
            try:
                content = read_limited(path)
            except (OSError, BadInput):
                content = b""
            if not content.startswith(FORMAT):
                self.foreign += 1
                continue
            name = name_of(content)
            if name not in skipped and not (self.cache / name).exists():
                write_whole(self.cache / name, content, to_disk=False)

    def drop(self, content: bytes) -> None:
        """Take out an input that fails: with it, Go would not start again."""
        for path in self.files():
            if path.stat().st_size == len(content) and path.read_bytes() == content:
                path.unlink()

    def files(self) -> Iterator[Path]:
        """The files in the cache."""
        yield from (path for path in self.cache.iterdir() if path.is_file())

    def notes(self) -> tuple[str, ...]:
        """What is to be told of it."""
        if not self.foreign:
            return ()
        return (
            f"{self.foreign:,} files of its corpus were left out: they do not begin with the line "
            "'go test fuzz v1', as Go's inputs do",
        )


def name_of(content: bytes) -> str:
    """The name of an input: Go's own is longer, or shorter, with its version."""
    return hashlib.sha256(content).hexdigest()


def _of_go(test: FuzzTest) -> list[Path]:
    """What `go test -fuzz` has found earlier, in Go's cache."""
    kept = os.environ.get("GOCACHE")
    base = Path(kept) if kept else _cache_home() / "go-build"
    name = import_path(test.package)
    place = base / "fuzz" / name / test.function
    return sorted(files_of([place])) if name and place.is_dir() else []


def _cache_home() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(home) if home else Path(os.environ.get("HOME", "/")) / ".cache"
