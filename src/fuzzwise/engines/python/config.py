"""A [[target]] in Python: a harness with TestOneInput(data), and the interpreter that runs it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fuzzwise.campaign.plan import TargetPlan
from fuzzwise.config.table import Table, shown
from fuzzwise.engines.keys.common import Common
from fuzzwise.engines.keys.files import existing
from fuzzwise.engines.keys.harness import planned
from fuzzwise.engines.libfuzzer.config import read_libfuzzer_keys, refuse_black_box
from fuzzwise.engines.python.interpreter import find_python
from fuzzwise.engines.python.launch import is_harness
from fuzzwise.errors import BadInput
from fuzzwise.programs import locate

_NOT_BUILT = "a Python harness is not built; remove it."


def read_python(table: Table, common: Common) -> list[TargetPlan]:
    """The target; none where something of it is wrong."""
    refuse_black_box(table, 'write program = "HARNESS.py".')
    table.refuse("sources", _NOT_BUILT)
    table.refuse("flags", _NOT_BUILT)
    fuzzed = read_libfuzzer_keys(table, common.home)
    python = _interpreter(table, common.home)
    text = table.text("program", expected="the path of a Python file with TestOneInput(data)")
    path = existing(table, "program", text or "", common.home)
    if path is None:
        return []
    if not is_harness(path):
        table.problem(
            "program", f"is {shown(text)}, which is no Python file with a TestOneInput(data)."
        )
        return []
    command = (str(path), *fuzzed.options)
    plan = planned(common.named(table, path), command, common, fuzzed)
    return [replace(plan, python=python)]


def _interpreter(table: Table, home: Path) -> str | None:
    """The interpreter that the key names; a problem where there is none with Atheris."""
    text = table.text("python", "")
    try:
        asked = str(locate(text, home)) if text else None
    except BadInput as problem:
        table.problem("python", f"is {shown(text)}, {problem}")
        return None
    try:
        find_python(asked)
    except BadInput as problem:
        table.problem("python" if text else "engine", f"needs something: {problem}")
    return asked
