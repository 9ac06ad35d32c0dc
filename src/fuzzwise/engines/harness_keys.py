"""What a [[target]] says for a fuzzer that has coverage, whichever it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzwise.config.table import Table, files, is_pattern, shown
from fuzzwise.engines.contract import Build, CommonKeys, TargetPlan
from fuzzwise.engines.starting import STARTUP
from fuzzwise.engines.target_files import existing, wrong_line
from fuzzwise.errors import BadInput
from fuzzwise.programs import locate
from fuzzwise.seed_zips import SEED_CORPUS, SUFFIX
from fuzzwise.triage.surroundings import ANYWHERE, NAME, Surroundings

KEYS = ("corpus", "dictionary", "options", "max_length", "limits.time", "limits.memory_mib",
        "limits.startup")  # fmt: skip
OURS = "FUZZWISE_"
"""How variables begin that are not the user's to set."""

SURROUNDINGS = ("environment", "working_folder")
"""Keys of engines that start programs as they are, on top of those."""


@dataclass(frozen=True)
class Fuzzed:
    """How harnesses are fuzzed, in whichever language; ``options`` are words for the fuzzer.

    ``seconds`` and ``memory_mib`` are what one input may take, ``startup`` how many seconds it may
    be until the first one.
    """

    seconds: float
    memory_mib: int
    startup: float
    options: tuple[str, ...]
    length: int | None
    corpus: tuple[Path, ...]
    dictionary: Path | None
    seed_zips: tuple[Path, ...] = ()
    surroundings: Surroundings = ANYWHERE


def read_fuzzed(
    table: Table, home: Path, options: Callable[[Table], tuple[str, ...]], time: float, least: str
) -> Fuzzed:
    """The keys of harnesses; ``time`` is the usual limit of a run in seconds, of at ``least``."""
    limits = table.table("limits")
    seconds = limits.duration("time", time, least, "1d")
    memory = limits.whole("memory_mib", 2048, 16, 1 << 24)
    startup = limits.duration("startup", STARTUP, "1s", "1d")
    limits.finish()
    words = options(table)
    length = table.whole("max_length", 0, 1, 1 << 30) or None
    corpus, zips = read_corpora(table, home)
    dictionary = existing(table, "dictionary", table.text("dictionary", ""), home)
    if dictionary is not None and (wrong := wrong_line(dictionary)):
        table.problem("dictionary", f'has {wrong}; expected lines such as word="a\\xff".')
    return Fuzzed(seconds, memory, startup, words, length, corpus, dictionary, zips)


def read_surroundings(table: Table, home: Path) -> Surroundings:
    """The variables of [target.environment], and the folder that a target runs in."""
    variables = table.table("environment")
    found = [(name, _variable(variables, name)) for name in variables.names()]
    variables.finish()
    text = table.text("working_folder", "", "the path of a folder")
    folder = existing(table, "working_folder", text, home)
    if folder is not None and not folder.is_dir():
        table.problem("working_folder", f"is {shown(text)}, which is no folder.")
        folder = None
    return Surroundings(tuple(found), folder.resolve() if folder else None)


def read_program(
    table: Table, home: Path, expected: str, objection: Callable[[Path], str] | None = None
) -> Path | None:
    """The program that the key names; None, with a problem, where it cannot be used.

    ``objection`` says what else is wrong with a program that can be run, "" where nothing is.
    """
    text = table.text("program", expected=expected)
    path = existing(table, "program", text or "", home)
    if path is None:
        return None
    try:
        program = locate(str(path), home)
        if objection and (wrong := objection(program)):
            raise BadInput(wrong)
    except BadInput as problem:
        table.problem("program", f"is {shown(text)}, {problem}")
        return None
    return program


def planned(
    name: str,
    command: tuple[str, ...],
    keys: CommonKeys,
    fuzzed: Fuzzed,
    settings: Any,
    build: Build | None = None,
) -> TargetPlan:
    """The target, with its command and its settings as they are for its engine."""
    return TargetPlan(
        name, keys.engine, command, fuzzed.corpus, fuzzed.dictionary, settings,
        share=keys.share, jobs=keys.jobs, accepted_risk=keys.accepted_risk, build=build,
        surroundings=fuzzed.surroundings, seed_zips=fuzzed.seed_zips,
    )  # fmt: skip


def _variable(table: Table, name: str) -> str:
    def read(value: Any) -> str:
        if not NAME.fullmatch(name):
            raise BadInput("no variable can be called that")
        if name.startswith(OURS):
            raise BadInput(f"{OURS}… is for fuzzwise's own")
        if not isinstance(value, str) or "\0" in value:
            raise ValueError
        return value

    return table.value(name, "a text, for a variable of the environment", read, "") or ""


def read_corpora(table: Table, home: Path) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Folders and files to start from; and archives of them.

    A zip that is named is one. Those that a pattern names may be inputs of a target that reads
    such files, but for those that are called as OSS-Fuzz calls archives of seeds.
    """
    places: list[Path] = []
    zips: list[Path] = []
    for text in table.texts("corpus", ()):
        found = _corpus(table, text, home)
        for path in found:
            is_named = path.suffix == SUFFIX and found == [home / text]
            is_zip = (is_named or path.name.endswith(SEED_CORPUS)) and path.is_file()
            (zips if is_zip else places).append(path)
    return tuple(places), tuple(zips)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _corpus(table: Table, text: str, home: Path) -> list[Path]:
    """Folders or files: one that is there, or those that a pattern names."""
    if is_pattern(text) and not _is_there(home / text) and (found := files(text, home)):
        return found
    path = existing(table, "corpus", text, home)
    return [] if path is None else [path]
