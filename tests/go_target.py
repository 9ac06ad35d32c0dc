"""Fuzz tests of Go for tests: a module that is copied, compiled once for all of them."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.go.settings import GoSettings
from fuzzwise.errors import BadInput

MODULE = Path(__file__).parent / "targets" / "go_module"


@cache
def need_go() -> Path:
    """The command go, with all that it has to compile compiled; without it, the test is skipped."""
    from fuzzwise.engines.go.toolchain import find_go

    try:
        go = find_go()
    except BadInput as problem:
        pytest.skip(str(problem))
    # To compile Go's own packages takes a minute, once for each machine: no test waits for that.
    words = [str(go), "test", "-c", "-vet=off", "-fuzz=^X$", "-o", "/dev/null", "./ini"]
    subprocess.run(words, cwd=MODULE, check=True, capture_output=True)
    return go


def module(folder: Path) -> Path:
    """A copy of the module; its package with fuzz tests is ini/."""
    need_go()
    return Path(shutil.copytree(MODULE, folder / "module"))


def plan(package: Path, function: str, **settings: object) -> TargetPlan:
    known = GoSettings(**settings)  # type: ignore[arg-type]
    return TargetPlan(function, "go", (str(package), function), settings=known)


def entry(*values: str) -> bytes:
    """An input as Go writes it."""
    return "\n".join(["go test fuzz v1", *values, ""]).encode()
