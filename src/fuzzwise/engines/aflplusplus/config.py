"""A [[target]] of AFL++: a program that one of its compilers has built, or will."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fuzzwise.campaign.plan import TargetPlan
from fuzzwise.config.table import Table, shown
from fuzzwise.engines.aflplusplus.options import MOST_BYTES, read_options
from fuzzwise.engines.aflplusplus.program import is_instrumented
from fuzzwise.engines.keys.common import (
    FOR_BLACK_BOX,
    FOR_PYTHON,
    PROGRAM,
    TWO_PROGRAMS,
    Common,
    read_command,
)
from fuzzwise.engines.keys.harness import planned, read_fuzzed, read_program


def read_afl(table: Table, common: Common) -> list[TargetPlan]:
    """The target: what has a command has a main of its own, else it is a harness."""
    table.refuse("mutation", f"{FOR_BLACK_BOX}; AFL++ has mutations of its own, remove it.")
    table.refuse("python", FOR_PYTHON)
    if common.jobs > 1:
        table.problem("jobs", f"is {common.jobs}, but a target of AFL++ has one; remove it.")
    fuzzed = read_fuzzed(table, common.home, read_options, time=1.0, least="0.01s")
    if fuzzed.length is not None and fuzzed.length > MOST_BYTES:
        table.problem("max_length", f"is {fuzzed.length}; AFL++ takes up to {MOST_BYTES}.")
    words = _command(table, common.home)
    if not words or (table.has("sources") and not common.sources):
        return []
    name = common.named(table, common.sources[0] if common.sources else Path(words[0]))
    build = common.build(name, *(() if table.has("command") else ("-fsanitize=fuzzer",)))
    if build:
        words = (str(build.program), *words[1:])
    plan = planned(name, words, common, fuzzed, build)
    return [replace(plan, options=fuzzed.options)]


def _command(table: Table, home: Path) -> tuple[str, ...]:
    """What afl-fuzz runs: a command with @@ or standard input, or a harness."""
    if table.has("command"):
        table.refuse("program", "there is a command too; remove one of the two.")
        key, words = "command", read_command(table, home)
    elif table.has("sources"):
        table.refuse("program", TWO_PROGRAMS)
        return (PROGRAM,)
    else:
        program = read_program(table, home, "the path of a target, or sources = [...] to build")
        key, words = "program", () if program is None else (str(program),)
    if words and Path(words[0]).is_file() and not is_instrumented(Path(words[0])):
        table.problem(
            key,
            f"names {shown(words[0])}, which no compiler of AFL++ has built; build it with: "
            f"afl-clang-fast -fsanitize=fuzzer SOURCES -o {Path(words[0]).name}",
        )
        return ()
    return words
