"""The file that says what to record: configurations, time, mutations, limits."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.config.table import Table, complain, files, read_toml
from fuzzwise.engines.blackbox import Limits, Mutation, Target
from fuzzwise.engines.blackbox.tables import read_limits, read_mutation
from fuzzwise.errors import BadInput
from fuzzwise.programs import locate
from fuzzwise.received import read_limited

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


@dataclass(frozen=True)
class RecordingPlan:
    """What to record; every configuration gets the same time."""

    folder: Path
    targets: tuple[Target, ...]
    seconds: float
    cores: int
    random_seed: int
    mutation: Mutation
    limits: Limits


def read_plan(path: Path) -> RecordingPlan:
    """The plan in a TOML file, checked whole; a mistake names its key and what was expected."""
    problems: list[str] = []
    file = Table("", read_toml(path), problems)
    recording = file.table("recording")
    seconds = recording.duration("time")
    cores = recording.whole("cores", 1, 1, 1024)
    random_seed = recording.whole("seed", 1, 0, 2**63 - 1)
    recording.finish()
    mutation = read_mutation(file.table("mutation"))
    limits = read_limits(file.table("limits"))
    targets = [
        target for table in file.tables("configuration") for target in _targets(table, path.parent)
    ]
    for name, count in Counter(target.name for target in targets).items():
        if count > 1:
            problems.append(
                f"configuration name {name!r} is used {count} times; give each its own."
            )
    file.finish()
    complain(path, problems)
    folder = path.parent.absolute()
    return RecordingPlan(folder, tuple(targets), seconds, cores, random_seed, mutation, limits)


def _targets(table: Table, folder: Path) -> list[Target]:
    """One target for each seed of a [[configuration]]."""
    command = table.words("command")
    patterns = table.texts("seed")
    name = table.text("name", "")
    table.finish()
    if not command or not patterns:
        return []
    command = (_program(table, command[0], folder), *command[1:])
    seeds = [seed for pattern in patterns for seed in _seeds(table, pattern, folder)]
    targets: list[Target] = []
    for seed in seeds:
        program = name or Path(command[0]).name
        full = program if name and len(seeds) == 1 else f"{program}-{seed.stem}"
        if not name and seed.stem.startswith(program):
            full = seed.stem
        if not _NAME.fullmatch(full):
            table.problem(
                "name", f"is {full!r}; expected letters, digits and . _ + - (it names a file)."
            )
            continue
        try:
            data = read_limited(seed)
        except OSError as error:
            table.problem("seed", f"{seed} cannot be read: {error.strerror}.")
            continue
        targets.append(Target(command, data, full, suffix=seed.suffix[:64]))
    return targets


def _program(table: Table, word: str, folder: Path) -> str:
    try:
        return str(locate(word, folder))
    except BadInput as problem:
        table.problem("command", f"names the program {word!r}, {problem}")
        return word


def _seeds(table: Table, pattern: str, folder: Path) -> list[Path]:
    found = files(pattern, folder)
    if not found:
        table.problem("seed", f"is {pattern!r}; there is no such file beside the configuration.")
    return found
