"""Whether what a target is made of has changed: its program, its corpus, its dictionary."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.registry import engine_named
from fuzzwise.files import content_hash, stamp


def glance(plan: TargetPlan) -> tuple[object, ...]:
    """Something cheap that changes whenever the content may have changed."""
    programs = engine_named(plan.engine).made_of(plan)
    places = [*programs, *plan.corpus, *([plan.dictionary] if plan.dictionary else [])]
    return tuple(_stamp(place) for place in places)


def signature(plan: TargetPlan) -> str:
    """The content of everything, in one hash; "" where the program is missing."""
    if not plan.program.exists():  # a folder, for Go
        return ""
    programs = engine_named(plan.engine).made_of(plan)
    digest = hashlib.sha256(" ".join(map(_content, programs)).encode())
    for name in sorted(_content(path) for place in plan.corpus for path in _files(place)):
        digest.update(name.encode())
    if plan.dictionary:
        digest.update(_content(plan.dictionary).encode())
    return digest.hexdigest()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        return stamp(path)
    except OSError:
        return None


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]


def _content(path: Path) -> str:
    try:
        return content_hash(path)
    except OSError:
        return ""
