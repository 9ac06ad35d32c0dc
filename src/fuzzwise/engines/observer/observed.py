"""What campaigns under the observer have in common, whichever fuzzer it observes."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

from fuzzwise.engines.observer.folder import (
    AnotherBuild,
    CampaignFolder,
    DamagedState,
    OtherSettings,
)
from fuzzwise.engines.observer.state import State
from fuzzwise.errors import BadInput
from fuzzwise.files import write_whole
from fuzzwise.received import read_limited

_SAYS = "fuzzwise: "
_NO_ROOM = ("no room", "No space left")


class CorpusFiles:
    """The seeds of a state as plain files that any fuzzer can use; each is written once.

    One that is there already is only written again if it is not whole. To look costs as much as to
    write, so whoever opens a state many times keeps this object.
    """

    def __init__(self, folder: CampaignFolder) -> None:
        self._folder = folder
        self._written = 0

    def write(self, state: State | None) -> None:
        """Write those that are new."""
        if state is None or not state.ready:
            return
        folder = self._folder.corpus
        try:
            for data in state.seed_bytes(self._written):
                _write_once(folder / hashlib.sha1(data).hexdigest(), data)  # noqa: S324
                self._written += 1
        except OSError as error:
            raise BadInput(
                f"{folder}: the corpus cannot be written ({error.strerror}). The counts are in "
                f"{self._folder.state}; run the same command again to go on."
            ) from error


def _write_once(path: Path, data: bytes) -> None:
    try:
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        if not _holds(path, data):  # as a power cut may leave it, or somebody else
            write_whole(path, data, to_disk=False)
        return
    try:
        if os.write(file, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(file)


def _holds(path: Path, data: bytes) -> bool:
    try:
        return read_limited(path, len(data), follow=False) == data
    except BadInput:
        return False


def sound_state(folder: CampaignFolder, inputs: int) -> State | None:
    """The counts, if there are any; DamagedState where some of them are missing.

    ``inputs``: how many there were when somebody last looked.
    """
    if folder.state_exists():
        state = State(folder.state)
        state.check(inputs)
        return state
    if inputs:
        raise DamagedState(f"{folder.state / 'head'}: is empty or missing.")
    return None


def refusal(output: str, otherwise: str) -> BadInput:
    """Why the observer ended a process, from its output: damaged counts, or no room for them.

    ``otherwise`` is what to say where the observer said nothing.
    """
    lines = [line for line in output.splitlines() if line.startswith(_SAYS)]
    words = lines[-1].removeprefix(_SAYS) if lines else ""
    if not words or any(sign in words for sign in _NO_ROOM):
        return BadInput(words or otherwise)
    return DamagedState(words)


def why_counts_began_again(problem: AnotherBuild | DamagedState) -> str:
    """A note on counts that could not be gone on with."""
    if isinstance(problem, OtherSettings):
        return "it is fuzzed in another way now: its counts began again, from the corpus so far"
    if isinstance(problem, AnotherBuild):
        return "the target was built anew: its counts began again, from the corpus so far"
    return f"the counts were damaged and began again, from the corpus so far ({problem})"
