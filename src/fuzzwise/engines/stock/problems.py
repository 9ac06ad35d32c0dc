"""Why a stock target cannot be fuzzed, in sentences."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.engines.libfuzzer import endings
from fuzzwise.engines.process import Ending
from fuzzwise.engines.starting import no_input


def explain(program: Path, ending: Ending, has_run: bool) -> str:
    """Why a process ended that should not have."""
    said = endings.explain(program, ending, has_run)
    if endings.has_begun(ending.output) or has_run:
        return said
    return (
        f"{said} If it does not take libFuzzer's options, fuzz it as a black box: "
        "--engine black-box --arguments @@ and a seed file."
    )


def stuck(program: Path, seconds: float, output: str) -> str:
    """Why a target is given up that has run nothing."""
    return no_input(program, seconds, endings.where_it_waits(output))


def mute(program: Path) -> str:
    """Why a target is given up that says nothing any more."""
    return (
        f"{program} has closed its standard error, or put something else in its place, where "
        "libFuzzer tells what it does: have the code under test leave it open. To silence the "
        "target, give libFuzzer -close_fd_mask=3, which keeps its own words; or build it with "
        "fuzzwise, which needs none of them."
    )
