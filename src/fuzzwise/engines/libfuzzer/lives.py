"""How the processes of a target ended, one after the other: whether it can be fuzzed at all."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.errors import BadInput

KILLED = "killed, by itself or for want of memory"

FRUITLESS = 3
"""Processes in a row that died before they had made an input: the target cannot be fuzzed."""

HOPELESS = 20
"""Processes in a row that died within HOPELESS inputs each: the target is broken, not buggy."""


class Lives:
    """How processes ended, one after the other, over all turns of a session."""

    def __init__(self) -> None:
        self.fruitless: list[str] = []
        """How those ended that made no input and showed no bad seed."""
        self._short = 0

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
        """A process ended, by itself or not."""
        self._short = self._short + 1 if alone and made < HOPELESS else 0

    def check(self, program: Path, crashes: Path, made: int) -> None:
        """BadInput where one after the other ends before it has made an input."""
        if len(self.fruitless) >= FRUITLESS and not made:
            raise BadInput(
                f"{program} ends ({self.fruitless[-1]}) before it has made an input, "
                f"{len(self.fruitless)} times in a row. What it showed is in "
                f"{crashes}; correct the target, then run again."
            )

    def check_hopeless(self, program: Path, kind: str, crashes: Path) -> None:
        """BadInput where one after the other ends after a few inputs."""
        if self._short >= HOPELESS:
            raise BadInput(
                f"{program} ends ({kind}) on nearly every input: {HOPELESS} processes in a row "
                f"died within {HOPELESS} inputs each. The crashes are in {crashes}. Fix the first "
                "one, then run again."
            )
