"""What a folder holds: every kind of targets is looked for, in order, and no file is left out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fuzzwise.engines.target_keys import is_name
from fuzzwise.errors import BadInput
from fuzzwise.folders import cargo_fuzz, go_modules, programs, python_scripts, rest
from fuzzwise.folders.model import Found, FoundTarget, Tree
from fuzzwise.folders.walk import walk
from fuzzwise.text import printable

KINDS: tuple[Callable[[Tree], Found], ...] = (
    cargo_fuzz.find,
    go_modules.find,
    programs.find,
    python_scripts.find,
    rest.find,
)
"""One function for each kind of folder; each sees what those before it have left."""

_LONGEST = 80


def look(folder: Path, say: Callable[[str], None] = lambda _: None) -> tuple[Tree, Found]:
    """All that is in a folder; a folder may hold any mixture."""
    tree, others = walk(folder, say)
    found, left = Found(), tree
    for find in KINDS:
        more = find(left)
        left = left.without(more.files)
        found += more
    targets = tuple(_named(tree, found.targets))
    return tree, Found(targets, (*found.files, *others))


def look_for_targets(
    folder: Path, say: Callable[[str], None] = lambda _: None
) -> tuple[Tree, Found]:
    """The same; BadInput, with why each file is none, where there is no target."""
    tree, found = look(folder, say)
    if found.targets:
        return tree, found
    shown = [f"{printable(tree.shown(each.path))}: {each.why}" for each in found.files[:10]]
    more = [f"and {len(found.files) - 10:,} more"] if len(found.files) > 10 else []
    listed = "".join(f"\n  {line}" for line in (*shown, *more))
    raise BadInput(
        f"{printable(str(folder))}: there is no fuzz target in this folder. Looked for: programs "
        "with libFuzzer, AFL++ or fuzzwise in them, wrapper scripts of OSS-Fuzz, crates of "
        "cargo-fuzz, fuzz tests of Go, scripts of Atheris."
        f"{' What there is:' if shown else ' It is empty.'}{listed}"
    )


def _named(tree: Tree, targets: tuple[FoundTarget, ...]) -> list[FoundTarget]:
    """Each with a name of its own that a folder can have, whatever its file is called."""
    known: set[str] = set()
    named = []
    for target in targets:
        program = target.keys.get("program")
        longer = tree.shown(program) if isinstance(program, Path) else target.name
        name = _plain(target.name)
        if name.lower() in known:
            name = _plain(longer)
        number = 2
        plain = name
        while name.lower() in known:
            name, number = f"{plain}-{number}", number + 1
        known.add(name.lower())
        named.append(replace(target, name=name))
    return named


def _plain(text: str) -> str:
    """The characters of a text that a target's name may have."""
    text = unicodedata.normalize("NFKD", text).encode("ascii", "replace").decode()
    name = re.sub(r"[^A-Za-z0-9._+-]+", "_", text)[-_LONGEST:].lstrip("._+-")
    return name if is_name(name) else f"target-{name}" if is_name(f"target-{name}") else "target"
