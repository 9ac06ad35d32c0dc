"""Which Python runs a harness: one that has Atheris."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.programs import find

PATIENCE = 20.0
"""Seconds after which an interpreter does not answer."""

_QUESTION = (
    "import sys\n"
    "if '' in sys.path: sys.path.remove('')\n"  # the current folder; -P is not known to all
    "import importlib.util as u\n"
    "print(sys.executable)\n"
    "print('atheris' if u.find_spec('atheris') else '')\n"
)


def locate(asked: str) -> Path:
    """The interpreter of that name, with Atheris or without."""
    return _ask(asked)[0]


def find_python(asked: str | None = None) -> Path:
    """The interpreter that is asked for, else the one that runs fuzzwise, else python3.

    The path is that of the interpreter itself, also where the name is one of a script that looks
    for it. BadInput where it has no Atheris.
    """
    if asked:
        path, has_atheris = _ask(asked)
        if not has_atheris:
            raise BadInput(
                f"{asked} has no Atheris, which fuzzes Python. Install it with: "
                f"{asked} -m pip install atheris"
            )
        return path
    for name in (sys.executable, "python3"):
        if name and find(name):
            path, has_atheris = _ask(name)
            if has_atheris:
                return path
    raise BadInput(
        "Python targets need Atheris. Install it with: "
        f"{sys.executable or 'python3'} -m pip install atheris; or name an interpreter that has it "
        "with --python (in a campaign file: python = …)."
    )


@cache
def _ask(name: str) -> tuple[Path, bool]:
    found = find(name)
    if found is None:
        raise BadInput(
            f"{name} cannot be run as a Python interpreter: there is no such program. "
            "Give its name or its path."
        )
    try:
        answer = subprocess.run(  # noqa: S603 - to run it is what was asked for
            [found, "-c", _QUESTION],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        why = getattr(error, "strerror", None) or "it does not answer"
        raise BadInput(f"{name} cannot be run as a Python interpreter: {why}.") from error
    lines = answer.stdout.splitlines()
    if answer.returncode or len(lines) != 2 or not lines[0]:
        raise BadInput(f"{name} is no Python interpreter.")
    return Path(lines[0]), bool(lines[1])
