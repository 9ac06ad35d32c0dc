"""What campaigns under the observer have in common, whichever fuzzer it observes."""

from __future__ import annotations

import hashlib

from fuzzwise.engines.libfuzzer.folder import AnotherBuild, CampaignFolder, DamagedState
from fuzzwise.engines.libfuzzer.state import State
from fuzzwise.errors import BadInput

SUSPICIOUS = 10_000
"""Inputs without any discovery after which something is wrong."""

_SAYS = "fuzzwise: "
_NO_ROOM = ("no room", "No space left")


class CorpusFiles:
    """The seeds of a state as plain files that any fuzzer can use; each is written once."""

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
                path = folder / hashlib.sha1(data).hexdigest()  # noqa: S324
                if not path.exists() or path.stat().st_size != len(data):
                    path.write_bytes(data)
                self._written += 1
        except OSError as error:
            raise BadInput(
                f"{folder}: the corpus cannot be written ({error.strerror}). The counts are in "
                f"{self._folder.state}; run the same command again to go on."
            ) from error


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
    if isinstance(problem, AnotherBuild):
        return "the target was built anew: its counts began again, from the corpus so far"
    return f"the counts were damaged and began again, from the corpus so far ({problem})"


def nothing_new(state: State) -> tuple[str, ...]:
    """A warning where inputs show nothing new, so that a low risk would mean nothing."""
    if state.head.inputs < SUSPICIOUS or state.head.discoveries:
        return ()
    return (
        f"{state.head.inputs:,} inputs, and none showed anything new: does the target read "
        "its input, and is the code under test instrumented?",
    )
