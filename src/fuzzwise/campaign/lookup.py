"""From what a user has of a campaign, its folder, its file or an address, to where it is kept."""

from __future__ import annotations

import os
from pathlib import Path

from fuzzwise.campaign.file import folder_of
from fuzzwise.errors import BadInput
from fuzzwise.store.address import EXAMPLE, Address, is_address, read_address
from fuzzwise.store.binding import refuse_bound
from fuzzwise.store.places import Place, is_there

EXPECTED = (
    "Expected: the folder of a `fuzzwise fuzz` or of a `fuzzwise run`, or the file of a campaign "
    "(TOML)"
)


def campaign_place(given: str | Path) -> Place:
    """Where the campaign that a user names is kept; a text may be the address of a database."""
    if isinstance(given, str) and is_address(given):
        try:
            return read_address(given)
        except BadInput as problem:
            raise BadInput(
                f"What was given as the address of a database is none: {problem}; expected "
                f"{EXAMPLE}."
            ) from problem
    return _place(Path(given))


def campaign_folder(path: Path) -> Path:
    """The folder of the campaign that a path stands for; BadInput where there is no campaign."""
    place = _place(path)
    if isinstance(place, Address):
        raise BadInput(
            f"{path}: its campaign is kept in {place}; look at it with fuzzwise status, report or "
            "serve."
        )
    return place


def _place(path: Path) -> Place:
    try:
        if path.is_dir():
            return _with_campaign(path)
        if not path.exists():
            raise BadInput(f"{path}: there is no such file or folder. {EXPECTED}.")
        if is_there(path.parent) and path.samefile(path.parent / "campaign.db"):
            return path.parent
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}). {EXPECTED}.") from error
    return _of_file(path)


def _with_campaign(folder: Path) -> Path:
    if not is_there(folder):
        refuse_bound(folder)
        raise BadInput(
            f"{folder}: holds no campaign. {EXPECTED}; for the files of another fuzzer there is "
            "`fuzzwise watch`."
        )
    return folder


def _of_file(path: Path) -> Place:
    if not path.is_file():
        raise BadInput(f"{path}: is neither a file nor a folder. {EXPECTED}.")
    try:
        folder = folder_of(path)
    except BadInput as problem:
        raise BadInput(f"{str(problem).rstrip('.')}. {EXPECTED}.") from problem
    if isinstance(folder, Address):
        return folder
    if not is_there(folder):
        raise BadInput(
            f"{path}: there is no campaign in {_short(folder)} yet. Start it with: fuzzwise run "
            f"{path}; if it was started with --out, give that folder."
        )
    return folder


def _short(folder: Path) -> str:
    return min(str(folder), os.path.relpath(folder), key=len)
