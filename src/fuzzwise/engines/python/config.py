"""A [[target]] in Python: a harness with TestOneInput(data), and the interpreter that runs it."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.config.table import Table, shown
from fuzzwise.engines.contract import CommonKeys, FuzzRequest, TargetPlan
from fuzzwise.engines.harness_keys import planned
from fuzzwise.engines.libfuzzer.config import (
    read_libfuzzer_keys,
    refuse_others,
    requested,
    settings_of,
)
from fuzzwise.engines.python.interpreter import find_python
from fuzzwise.engines.python.launch import check_file, is_harness
from fuzzwise.engines.target_files import existing
from fuzzwise.engines.target_keys import named
from fuzzwise.errors import BadInput
from fuzzwise.programs import locate

_NOT_BUILT = "a Python harness is not built; remove it."


def read_python(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    """The target; none where something of it is wrong."""
    table.refuse("command", 'write program = "HARNESS.py".')
    table.refuse("sources", _NOT_BUILT)
    table.refuse("flags", _NOT_BUILT)
    fuzzed = read_libfuzzer_keys(table, keys.home)
    python = _interpreter(table, keys.home)
    text = table.text("program", expected="the path of a Python file with TestOneInput(data)")
    path = existing(table, "program", text or "", keys.home)
    if path is None:
        return []
    if not is_harness(path):
        table.problem(
            "program", f"is {shown(text)}, which is no Python file with a TestOneInput(data)."
        )
        return []
    settings = settings_of(fuzzed, python)
    return [planned(named(table, keys, path), (str(path),), keys, fuzzed, settings)]


def plan_fuzz(request: FuzzRequest) -> TargetPlan:
    """The target of ``fuzzwise fuzz``."""
    refuse_others(request)
    check_file(request.target)
    find_python(request.python)
    return requested(request, "python", request.target.absolute(), request.python)


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
