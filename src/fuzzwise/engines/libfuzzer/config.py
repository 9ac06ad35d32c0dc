"""A target of libFuzzer: a harness that was built with fuzzwise, or is to be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fuzzwise.config.table import Table
from fuzzwise.engines.contract import CommonKeys, FuzzRequest, TargetPlan
from fuzzwise.engines.harness_keys import (
    Fuzzed,
    planned,
    read_fuzzed,
    read_program,
    read_surroundings,
)
from fuzzwise.engines.libfuzzer.options import check_options, read_options
from fuzzwise.engines.libfuzzer.program import check_program
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.recognise import objection
from fuzzwise.engines.target_keys import TWO_PROGRAMS, named
from fuzzwise.errors import BadInput


def read_libfuzzer(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    """The target; none where something of it is wrong."""
    fuzzed = read_libfuzzer_keys(table, keys.home)
    fuzzed = replace(fuzzed, surroundings=read_surroundings(table, keys.home))
    program = _program(table, keys.home)
    if program is None and not keys.sources:
        return []
    name = named(table, keys, program or keys.sources[0])
    build = keys.build(name)
    command = (str(build.program if build else program),)
    return [planned(name, command, keys, fuzzed, settings_of(fuzzed), build)]


def read_libfuzzer_keys(table: Table, home: Path) -> Fuzzed:
    """The keys of what libFuzzer fuzzes, in whichever language."""
    return read_fuzzed(table, home, read_options, time=10.0, least="1s")


def settings_of(fuzzed: Fuzzed, python: str | None = None) -> LibFuzzerSettings:
    """The settings that a campaign file asks for."""
    return LibFuzzerSettings(
        *(fuzzed.seconds, fuzzed.memory_mib, fuzzed.length, fuzzed.options),
        python=python,
        startup=fuzzed.startup,
    )


def plan_fuzz(request: FuzzRequest) -> TargetPlan:
    """The target of ``fuzzwise fuzz``."""
    check_program(request.target)
    refuse_others(request)
    if wrong := objection(request.target.absolute()):
        raise BadInput(f"{request.target}: {wrong}")
    return requested(request, "libfuzzer", request.target.absolute())


def requested(
    request: FuzzRequest, engine: str, program: Path, python: str | None = None
) -> TargetPlan:
    """The plan for what the user asked of libFuzzer, in whichever language."""
    request.check_corpus()
    check_options(request.libfuzzer_options)
    settings = LibFuzzerSettings(
        options=request.libfuzzer_options,
        schedule=request.schedule,
        species=request.species,
        measure=request.measure,
        per_seed=request.per_seed,
        inputs=request.inputs,
        python=python,
        startup=request.startup,
    )
    return TargetPlan(
        *(program.stem, engine, (str(program),)),
        *(tuple(place.absolute() for place in request.corpus), None, settings),
        jobs=request.jobs,
    )


def refuse_others(request: FuzzRequest) -> None:
    """Refuse what is asked of another fuzzer."""
    asked = "--afl" if request.afl_options else "--arguments"
    if request.afl_options or request.arguments is not None:
        raise BadInput(f"{asked}: a harness of libFuzzer has no such thing; leave it out.")


def _program(table: Table, home: Path) -> Path | None:
    """The observed harness that the key names; None where it is built, or cannot be used."""
    if table.has("sources"):
        table.refuse("program", TWO_PROGRAMS)
        return None
    expected = "the path of a harness, or sources = [...] to build"
    return read_program(table, home, expected, objection)
