"""How a Python harness is started: to be fuzzed, and on one input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from fuzzwise.engines.libfuzzer.launch import Launch
from fuzzwise.engines.python import SUFFIX
from fuzzwise.engines.python.interpreter import find_python, locate
from fuzzwise.engines.python.probe import RUNNER, probe, variables
from fuzzwise.engines.starting import STARTUP
from fuzzwise.errors import BadInput
from fuzzwise.received import read_limited

_SIGNS = (b"TestOneInput", b"atheris")


def launch(
    target: Path,
    python: str | None = None,
    startup: float = STARTUP,
    stopped: Callable[[], bool] = lambda: False,
) -> Launch:
    """The launch of a harness, after it was loaded once; BadInput where it cannot be fuzzed.

    ``startup``: seconds that it may take to load.
    """
    check_file(target)
    harness = probe(target, find_python(python), startup, stopped)
    return Launch(_words(target, harness.python), harness.build(), variables(), lives_on=True)


def check_file(target: Path) -> None:
    """BadInput where there is no such harness."""
    if not target.is_file():
        raise BadInput(f"{target}: there is no such file. Write one with a TestOneInput(data).")


def replay(target: Path, python: str | None = None) -> tuple[str, ...]:
    """The command that runs a harness on the files behind it, also when pasted into a shell."""
    return _words(target, find_python(python))


def _words(target: Path, python: Path) -> tuple[str, ...]:
    return (str(python), str(RUNNER), str(target.absolute()))


def with_runner(command: Sequence[str], place: str) -> Sequence[str]:
    """``HARNESS @@`` and ``python HARNESS @@`` as they are run; other commands as they are.

    ``place`` is the word for the input. A harness is a Python file with a function for inputs:
    on its own, Python would define the function and end.
    """
    if len(command) not in (2, 3) or command[-1] != place or not is_harness(Path(command[-2])):
        return command
    if len(command) == 2:
        return (*replay(Path(command[0])), place)
    if not Path(command[0]).name.startswith("python"):
        return command
    return (*_words(Path(command[1]), locate(command[0])), place)


def is_harness(path: Path) -> bool:
    """Whether a file looks like Python with a function for inputs, or like a script of Atheris."""
    try:
        content = read_limited(path) if path.suffix == SUFFIX else b""
    except (OSError, BadInput):
        return False
    return any(sign in content for sign in _SIGNS)
