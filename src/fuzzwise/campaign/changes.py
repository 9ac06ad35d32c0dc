"""Whether what a target is made of has changed: its program, its corpus, its dictionary."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.registry import engine_named
from fuzzwise.files import content_hash, stamp


def glance(plan: TargetPlan) -> tuple[object, ...]:
    """Something cheap that changes whenever the content may have changed."""
    return tuple(
        _stamp(place)
        for part in plan.parts
        for place in (*_programs(part), *part.corpus, *_dictionary(part))
    )


def signature(plan: TargetPlan) -> str:
    """The content of everything, in one hash; "" where the program is missing."""
    digest = hashlib.sha256()
    for part in plan.parts:
        if not part.program.exists():  # a folder, for Go
            return ""
        digest.update(" ".join(map(_content, _programs(part))).encode())
        for name in sorted(_content(path) for place in part.corpus for path in _files(place)):
            digest.update(name.encode())
        for dictionary in _dictionary(part):
            digest.update(_content(dictionary).encode())
    return digest.hexdigest()


def _programs(part: TargetPlan) -> tuple[Path, ...]:
    return engine_named(part.engine).made_of(part)


def _dictionary(part: TargetPlan) -> tuple[Path, ...]:
    return (part.dictionary,) if part.dictionary else ()


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
