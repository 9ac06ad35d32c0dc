"""The folder of a campaign on one target: the only place that knows what is where in it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from fuzzwise.errors import BadInput
from fuzzwise.files import (
    InUse,
    content_hash,
    locked_file,
    make_folders,
    see_to_disk,
    write_whole,
)
from fuzzwise.received import parse_json, read_limited
from fuzzwise.text import LONGEST, MOST

ARTIFACTS = ("crash", "timeout", "oom", "leak")
"""How the names of the inputs begin that libFuzzer writes when it ends."""


class AnotherBuild(BadInput):
    """The counts are those of another build of the target."""


class OtherSettings(AnotherBuild):
    """The counts were made in another way: of other species, for example."""


class DamagedState(BadInput):
    """What is on disk cannot be what was written."""


class CampaignFolder:
    """Paths, the record of what the campaign is, and the lock."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.state = out / "state"
        self.corpus = out / "corpus"
        self.crashes = out / "crashes"
        self.scratch = out / "scratch"
        self.not_shown = out / "not-shown"
        self._record = out / "campaign.json"
        self._written = b""
        self._open = False

    def make(self) -> None:
        """Make the folders."""
        try:
            make_folders(self.state, self.corpus, self.crashes, self.scratch)
        except OSError as error:
            raise BadInput(
                f"{self.out}: cannot be used for the campaign ({error.strerror})."
            ) from error

    @contextlib.contextmanager
    def only_one(self) -> Iterator[None]:
        """One session a folder; the lock goes with the process, however it ends."""
        try:
            file = locked_file(self.out / "counts.lock")
        except InUse as error:
            raise BadInput(
                f"{self.out}: another fuzzwise is running this campaign. Wait for it, "
                "or use another --out folder."
            ) from error
        with file:
            yield

    def state_exists(self) -> bool:
        """Whether a fuzzing process has begun to count, or something else is in that place."""
        try:
            info = (self.state / "head").lstat()
        except OSError:
            return False
        return info.st_size > 0 or not stat.S_ISREG(info.st_mode)

    def artifacts(self) -> list[Path]:
        """Crashing inputs that are in no bug's folder yet."""
        return [
            path
            for path in self.crashes.iterdir()
            if path.is_file() and path.name.split("-")[0] in ARTIFACTS
        ]

    def put_aside(self, artifact: Path) -> None:
        """Keep an input that was written as a crashing one, but does not crash."""
        self.not_shown.mkdir(exist_ok=True)
        artifact.replace(self.not_shown / artifact.name)

    def record(self) -> dict[str, Any] | None:
        """What the folder says that it holds; None where it holds no campaign."""
        try:
            record: dict[str, Any] = parse_json(read_limited(self._record, follow=False))
            _check(record)
        except FileNotFoundError:
            if self.state_exists():
                raise DamagedState(
                    f"{self._record}: is missing. Use another --out folder."
                ) from None
            return None
        except (OSError, ValueError, BadInput) as error:
            raise DamagedState(
                f"{self._record}: is damaged ({error}). Use another --out folder."
            ) from error
        if record.get("open", boot()) != boot():
            raise DamagedState(
                f"{self.out}: the machine went down in the midst of a turn, so that some of the "
                "counts may be older than others."
            )
        return record

    def agreed(self, build: str, kind: dict[str, Any]) -> dict[str, Any]:
        """The record, if it is of this build and kind; a new one for a new folder."""
        record = self.record()
        fresh = {"fingerprint": build, "settings": kind, "generation": os.urandom(8).hex()}
        if record is None:
            return fresh
        if not self.state_exists():  # nothing was counted yet
            is_same = (record.get("fingerprint"), record.get("settings")) == (build, kind)
            return record if is_same and "generation" in record else fresh
        if record.get("fingerprint") != build:
            raise AnotherBuild(
                f"{self.out} holds a campaign of another build of the target. Counts of two "
                "builds do not add up; use another --out folder, with its corpus/ as CORPUS."
            )
        if record.get("settings") != kind:
            raise OtherSettings(
                f"{self.out} holds a campaign with other settings ({record.get('settings')}). "
                "Use the same, or another --out folder."
            )
        if "generation" not in record:
            raise DamagedState(f"{self._record}: is damaged (it has no generation).")
        return record

    def begin_turn(self, record: dict[str, Any]) -> None:
        """Say in the record, for good, that the counts change from now on.

        The kernel writes their pages in any order. Where it did not come to the end of that, the
        record names another start of the machine than the present one.
        """
        self._open = True
        self.write(record, to_disk=True)

    def end_turn(self, record: dict[str, Any]) -> None:
        """See the counts to the disk, and then the record which says that they are whole."""
        try:
            if self.state.is_dir():
                files = [path for path in self.state.iterdir() if path.is_file()]
                see_to_disk(*files, self.state)
        except OSError as error:
            raise BadInput(f"{self.state}: cannot be written ({error.strerror}).") from error
        self._open = False
        self.write(record, to_disk=True)

    def write(self, record: dict[str, Any], *, to_disk: bool = False) -> None:
        """Write the record, whole or not at all; ``to_disk`` takes too long many times a second."""
        told = {key: value for key, value in record.items() if key != "open"}
        if self._open:
            told["open"] = boot()
        text = json.dumps(told, indent=1).encode()
        if text == self._written:
            return
        try:
            write_whole(self._record, text, to_disk=to_disk)
        except OSError as error:
            raise BadInput(f"{self._record}: cannot be written ({error.strerror}).") from error
        self._written = text

    def begin_again(self, *others: Path) -> None:
        """Put the counts aside, and ``others`` that belong to them.

        The corpus and the bugs stay, and are where the next counts begin.
        """
        number = 1
        try:
            while (aside := self.out / f"old-{number}").exists():
                number += 1
            aside.mkdir()
            for path in (*others, self.state, self._record):
                if path.exists():
                    shutil.move(path, aside / path.name)
            see_to_disk(aside, self.out)
        except OSError as error:
            raise BadInput(f"{self.out}: cannot be changed ({error.strerror}).") from error
        self._written = b""


_WORDS = ("fingerprint", "generation", "target", "package", "open")
_NUMBERS = {"seconds": LONGEST, "core_seconds": LONGEST, "inputs": MOST, "at_once": MOST}
_LISTS = ("command", "skipped")


def _check(record: object) -> None:
    """Refuse a record that nobody has written: ValueError, with the key."""
    if not isinstance(record, dict):
        raise ValueError("it is no table")
    for key, value in record.items():
        if key in _WORDS:
            sound = isinstance(value, str)
        elif key in _NUMBERS:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            sound = is_number and 0 <= value <= _NUMBERS[key]
        elif key in _LISTS:
            sound = isinstance(value, list) and all(isinstance(item, str) for item in value)
        else:
            sound = True
        if not sound:
            raise ValueError(f"its {key} is none that was written")


@cache
def boot() -> str:
    """What tells two starts of the machine apart; "" where the kernel does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def fingerprint(target: Path) -> str:
    """What tells two builds apart."""
    try:
        return content_hash(target)
    except OSError as error:
        raise BadInput(f"{target}: cannot be read ({error.strerror}).") from error
