"""The campaign file for what was found in a folder: commented, ready to edit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fuzzwise.folders.model import Found, FoundTarget, Tree
from fuzzwise.text import many, printable

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LISTED = 200
"""Files that are not used which the file names; there may be many thousand."""


def campaign_text(tree: Tree, found: Found, home: Path) -> str:
    """The content of a campaign file in the folder ``home``."""
    return "\n".join(_lines(tree, found, home)) + "\n"


def campaign_name(tree: Tree) -> str:
    """What the campaign of a folder is called."""
    name = printable(tree.folder.name).strip()[:80]
    return name if name and name.isprintable() else "targets"


def campaign_folder(tree: Tree) -> str:
    """The folder of its campaign, beside the campaign file."""
    plain = re.sub(r"[^A-Za-z0-9._+-]+", "_", tree.folder.name)[:80].lstrip("-.")
    return f"{plain or 'targets'}-campaign"


def _lines(tree: Tree, found: Found, home: Path) -> Iterator[str]:
    folder = printable(str(tree.folder))
    yield f"# The campaign that `fuzzwise run {folder}` runs: {many(len(found.targets), 'target')}."
    yield "# Edit it, then give this file to fuzzwise run. All keys: docs/campaigns.md."
    yield ""
    yield "[campaign]"
    yield f"name = {_value(campaign_name(tree), home)}"
    yield f"out = {_value(campaign_folder(tree), home)}"
    yield '# budget = "4h"            # time by the clock, over all runs; or give --time'
    yield "# accepted_risk = 1e-5     # retire a target below this probability of anything new"
    for target in found.targets:
        yield ""
        yield from _target(target, home)
    yield from _unused(tree, found)


def _target(target: FoundTarget, home: Path) -> Iterator[str]:
    yield "[[target]]"
    for remark in target.remarks:
        yield f"# {printable(remark)}"
    keys = {"name": target.name, "engine": target.engine, **target.keys}
    for key, value in keys.items():
        yield f"{key} = {_value(value, home)}"
    if "corpus" not in keys:
        yield '# corpus = "FOLDER"        # seeds, if there are some elsewhere'
    yield from _table("limits", target.limits, home)
    yield from _table("environment", target.environment, home)


def _table(name: str, values: Mapping[str, Any], home: Path) -> Iterator[str]:
    if not values:
        return
    yield f"[target.{name}]"
    for key, value in values.items():
        yield f"{_key(key)} = {_value(value, home)}"


def _unused(tree: Tree, found: Found) -> Iterator[str]:
    unused = [each for each in found.files if not each.taken_for]
    if not unused:
        return
    yield ""
    yield "# Not used, and why:"
    for each in unused[:_LISTED]:
        yield f"#   {printable(tree.shown(each.path))}: {printable(each.why)}"
    if len(unused) > _LISTED:
        yield f"#   and {len(unused) - _LISTED:,} more (fuzzwise init --json lists all)"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any, home: Path) -> str:
    """A value as TOML writes it; a path as it is from the file's folder."""
    if isinstance(value, Path):
        return _text(str(value.relative_to(home)) if value.is_relative_to(home) else str(value))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, home) for item in value)}]"
    return json.dumps(value)


def _text(text: str) -> str:
    """A string of TOML, whose escapes are those of JSON; it knows no lone surrogates."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
