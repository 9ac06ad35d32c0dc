"""How to see a bug again with nothing but its program and its input, on any machine."""

from __future__ import annotations

import shlex
from pathlib import Path

from fuzzwise.store.states import BugState, CampaignState
from fuzzwise.triage.surroundings import Surroundings, apart

INPUT = "input"
"""The name that a reader gives the input, where it has no better one."""
_RUNNER = "/fuzzwise/engines/python/"
_ATHERIS = b"atheris.Fuzz("
_CALL = (
    "import runpy, sys; runpy.run_path(sys.argv[1])['TestOneInput'](open(sys.argv[2], 'rb').read())"
)
"""Calls the function of a harness with the content of a file."""
_MOST = 1 << 20


def input_name(bug: BugState) -> str:
    """What the input of a bug is called, without its folder."""
    return Path(bug.inputs[0]).name if bug.inputs else INPUT


def portable_command(state: CampaignState, bug: BugState) -> str:
    """A line for the shell, beside the program and the input; "" where there is none.

    It has no path of this machine, and nothing of fuzzwise: the program with its arguments, and for
    Python the function that is called with the input, or the script that Atheris reads files by.
    """
    try:
        words = shlex.split(bug.command)
    except ValueError:
        return ""
    if not words:
        return ""
    if len(words) == 4 and _RUNNER in words[1]:
        return _python(Path(words[2]), input_name(bug))
    around, command = apart(words)
    near = [_near(word, state, bug) for word in command]
    near[0] = f"./{Path(command[0]).name}" if "/" in command[0] else command[0]
    near = [*Surroundings(around.variables).before(())[1:], *near]
    if around.variables:
        near.insert(0, "env")
    return " ".join(word if word == "<" else shlex.quote(word) for word in near)


def _near(word: str, state: CampaignState, bug: BugState) -> str:
    """A word of a command with the input by its name, and other files by theirs."""
    for name in bug.inputs[:1]:
        word = word.replace(str((state.folder / name).absolute()), input_name(bug))
        word = word.replace(name, input_name(bug))
    return Path(word).name if word.startswith("/") else word


def _python(harness: Path, name: str) -> str:
    if _is_script(harness):
        return shlex.join(["python3", harness.name, name])
    return f'python3 -c "{_CALL}" {shlex.join([harness.name, name])}'


def _is_script(harness: Path) -> bool:
    """Whether a harness starts Atheris itself, and so reads files that it is given."""
    try:
        with harness.open("rb") as file:
            return _ATHERIS in file.read(_MOST)
    except (OSError, ValueError):
        return False
