"""Why a stock target cannot be fuzzed, in sentences."""

from __future__ import annotations

import re
from pathlib import Path

from fuzzwise.engines.libfuzzer.endings import how_it_ended, last_words, moment, where_it_waits
from fuzzwise.engines.process import Ending
from fuzzwise.engines.starting import no_input
from fuzzwise.errors import BadInput
from fuzzwise.text import printable

UNKNOWN_OPTION = re.compile(r"unrecognized flag '([^']{1,200})'")

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


def explain(program: Path, ending: Ending, has_run: bool) -> str:
    """Why a process ended that should not have."""
    unknown_option(program, ending.output)
    when = "" if has_run else f" {moment(ending.output)}"
    said = f"{program} {how_it_ended(ending)}{when}. {last_words(ending.output)}"
    if "INFO: " in ending.output or has_run:
        return said
    return (
        f"{said} If it does not take libFuzzer's options, fuzz it as a black box: "
        "--engine black-box --arguments @@ and a seed file."
    )


def stuck(program: Path, seconds: float, output: str) -> str:
    """Why a target is given up that has run nothing."""
    return no_input(program, seconds, where_it_waits(output))


def unknown_option(program: Path, output: str) -> None:
    """BadInput where libFuzzer has said that it does not know an option."""
    if unknown := UNKNOWN_OPTION.search(output):
        raise BadInput(
            f"{program}: libFuzzer does not know the option {printable(unknown[1])!r}; remove it."
        )
