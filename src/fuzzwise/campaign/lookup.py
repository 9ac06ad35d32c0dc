"""From what a user has of a campaign, its folder or its file, to the folder."""

from __future__ import annotations

import os
from pathlib import Path

from fuzzwise.campaign.file import folder_of
from fuzzwise.errors import BadInput
from fuzzwise.store.places import is_there

EXPECTED = (
    "Expected: the folder of a `fuzzwise fuzz` or of a `fuzzwise run`, or the file of a campaign "
    "(TOML)"
)


def campaign_folder(path: Path) -> Path:
    """The folder of the campaign that a path stands for; BadInput where there is no campaign."""
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
        raise BadInput(
            f"{folder}: holds no campaign. {EXPECTED}; for the files of another fuzzer there is "
            "`fuzzwise watch`."
        )
    return folder


def _of_file(path: Path) -> Path:
    if not path.is_file():
        raise BadInput(f"{path}: is neither a file nor a folder. {EXPECTED}.")
    try:
        folder = folder_of(path)
    except BadInput as problem:
        raise BadInput(f"{str(problem).rstrip('.')}. {EXPECTED}.") from problem
    if not is_there(folder):
        raise BadInput(
            f"{path}: there is no campaign in {_short(folder)} yet. Start it with: fuzzwise run "
            f"{path}; if it was started with --out, give that folder."
        )
    return folder


def _short(folder: Path) -> str:
    return min(str(folder), os.path.relpath(folder), key=len)
