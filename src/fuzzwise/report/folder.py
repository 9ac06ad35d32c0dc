"""What was found in a folder of targets, as people read it and as JSON."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzzwise.folders.campaign_text import campaign_folder
from fuzzwise.folders.model import SEEDS, TARGET, Found, FoundFile, FoundTarget, Tree
from fuzzwise.folders.programs import MEMORY_MIB, SECONDS
from fuzzwise.report import lines
from fuzzwise.text import many, printable

SHOWN, UNUSED = 100, 8
"""Files that are named of those of a kind that are used, and that are not for the same reason."""

ALL = "fuzzwise init --json names them"


def say(tree: Tree, found: Found, *, err: bool = False) -> None:
    """Print the list; what a line has too much stands a little to the right below it."""
    for line in listing(tree, found):
        lines.say(line, err=err, hang=len(line) - len(line.lstrip()) + 2)


def listing(tree: Tree, found: Found) -> Iterator[str]:
    """Each target with what belongs to it, then what is not used, by the reason."""
    folder = min(str(tree.folder), os.path.relpath(tree.folder), key=len)
    yield f"{printable(folder)}: {many(len(found.targets), 'target')}."
    width = max((len(target.name) for target in found.targets), default=0)
    for target in found.targets:
        yield f"  {target.name:<{width}}  {target.engine}{_called(tree, target)}{_with(target)}"
        for remark in target.remarks:
            yield f"    {printable(remark)}"
    yield from _beside(tree, found)
    yield from _unused(tree, found)


def _called(tree: Tree, target: FoundTarget) -> str:
    """The file of a target, where that is not its name."""
    program = target.keys.get("program")
    if not isinstance(program, Path) or tree.shown(program) == target.name:
        return ""
    return f" ({printable(tree.shown(program))})"


def _with(target: FoundTarget) -> str:
    """What a target has besides its program, in a few words."""
    words = []
    corpus = target.keys.get("corpus", ())
    if corpus:
        words.append("seeds")
    if "dictionary" in target.keys:
        words.append("dictionary")
    words += target.keys.get("options", ())
    if "max_length" in target.keys:
        words.append(f"max_length {target.keys['max_length']}")
    usual = {"time": SECONDS, "memory_mib": MEMORY_MIB}
    words += [
        f"{name} {value}" for name, value in target.limits.items() if value != usual.get(name)
    ]
    words += [f"{name}={value}" for name, value in target.environment.items()]
    return f": {printable(', '.join(map(str, words)))}" if words else ""


def _beside(tree: Tree, found: Found) -> Iterator[str]:
    """Files that are used, but no targets."""
    groups: dict[str, list[FoundFile]] = defaultdict(list)
    for each in found.files:
        if each.taken_for and each.taken_for != TARGET:
            groups[each.taken_for].append(each)
    for word, files in groups.items():
        yield f"  {word}: {_names(tree, files, SHOWN)}"


def _unused(tree: Tree, found: Found) -> Iterator[str]:
    groups: dict[str, list[FoundFile]] = defaultdict(list)
    for each in found.files:
        if not each.taken_for:
            groups[each.why].append(each)
    if groups:
        yield f"Not used ({many(sum(map(len, groups.values())), 'file')}):"
    for why, files in groups.items():
        yield f"  {_names(tree, files, UNUSED)}: {printable(why)}"


def _names(tree: Tree, files: list[FoundFile], most: int) -> str:
    names = [
        printable(tree.shown(each.path)) + (f" ({each.why})" if each.taken_for == SEEDS else "")
        for each in files[:most]
    ]
    if len(files) > most:
        names.append(f"{len(files) - most:,} more ({ALL})")
    return ", ".join(names)


def as_json(tree: Tree, found: Found) -> dict[str, Any]:
    """All of it, for programs."""
    return {
        "folder": str(tree.folder),
        "campaign": campaign_folder(tree),
        "targets": [
            {
                "name": target.name,
                "engine": target.engine,
                **{key: _plain(value) for key, value in target.keys.items()},
                "limits": dict(target.limits),
                "environment": dict(target.environment),
                "remarks": list(target.remarks),
            }
            for target in found.targets
        ],
        "files": [
            {
                "path": tree.shown(each.path),
                "taken_for": each.taken_for or None,
                "why": each.why or None,
                "target": each.target or None,
            }
            for each in found.files
        ],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, int | float | str) else str(value)
