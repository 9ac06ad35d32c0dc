"""Whether what a target is made of has changed: its program, its corpus, its dictionary."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from fuzzwise.campaign.plan import TargetPlan


def glance(plan: TargetPlan) -> tuple[object, ...]:
    """Something cheap that changes whenever the content may have changed."""
    places = [plan.program, *plan.corpus, *([plan.dictionary] if plan.dictionary else [])]
    return tuple(_stamp(place) for place in places)


def signature(plan: TargetPlan) -> str:
    """The content of everything, in one hash; "" where the program is missing."""
    if not plan.program.is_file():
        return ""
    digest = hashlib.sha256(_content(plan.program).encode())
    for name in sorted(_content(path) for place in plan.corpus for path in _files(place)):
        digest.update(name.encode())
    if plan.dictionary:
        digest.update(_content(plan.dictionary).encode())
    return digest.hexdigest()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]


def _content(path: Path) -> str:
    stamp = _stamp(path)
    return _hash(path, stamp) if stamp else ""


@lru_cache(maxsize=100_000)
def _hash(path: Path, stamp: tuple[int, int, int]) -> str:  # noqa: ARG001
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
