"""One [[target]] of a campaign file: what all have, and the reader of its engine for the rest."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from fuzzwise.config.table import Table, files, is_pattern, shown
from fuzzwise.engines.contract import SHARES, CommonKeys, TargetPlan
from fuzzwise.engines.registry import engine_named, engines, likely_engine, usable_engines
from fuzzwise.engines.target_files import find_sources, flags_from
from fuzzwise.engines.target_keys import EXPECTED_NAME, is_name
from fuzzwise.errors import BadInput
from fuzzwise.programs import locate

MOST_JOBS = 64

BUILD = "build"
"""The key of the tables that say how one target was built for several engines."""

JOINED = " + "
"""Stands between the names of engines of one target."""


def read_targets(
    table: Table, home: Path, out: Path, cores: int, accepted_risk: float | None
) -> list[TargetPlan]:
    """The targets of a [[target]]: one, or one for each program that a pattern names."""
    if table.has(BUILD):
        return _read_builds(table, home, out, cores, accepted_risk)
    pattern = table.glimpse("program")
    if not is_pattern(pattern) or _is_there(home, pattern):
        return _read_targets(table, home, out, cores, accepted_risk)
    programs = [str(path) for path in files(pattern, home) if _is_program(path)]
    if not programs:
        table.problem("program", f"is {shown(pattern)}, which no program is called by.")
    if len(programs) > 1 and table.has("name"):
        table.problem("name", f"is given, but there are {len(programs)} programs; remove it.")
    return [
        target
        for program in programs
        for target in _read_targets(
            table.where("program", program), home, out, cores, accepted_risk
        )
    ]


def _read_builds(
    table: Table, home: Path, out: Path, cores: int, accepted_risk: float | None
) -> list[TargetPlan]:
    """The one target of a [[target]] with tables [[target.build]]: keys of it are for all."""
    name = table.text("name", expected="a name, since there are several builds")
    builds: list[TargetPlan] = []
    labels: dict[str, int] = defaultdict(int)
    variants = table.variants(BUILD)
    if len(variants) == 1:
        table.problem(BUILD, "is one alone; put its keys into the [[target]], or add another.")
    for variant in variants:
        engine = variant.glimpse("engine") or _likely_engine(variant, home)
        labels[engine] += 1
        label = engine if labels[engine] == 1 else f"{engine}-{labels[engine]}"
        own = variant.where("name", f"{name}-{label}")
        if is_pattern(own.glimpse("program")) and not _is_there(home, own.glimpse("program")):
            own.problem("program", "is a pattern; name the one program that this build is.")
        elif engine in engines() and not engine_named(engine).shares_corpus:
            sharing = [each for each, one in usable_engines().items() if one.shares_corpus]
            own.problem("engine", f"is {engine!r}; builds that share are of {', '.join(sharing)}.")
        else:
            builds += _read_targets(own, home, out, cores, accepted_risk)
    if not name or len(builds) < len(variants) or len(builds) < 2:
        return []
    label = JOINED.join(build.engine for build in builds)
    return [replace(builds[0], name=name, engine=label, build=None, builds=tuple(builds))]


def _is_program(path: Path) -> bool:
    """Whether a file among those that a pattern names can be a target: others lie beside them."""
    return path.suffix == ".py" or os.access(path, os.X_OK)


def _is_there(home: Path, name: str) -> bool:
    try:
        return (home / name).exists()
    except (OSError, ValueError):
        return False


def _read_targets(
    table: Table, home: Path, out: Path, cores: int, accepted_risk: float | None
) -> list[TargetPlan]:
    """The targets of a [[target]]: one, or one for each seed of a black box.

    ``home`` is where the file is, ``out`` the campaign's folder. Where something is wrong, the
    table has the problem, and the list may be empty.
    """
    engine = table.choice("engine", tuple(engines()), _likely_engine(table, home))
    table.foreign = _of_others(engine)
    name = table.text("name", "", EXPECTED_NAME)
    share = table.choice("share", tuple(SHARES), "medium")
    jobs = table.whole("jobs", 1, 1, MOST_JOBS)
    accepted_risk = table.probability("accepted_risk", accepted_risk)
    if jobs > cores:
        table.problem(
            "jobs",
            f"is {jobs}, but the campaign has {cores} cores; lower it, or raise campaign.cores.",
        )
    if name and not is_name(name):
        table.problem("name", f"is {shown(name)}; expected {EXPECTED_NAME}.")
    sources = find_sources(table, home)
    flags = flags_from(table, home)
    if table.has("flags") and not table.has("sources"):
        table.problem("flags", "are given without sources; add sources, or remove flags.")
    keys = CommonKeys(home, out, engine, name, share, jobs, accepted_risk, sources, flags)
    targets = engine_named(engine).read_target(table, keys)
    table.finish()
    return targets


def _of_others(engine: str) -> dict[str, str]:
    """Keys that only targets of other engines have, with what to do about them."""
    owners: dict[str, list[str]] = defaultdict(list)
    for name, other in usable_engines().items():
        for key in other.keys:
            owners[key].append(name)
    return {
        key: f"it is for targets of {' or '.join(names)}; remove it."
        for key, names in owners.items()
        if engine not in names
    }


def _likely_engine(table: Table, home: Path) -> str:
    """The engine where the table names none."""
    program = table.glimpse("program")
    word = str(home / program) if program else table.first_word("command")
    try:
        path = locate(word, home)
    except BadInput:  # told when it is read; its name may still tell whose it is
        path = Path(word)
    return likely_engine(path, in_command=table.has("command"))
