"""The note in a campaign's folder that its store is in a database, and which campaign it is there.

Nobody connects to what it names: the folder may have been received. It tells whose files these
are, and keeps a second store from being begun beside the first.
"""

from __future__ import annotations

import json
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.files import write_whole
from fuzzwise.received import parse_json, read_limited
from fuzzwise.store.address import Address, read_address
from fuzzwise.text import printable

FILE = "store.json"
_MOST = 1 << 16


def bind(folder: Path, address: Address, uid: str) -> None:
    """Note that a folder belongs to a campaign in a database."""
    note = {"store": str(address), "id": uid}
    if _note(folder) != note:
        write_whole(folder / FILE, f"{json.dumps(note)}\n".encode())


def is_bound(folder: Path, uid: str) -> bool:
    """Whether the files in a folder are those of a campaign."""
    return bool(uid) and _note(folder).get("id") == uid


def store_of(folder: Path) -> str:
    """The address that a folder names, for people; "" where it names none."""
    try:
        return str(read_address(_note(folder).get("store", "")))
    except BadInput:
        return ""


def refuse_bound(folder: Path) -> None:
    """BadInput where the store of the campaign in a folder is in a database."""
    if named := store_of(folder):
        raise BadInput(
            f"The campaign in {printable(str(folder))} is in a database: give its campaign file, "
            f"with store in its [campaign], or its address: {named}"
        )


def _note(folder: Path) -> dict[str, str]:
    try:
        found = parse_json(read_limited(folder / FILE, _MOST, follow=False))
    except (OSError, ValueError, BadInput):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, str)}
