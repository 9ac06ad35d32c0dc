"""Bugs that are known already: only others fail a build."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fuzzwise.errors import BadInput
from fuzzwise.received import parse_json, read_limited
from fuzzwise.store.states import BugState

_ID = re.compile(r"[0-9a-f]{16}")


def read_baseline(path: Path) -> set[str]:
    """The ids in a file: JSON of ``run``, ``status``, ``report`` or ``triage``, or an id a line.

    In a plain list, what follows an id is a remark, and so is a line that begins with #.
    """
    try:
        text = read_limited(path).decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{path}: the baseline cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: the baseline is not a text file in UTF-8.") from error
    if text.lstrip().startswith("{"):
        return _from_json(path, text)
    found = set()
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if not _ID.fullmatch(words[0]):
            raise BadInput(
                f"{path}, line {number}: {words[0]!r} is not the id of a bug; expected 16 digits "
                "and letters a to f, as `fuzzwise status` prints them."
            )
        found.add(words[0])
    return found


def new_bugs(bugs: Iterable[BugState], known: set[str]) -> set[str]:
    """The ids of the bugs that are not known."""
    return {bug.id for bug in bugs} - known


def _from_json(path: Path, text: str) -> set[str]:
    try:
        document: Any = parse_json(text)
    except ValueError as error:
        raise BadInput(f"{path}: the baseline is not valid JSON ({error}).") from error
    try:
        found = {bug["id"] for bug in document["bugs"]}
        wrong = not all(_ID.fullmatch(name) for name in found)
    except (KeyError, TypeError):
        wrong = True
    if wrong:
        raise BadInput(
            f"{path}: the baseline has no list of bugs with ids. Make one with: "
            "fuzzwise status DIR --json > baseline.json"
        )
    return found
