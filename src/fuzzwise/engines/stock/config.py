"""A target of stock libFuzzer: a program that takes its command line, as it is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fuzzwise.config.table import Table
from fuzzwise.engines.contract import CommonKeys, FuzzRequest, TargetPlan
from fuzzwise.engines.harness_keys import planned, read_fuzzed, read_program, read_surroundings
from fuzzwise.engines.libfuzzer.config import refuse_others
from fuzzwise.engines.libfuzzer.options import check_options, read_options
from fuzzwise.engines.libfuzzer.program import check_program
from fuzzwise.engines.stock.settings import StockSettings
from fuzzwise.engines.target_keys import named
from fuzzwise.errors import BadInput

REBUILD = "fuzzwise build SOURCES, or LIB_FUZZING_ENGINE=$(fuzzwise engine)"
"""How a target is made that can tell more."""


def read_stock(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    """The target; none where something of it is wrong."""
    if keys.jobs > 1:
        table.problem(
            "jobs",
            f"is {keys.jobs}, but a target that was not built with fuzzwise has one; remove it.",
        )
    with_random = partial(read_options, is_drawn=True)
    fuzzed = read_fuzzed(table, keys.home, with_random, time=10.0, least="1s")
    fuzzed = replace(fuzzed, surroundings=read_surroundings(table, keys.home))
    program = read_program(table, keys.home, "the path of a program with libFuzzer in it")
    if program is None:
        return []
    settings = StockSettings(
        *(fuzzed.seconds, fuzzed.memory_mib, fuzzed.length, fuzzed.options),
        startup=fuzzed.startup,
    )
    return [planned(named(table, keys, program), (str(program),), keys, fuzzed, settings)]


def plan_fuzz(request: FuzzRequest) -> TargetPlan:
    """The target of ``fuzzwise fuzz``."""
    check_program(request.target)
    refuse_others(request)
    _refuse_counts(request)
    request.check_corpus()
    check_options(request.libfuzzer_options)
    settings = StockSettings(
        options=request.libfuzzer_options, inputs=request.inputs, startup=request.startup
    )
    program = request.target.absolute()
    corpus = tuple(place.absolute() for place in request.corpus)
    return TargetPlan(program.stem, "stock", (str(program),), corpus, settings=settings)


def _refuse_counts(request: FuzzRequest) -> None:
    """What only a program can do that has the observer in it."""
    asked = {
        "--measure": request.measure,
        "--per-seed": request.per_seed,
        f"--jobs {request.jobs}": request.jobs > 1,
        f"--schedule {request.schedule}": request.schedule not in ("fresh", "observe"),
        f"--species {request.species}": request.species != "feature",
    }
    for words, is_asked in asked.items():
        if is_asked:
            raise BadInput(
                f"{words}: {request.target} was not built with fuzzwise, and cannot do that. "
                f"Leave it out, or build the target with: {REBUILD}"
            )
