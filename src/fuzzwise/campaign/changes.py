"""Whether what a target is made of has changed: its program, its corpus, its dictionary."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fuzzwise.campaign.plan import PYTHON, TargetPlan
from fuzzwise.files import content_hash, stamp


def glance(plan: TargetPlan) -> tuple[object, ...]:
    """Something cheap that changes whenever the content may have changed."""
    places = [*_programs(plan), *plan.corpus, *([plan.dictionary] if plan.dictionary else [])]
    return tuple(_stamp(place) for place in places)


def signature(plan: TargetPlan) -> str:
    """The content of everything, in one hash; "" where the program is missing."""
    if not plan.program.is_file():
        return ""
    digest = hashlib.sha256(" ".join(map(_content, _programs(plan))).encode())
    for name in sorted(_content(path) for place in plan.corpus for path in _files(place)):
        digest.update(name.encode())
    if plan.dictionary:
        digest.update(_content(plan.dictionary).encode())
    return digest.hexdigest()


def _programs(plan: TargetPlan) -> tuple[Path, ...]:
    """The program; of a Python harness also the modules that it imported when it was loaded."""
    if plan.engine != PYTHON:
        return (plan.program,)
    from fuzzwise.engines.python.probe import known_files

    return known_files(plan.program)


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
