"""A [[target]] of AFL++: a program that one of its compilers has built, or will."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fuzzwise.config.table import Table, shown
from fuzzwise.engines.aflplusplus.options import MOST_BYTES, read_options
from fuzzwise.engines.aflplusplus.program import check_target, is_instrumented
from fuzzwise.engines.aflplusplus.settings import AflSettings
from fuzzwise.engines.contract import CommonKeys, FuzzRequest, TargetPlan
from fuzzwise.engines.harness_keys import planned, read_fuzzed, read_program, read_surroundings
from fuzzwise.engines.target_keys import PROGRAM, TWO_PROGRAMS, named, read_command
from fuzzwise.errors import BadInput
from fuzzwise.triage.examine import absolute


def read_afl(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    """The target: what has a command has a main of its own, else it is a harness."""
    if keys.jobs > 1:
        table.problem("jobs", f"is {keys.jobs}, but a target of AFL++ has one; remove it.")
    fuzzed = read_fuzzed(table, keys.home, read_options, time=1.0, least="0.01s")
    fuzzed = replace(fuzzed, surroundings=read_surroundings(table, keys.home))
    if fuzzed.length is not None and fuzzed.length > MOST_BYTES:
        table.problem("max_length", f"is {fuzzed.length}; AFL++ takes up to {MOST_BYTES}.")
    words = _command(table, keys.home)
    if not words or (table.has("sources") and not keys.sources):
        return []
    name = named(table, keys, keys.sources[0] if keys.sources else Path(words[0]))
    build = keys.build(name, *(() if table.has("command") else ("-fsanitize=fuzzer",)))
    if build:
        words = (str(build.program), *words[1:])
    settings = AflSettings(
        *(fuzzed.seconds, fuzzed.memory_mib, fuzzed.length, fuzzed.options),
        startup=fuzzed.startup,
    )
    return [planned(name, words, keys, fuzzed, settings, build)]


def plan_fuzz(request: FuzzRequest) -> TargetPlan:
    """The target of ``fuzzwise fuzz``."""
    _refuse(request)
    check_target(request.target)
    request.check_corpus()
    settings = AflSettings(
        memory_mib=0,
        options=request.afl_options,
        per_seed=request.per_seed,
        species=request.species,
        inputs=request.inputs,
        startup=request.startup,
    )
    command = absolute((str(request.target.absolute()), *(request.arguments or ())))
    corpus = tuple(place.absolute() for place in request.corpus)
    return TargetPlan(request.target.stem, "afl++", command, corpus, settings=settings)


def _refuse(request: FuzzRequest) -> None:
    """What only libFuzzer can do."""
    if request.libfuzzer_options:
        raise BadInput("--libfuzzer: the target is one of AFL++; give its options with --afl.")
    if request.measure:
        raise BadInput(
            "--measure hides coverage from the fuzzer, which works with libFuzzer targets only. "
            "Leave it out; --per-seed keeps the counts of each seed."
        )
    if request.jobs > 1:
        raise BadInput(
            "--jobs: one afl-fuzz a campaign. For more, start several campaigns with --out folders "
            "of their own, or `fuzzwise run`."
        )
    if request.schedule not in ("fresh", "observe"):
        raise BadInput(
            f"--schedule {request.schedule}: AFL++ chooses its seeds itself. Leave it out, or "
            "give AFL++'s own schedule with --afl '-p explore'."
        )
    if request.species == "path":
        raise BadInput("--species path: AFL++ knows no paths. Take feature or edge.")


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
