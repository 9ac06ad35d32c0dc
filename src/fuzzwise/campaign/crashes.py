"""The crashing inputs of a campaign, with the commands that show them, for triage."""

from __future__ import annotations

import shlex
from pathlib import Path

from fuzzwise.campaign.file import read_plan
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput
from fuzzwise.store.places import Place, open_reader
from fuzzwise.store.states import BugState
from fuzzwise.triage.examine import INPUT
from fuzzwise.triage.inputs import refuse_ways_out


def crashing_inputs(place: Place) -> list[tuple[Path, tuple[str, ...]]]:
    """Every input that is kept of a bug, with its command; BadInput where there is none.

    Whoever made the folder has chosen both: a name that leads out of it is refused, and a command
    is for the user to trust.
    """
    state = open_reader(place).state()
    folder = state.folder
    if state.host:
        raise BadInput(
            f"{place}: the inputs of its bugs are on {state.host}, in {folder}. Run this there, or "
            "copy that folder here and give its files."
        )
    found = [
        (folder / name, _command(bug))
        for bug in state.bugs
        for name in bug.inputs
        if (folder / name).is_file()
    ]
    if not found:
        raise BadInput(f"{folder}: the campaign has found no crash; there is nothing to group.")
    refuse_ways_out(folder, (path for path, _ in found))
    return found


def commands_of(file: Path) -> set[tuple[str, ...]]:
    """The commands that run one input, by the file of a campaign alone; none where it is wrong."""
    try:
        targets = read_plan(file).targets
        return {
            part.surroundings.before(engine_named(part.engine).one_input(part))
            for target in targets
            for part in target.parts
        }
    except BadInput:
        return set()


def _command(bug: BugState) -> tuple[str, ...]:
    """The command of the line that shows a bug: with the word for the input in place of its file.

    The folder may have been moved since, so that only the end of the file's path is compared.
    """
    words = shlex.split(bug.command)
    if words[-2:-1] == ["<"]:
        return tuple(words[:-2])
    return tuple(INPUT if bug.inputs and word.endswith(bug.inputs[0]) else word for word in words)
