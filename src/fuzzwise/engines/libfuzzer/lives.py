"""How the processes of a target ended, one after the other: whether it can be fuzzed at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fuzzwise.errors import BadInput

KILLED = "killed, by itself or for want of memory"

FRUITLESS = 3
"""Processes in a row that died before they had made an input: the target cannot be fuzzed."""

HOPELESS = 20
"""Processes in a row that died within HOPELESS inputs each: the target is broken, not buggy."""

UNENDED = 2
"""Processes without a sign of life, from which on it is told."""

LOUD, ENOUGH = 200, 1 << 20
"""Bytes printed for each input, and in all, from which on a target is too loud."""

TOO_LOUD = (
    "prints on its standard error for most of its inputs, which takes time that these could have: "
    "give libFuzzer the option -close_fd_mask=2, which keeps the reports of crashes"
)

_LOOK_FOR = "look for _exit, kill and exec"
ENDLESS = (
    "has inputs that do not end, and libFuzzer's own limit does not end them either: have the code "
    "under test leave SIGALRM alone, which that limit needs"
)
DEAF = (
    "blocks the signals by which libFuzzer ends inputs beyond their limit (SIGALRM) and tells its "
    "counts (SIGUSR1): have the code under test leave signals alone"
)


class Lives:
    """How processes ended, one after the other, over all turns of a session."""

    def __init__(self) -> None:
        self.fruitless: list[str] = []
        """How those ended that made no input and showed no bad seed."""
        self._short = 0
        self._vanished = ""
        self._unended, self._lost, self._why = 0, 0.0, ""
        self._is_loud = False

    def has_made_one(self) -> None:
        """The present process makes inputs."""
        self.fruitless.clear()

    def crashed(self, kind: str, *, fruitless: bool) -> None:
        """A process ended by a bug, before it had run anything else or not."""
        if fruitless:
            self.fruitless.append(kind)
        else:
            self.fruitless.clear()

    def ended(self, alone: bool, made: int) -> None:
        """A process ended, ``alone``: by itself, and not at a seed that no other one is given."""
        self._short = self._short + 1 if alone and made < HOPELESS else 0

    def vanished(self, how: str, *, fruitless: bool) -> None:
        """A process ended in the midst of an input, and nobody has kept that."""
        self._vanished = self._vanished or how
        if fruitless:
            self.fruitless.append(how)

    def unended(self, seconds: float, why: str) -> None:
        """A process was killed after so many seconds without a sign: ENDLESS or DEAF."""
        self._unended += 1
        self._lost += seconds
        self._why = why

    def heard(self, printed: int, inputs: int) -> None:
        """A process has printed so many bytes, and run so many inputs."""
        if printed >= max(ENOUGH, LOUD * inputs):
            self._is_loud = True

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be told of them; the same words from the first time on."""
        loud = [f"it {TOO_LOUD}"] if self._is_loud else []
        return (*self._warn_of_vanished(), *self._warn_of_unended(), *loud)

    def _warn_of_unended(self) -> Iterator[str]:
        if self._unended >= UNENDED:
            yield f"it {self._why}"

    def _warn_of_vanished(self) -> Iterator[str]:
        if self._vanished:
            yield (
                f"its processes end ({self._vanished}) in the midst of inputs, and libFuzzer keeps "
                f"none of these: {_LOOK_FOR} in the code under test"
            )

    def check(self, program: Path, crashes: Path, made: int) -> None:
        """BadInput where one after the other ends before it has made an input."""
        if len(self.fruitless) >= FRUITLESS and not made:
            raise BadInput(
                f"{program} ends ({self.fruitless[-1]}) before it has made an input, "
                f"{len(self.fruitless)} times in a row. What it showed is in "
                f"{crashes}; correct the target, then run again."
            )

    def check_unended(self, program: Path, seconds: float) -> None:
        """BadInput where more than half of its seconds were lost so."""
        if self._unended >= UNENDED and self._lost > seconds / 2:
            raise BadInput(f"{program} {self._why}, then run again.")

    def check_hopeless(self, program: Path, kind: str, crashes: Path) -> None:
        """BadInput where one after the other ends after a few inputs."""
        if self._short >= HOPELESS:
            remedy = f"The crashes are in {crashes}. Fix the first one"
            if self._vanished:
                remedy = f"libFuzzer keeps no such input. In the target, {_LOOK_FOR}"
            raise BadInput(
                f"{program} ends ({kind}) on nearly every input: {HOPELESS} processes in a row "
                f"died within {HOPELESS} inputs each. {remedy}, then run again."
            )
