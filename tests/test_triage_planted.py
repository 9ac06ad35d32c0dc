"""Triage of the examples: exactly the planted bugs, none merged, none split."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from functools import partial
from pathlib import Path

import pytest

import planted
from fuzzwise.triage.grouping import Triage, group
from fuzzwise.triage.inputs import CrashingInput, Limits

# What each planted bug does, with gdb and with AddressSanitizer.
SEVERITIES = {
    "tidy_name": "write",
    "add_note": "null dereference",
    "set_pixel": "write",
    "lookup": "read",
    "follow": "stack exhaustion",
    "average": "divide",
    "check_format": "abort",
    "show": "read",
    "forget": "write",
    "read_comment": "read",
    "read_street": "read",
    "divide": "divide",
    "null": "null dereference",
    "endless": "stack exhaustion",
    "number": "write",
    "pick": "read",
    "mark": "write",
    "shift": "abort",
    "drop": "write",
    "recall": "read",
    "draw_dot": "write",
    "draw_grid": "divide",
    "draw_line": "read",
    "set_title": "write",
    "draw_layer": "stack exhaustion",
    "fill": "null dereference",
    "scale_all": "abort",
    "close_brush": "read",
}
COUNT = int(os.environ.get("FUZZWISE_PLANTED", "30"))
"""Inputs of each program on each of two builds."""
KINDS = ("stripped", "address", "symbols", "address-stripped")
FUNCTIONS = {"read_comment": "copy_bytes", "read_street": "copy_bytes", "null": "variable"}
"""The function at the top of the stack, where the bug is not named after it."""


def _triage(program: str, kind: str, count: int, folder: Path) -> tuple[Triage, int]:
    target = planted.build(program, kind, folder)
    crashes = [
        CrashingInput(f"{bug}-{number}", partial(bytes, data), (str(target), "@@"), Limits(120))
        for bug, contents in planted.inputs(program, count, seed=KINDS.index(kind)).items()
        for number, data in enumerate(contents)
    ]
    return group(crashes, checks=0), len(crashes)


def _check(program: str, found: Triage, count: int) -> None:
    groups = defaultdict(set)
    for bug in found.bugs:
        for crash in bug.inputs:
            groups[crash.name.split("-")[0]].add(bug.id)
    assert not found.silent
    assert not found.timeouts
    assert sum(len(bug.inputs) for bug in found.bugs) == count
    assert {bug: len(ids) for bug, ids in groups.items()} == dict.fromkeys(
        planted.PROGRAMS[program], 1
    ), "a bug was split"
    assert len(found.bugs) == len(planted.PROGRAMS[program]), "bugs were merged"
    for bug in found.bugs:
        assert bug.identity.severity == SEVERITIES[bug.inputs[0].name.split("-")[0]]


@pytest.mark.parametrize("program", planted.PROGRAMS)
@pytest.mark.parametrize("kind", ["stripped", "address"])
def test_exactly_the_planted_bugs_in_many_inputs(program: str, kind: str, tmp_path: Path) -> None:
    """On two builds: with gdb, and with a sanitizer's report."""
    if kind == "stripped" and shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    found, count = _triage(program, kind, COUNT, tmp_path)
    assert count >= COUNT
    _check(program, found, count)


@pytest.mark.parametrize("program", planted.PROGRAMS)
@pytest.mark.parametrize("kind", ["symbols", "address-stripped"])
def test_exactly_the_planted_bugs_in_the_other_builds(
    program: str, kind: str, tmp_path: Path
) -> None:
    if kind == "symbols" and shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    found, count = _triage(program, kind, 15, tmp_path)
    _check(program, found, count)
    for bug in found.bugs if kind == "symbols" else ():
        name = bug.inputs[0].name.split("-")[0]
        if name != "endless":
            assert bug.identity.frames[0] == FUNCTIONS.get(name, name)
        assert bug.verdict.file.endswith(f"{program}.c")
        assert bug.verdict.line is not None


@pytest.mark.parametrize("program", planted.PROGRAMS)
def test_the_seeds_of_the_examples_do_not_crash(program: str, tmp_path: Path) -> None:
    target = planted.build(program, "address", tmp_path)
    seeds = sorted((planted.EXAMPLES / "seeds").glob(f"{program}-*"))
    crashes = [CrashingInput(path.name, path.read_bytes, (str(target), "@@")) for path in seeds]
    found = group(crashes)
    assert len(found.silent) == len(seeds) >= 4
