"""A [[target]] of libFuzzer: a harness that was built with fuzzwise, or is to be."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.campaign.plan import TargetPlan
from fuzzwise.config.table import Table
from fuzzwise.engines.keys.common import FOR_BLACK_BOX, FOR_PYTHON, TWO_PROGRAMS, Common
from fuzzwise.engines.keys.files import is_unobserved
from fuzzwise.engines.keys.harness import Fuzzed, planned, read_fuzzed, read_program
from fuzzwise.engines.libfuzzer.options import read_options


def read_libfuzzer(table: Table, common: Common) -> list[TargetPlan]:
    """The target; none where something of it is wrong."""
    refuse_black_box(table, 'write engine = "black-box", or program = …')
    table.refuse("python", FOR_PYTHON)
    fuzzed = read_libfuzzer_keys(table, common.home)
    program = _program(table, common.home)
    if program is None and not common.sources:
        return []
    name = common.named(table, program or common.sources[0])
    build = common.build(name)
    command = (str(build.program if build else program), *fuzzed.options)
    return [planned(name, command, common, fuzzed, build)]


def refuse_black_box(table: Table, remedy: str) -> None:
    """Refuse what only black boxes have; ``remedy`` is what to do about a command."""
    table.refuse("command", f"{FOR_BLACK_BOX}; {remedy}")
    table.refuse("mutation", f"{FOR_BLACK_BOX}; libFuzzer has mutations of its own, remove it.")


def read_libfuzzer_keys(table: Table, home: Path) -> Fuzzed:
    """The keys of what libFuzzer fuzzes, in whichever language."""
    return read_fuzzed(table, home, read_options, time=10.0, least="1s")


def _program(table: Table, home: Path) -> Path | None:
    """The observed harness that the key names; None where it is built, or cannot be used."""
    if table.has("sources"):
        table.refuse("program", TWO_PROGRAMS)
        return None
    expected = "the path of a harness, or sources = [...] to build"
    return read_program(table, home, expected, _objection)


def _objection(program: Path) -> str:
    if not is_unobserved(program):
        return ""
    remedy = f"fuzzwise build SOURCES -o {program.name}"
    return f"which was not built with fuzzwise; build it with: {remedy}"
