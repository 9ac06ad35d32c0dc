"""A [[target]] that is a black box: a command, and a target for each of its seeds."""

from __future__ import annotations

import glob
from pathlib import Path

from fuzzwise.config.table import Table, files, shown
from fuzzwise.engines.blackbox import Mutation
from fuzzwise.engines.blackbox.program import find_program
from fuzzwise.engines.blackbox.settings import BlackBoxSettings
from fuzzwise.engines.blackbox.tables import read_limits, read_mutation
from fuzzwise.engines.contract import CommonKeys, FuzzRequest, TargetPlan
from fuzzwise.engines.target_keys import EXPECTED_NAME, is_name, named, read_command
from fuzzwise.errors import BadInput
from fuzzwise.files import files_of
from fuzzwise.triage.examine import absolute


def read_black_box(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    """The targets, one a seed; none where something of them is wrong."""
    table.refuse("program", 'write command = "PROGRAM @@".')
    table.refuse("options", "write options of the program into command.")
    table.refuse("max_length", "write it into [target.mutation].")
    limits = read_limits(table.table("limits"))
    mutation = read_mutation(table.table("mutation"))
    words = read_command(table, keys.home)
    seeds = _seeds(table, keys.home, mutation)
    if not words or not seeds or (table.has("sources") and not keys.sources):
        return []
    name = named(table, keys, keys.sources[0] if keys.sources else Path(words[0]))
    build = keys.build(name)
    if build:
        words = (str(build.program), *words[1:])
    names = {seed: _seed_name(name, seed, len(seeds)) for seed in seeds}
    for seed, full in names.items():
        if not is_name(full) and is_name(name):
            table.problem("corpus", f"has {shown(seed.name)}; rename it to {EXPECTED_NAME}.")
    return [
        TargetPlan(
            full, keys.engine, words, (seed,), settings=BlackBoxSettings(limits, mutation),
            share=keys.share, jobs=keys.jobs, accepted_risk=keys.accepted_risk, build=build,
        )
        for seed, full in names.items()
    ]  # fmt: skip


def plan_fuzz(request: FuzzRequest) -> TargetPlan:
    """The target of ``fuzzwise fuzz``: a program, and the one seed file that is mutated."""
    _refuse(request)
    # A path has lost its "./" on the way here: what is there comes before what is on PATH.
    target = request.target.absolute() if request.target.exists() else request.target
    program = find_program(str(target))
    request.check_corpus()
    seeds = files_of(request.corpus)
    if len(seeds) != 1:
        raise BadInput(
            f"A black box is fuzzed from one seed file, and CORPUS has {len(seeds)}. Name one; to "
            "share the time among several, write a campaign file and start it with: fuzzwise run"
        )
    words = ("@@",) if request.arguments is None else request.arguments
    command = absolute((str(program), *words))
    settings = BlackBoxSettings(inputs=request.inputs)
    seed = (seeds[0].absolute(),)
    return TargetPlan(
        program.stem, "black-box", command, seed, settings=settings, jobs=request.jobs
    )


def _refuse(request: FuzzRequest) -> None:
    """What only fuzzers with coverage have."""
    asked = {
        "--libfuzzer": request.libfuzzer_options,
        "--afl": request.afl_options,
        "--measure": request.measure,
        "--per-seed": request.per_seed,
        "--python": request.python,
        f"--schedule {request.schedule}": request.schedule != "fresh",
        f"--species {request.species}": request.species != "feature",
    }
    for option, value in asked.items():
        if value:
            raise BadInput(f"{option}: a black box has no such thing; leave it out.")


def _seeds(table: Table, home: Path, mutation: Mutation) -> list[Path]:
    found: dict[Path, None] = {}
    for text in table.texts("corpus", expected="a seed file, or a list of them") or ():
        inside = files(f"{glob.escape(text)}/*", home) or files(text, home)
        if not inside:
            table.problem("corpus", f"is {shown(text)}; there is no such file, name seed files.")
        found.update(dict.fromkeys(inside))
    for seed in found:
        if (size := seed.stat().st_size) > mutation.max_length:
            table.problem(
                "corpus",
                f"has {shown(seed.name)} of {size} bytes, but inputs may have "
                f"{mutation.max_length}; take a smaller seed, or raise mutation.max_length.",
            )
    return list(found)


def _seed_name(name: str, seed: Path, seeds: int) -> str:
    """NAME-SEED, or NAME where there is one seed; a seed that is called NAME-… already stays."""
    if seeds == 1:
        return name
    return seed.stem if seed.stem.startswith(f"{name}-") else f"{name}-{seed.stem}"
