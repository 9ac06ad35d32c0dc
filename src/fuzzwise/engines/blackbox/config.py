"""A [[target]] that is a black box: a command, and a target for each of its seeds."""

from __future__ import annotations

import glob
from pathlib import Path

from fuzzwise.campaign.plan import TargetPlan
from fuzzwise.config.table import Table, files, shown
from fuzzwise.engines.blackbox import Mutation
from fuzzwise.engines.blackbox.tables import read_limits, read_mutation
from fuzzwise.engines.keys.common import (
    EXPECTED_NAME,
    FOR_LIBFUZZER,
    FOR_PYTHON,
    Common,
    is_name,
    read_command,
)


def read_black_box(table: Table, common: Common) -> list[TargetPlan]:
    """The targets, one a seed; none where something of them is wrong."""
    table.refuse("program", f'{FOR_LIBFUZZER}; write command = "PROGRAM @@".')
    table.refuse("dictionary", f"{FOR_LIBFUZZER}; remove it.")
    table.refuse("options", f"{FOR_LIBFUZZER}; write options of the program into command.")
    table.refuse("max_length", f"{FOR_LIBFUZZER}; write it into [target.mutation].")
    table.refuse("python", FOR_PYTHON)
    limits = read_limits(table.table("limits"))
    mutation = read_mutation(table.table("mutation"))
    words = read_command(table, common.home)
    seeds = _seeds(table, common.home, mutation)
    if not words or not seeds or (table.has("sources") and not common.sources):
        return []
    name = common.named(table, common.sources[0] if common.sources else Path(words[0]))
    build = common.build(name)
    if build:
        words = (str(build.program), *words[1:])
    names = {seed: _seed_name(name, seed, len(seeds)) for seed in seeds}
    for seed, full in names.items():
        if not is_name(full) and is_name(name):
            table.problem("corpus", f"has {shown(seed.name)}; rename it to {EXPECTED_NAME}.")
    return [
        TargetPlan(
            full, common.engine, words, (seed,), None, limits, mutation,
            share=common.share, jobs=common.jobs, accepted_risk=common.accepted_risk, build=build,
        )
        for seed, full in names.items()
    ]  # fmt: skip


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
