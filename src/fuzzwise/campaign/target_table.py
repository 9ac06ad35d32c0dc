"""One [[target]] of a campaign file: what it must say, depending on its engine."""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.campaign.plan import BLACK_BOX, LIBFUZZER, SHARES, Build, TargetPlan
from fuzzwise.campaign.target_files import (
    existing,
    find_sources,
    flags_from,
    is_unobserved,
    wrong_line,
)
from fuzzwise.engines.blackbox import Limits, Mutation
from fuzzwise.engines.blackbox.tables import read_limits, read_mutation
from fuzzwise.errors import BadInput
from fuzzwise.programs import locate
from fuzzwise.settings import Table, files, shown

MOST_JOBS = 64
PROGRAM = "{program}"
"""Stands in a command for the program that is built from the sources."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_OPTION = re.compile(r"-([a-zA-Z0-9_]+)=(.*)")
_FOR_LIBFUZZER = "it is for libFuzzer targets"
_FOR_BLACK_BOX = "it is for black-box targets"
_NOT_FUZZING = "remove it: it makes libFuzzer do something else than fuzz"
_OURS = "remove it: fuzzwise sets it itself"
_OPTIONS_ELSEWHERE = {
    "timeout": "write time into [target.limits]",
    "rss_limit_mb": "write memory_mib into [target.limits]",
    "dict": "write dictionary = … instead",
    "max_len": "write max_length = … instead",
    "jobs": "write jobs = … instead",
    "workers": "write jobs = … instead",
    "fork": "write jobs = … instead",
    "seed_inputs": "write corpus = … instead",
    "runs": "remove it: the campaign decides how long a target runs",
    "max_total_time": "remove it: the campaign decides how long a target runs",
    **dict.fromkeys(("seed", "artifact_prefix", "exact_artifact_path", "reduce_inputs"), _OURS),
    **dict.fromkeys(("error_exitcode", "timeout_exitcode"), _OURS),
    **dict.fromkeys(("merge", "minimize_crash", "cleanse_crash", "help"), _NOT_FUZZING),
}
"""Options of libFuzzer that fuzzwise sets, with what to do instead."""


@dataclass(frozen=True)
class _Common:
    """What targets of both engines have."""

    name: str
    share: str
    jobs: int
    accepted_risk: float | None


def read_targets(
    table: Table, home: Path, out: Path, cores: int, accepted_risk: float | None
) -> list[TargetPlan]:
    """The targets of a [[target]]: one, or one for each seed of a black box.

    ``home`` is where the file is, ``out`` the campaign's folder. Where something is wrong, the
    table has the problem, and the list may be empty.
    """
    default = BLACK_BOX if table.has("command") else LIBFUZZER
    engine = table.choice("engine", (LIBFUZZER, BLACK_BOX), default)
    common = _Common(
        name=table.text("name", "", _expected_name()),
        share=table.choice("share", tuple(SHARES), "medium"),
        jobs=table.whole("jobs", 1, 1, MOST_JOBS),
        accepted_risk=table.probability("accepted_risk", accepted_risk),
    )
    if common.jobs > cores:
        table.problem(
            "jobs",
            f"is {common.jobs}, but the campaign has {cores} cores; lower it, or raise "
            "campaign.cores.",
        )
    if common.name and not _NAME.fullmatch(common.name):
        table.problem("name", f"is {shown(common.name)}; expected {_expected_name()}.")
    sources = find_sources(table, home)
    flags = flags_from(table, home)
    if table.has("flags") and not table.has("sources"):
        table.problem("flags", "are given without sources; add sources, or remove flags.")
    read = _black_box if engine == BLACK_BOX else _libfuzzer
    targets = read(table, common, home, out, sources, flags)
    table.finish()
    return targets


def _libfuzzer(
    table: Table, common: _Common, home: Path, out: Path,
    sources: tuple[Path, ...], flags: tuple[str, ...],
) -> list[TargetPlan]:  # fmt: skip
    table.refuse("command", f'{_FOR_BLACK_BOX}; write engine = "black-box", or program = …')
    table.refuse("mutation", f"{_FOR_BLACK_BOX}; libFuzzer has mutations of its own, remove it.")
    limits = _libfuzzer_limits(table.table("limits"))
    options = _options(table)
    length = table.whole("max_length", 0, 1, 1 << 30) or None
    corpus = tuple(
        path for text in table.texts("corpus", ()) for path in _corpus(table, text, home)
    )
    dictionary = existing(table, "dictionary", table.text("dictionary", ""), home)
    if dictionary is not None and (wrong := wrong_line(dictionary)):
        table.problem("dictionary", f'has {wrong}; expected lines such as word="a\\xff".')
    program = _program(table, home)
    if program is None and not sources:
        return []
    name = _name(table, common, program or sources[0])
    build = None
    if sources:
        build = Build(sources, flags, out / "programs" / name)
        program = build.program
    assert program is not None
    return [
        TargetPlan(
            name, LIBFUZZER, (str(program), *options), corpus, dictionary, limits,
            max_length=length, share=common.share, jobs=common.jobs,
            accepted_risk=common.accepted_risk, build=build,
        )
    ]  # fmt: skip


def _program(table: Table, home: Path) -> Path | None:
    """The observed harness that the key names; None where it is built, or cannot be used."""
    if table.has("sources"):
        table.refuse("program", "there are sources too; remove one of the two.")
        return None
    text = table.text("program", expected="the path of a harness, or sources = [...] to build")
    if not text:
        return None
    path = existing(table, "program", text, home)
    if path is None:
        return None
    try:
        locate(str(path), home)
    except BadInput as problem:
        table.problem("program", f"is {shown(text)}, {problem}")
        return None
    if is_unobserved(path):
        table.problem(
            "program",
            f"is {shown(text)}, which was not built with fuzzwise; build it with: "
            f"fuzzwise build SOURCES -o {path.name}",
        )
        return None
    return path


def _libfuzzer_limits(table: Table) -> Limits:
    seconds = table.duration("time", 10.0, "1s", "1d")
    memory = table.whole("memory_mib", 2048, 16, 1 << 24)
    for key in ("file_mib", "processes"):
        table.refuse(key, f"{_FOR_BLACK_BOX}; remove it.")
    table.finish()
    return Limits(seconds=seconds, memory_mib=memory)


def _options(table: Table) -> tuple[str, ...]:
    kept = []
    for word in table.texts("options", ()):
        found = _OPTION.fullmatch(word)
        if found is None:
            table.problem("options", f"has {shown(word)}; expected one such as '-use_cmp=1'.")
        elif found[1] in _OPTIONS_ELSEWHERE:
            table.problem("options", f"has {shown(word)}; {_OPTIONS_ELSEWHERE[found[1]]}.")
        else:
            kept.append(word)
    return tuple(kept)


def _corpus(table: Table, text: str, home: Path) -> list[Path]:
    """Folders or files: one that is there, or those that a pattern names."""
    if any(sign in text for sign in "*?[") and (found := files(text, home)):
        return found
    path = existing(table, "corpus", text, home)
    return [] if path is None else [path]


def _black_box(
    table: Table, common: _Common, home: Path, out: Path,
    sources: tuple[Path, ...], flags: tuple[str, ...],
) -> list[TargetPlan]:  # fmt: skip
    table.refuse("program", f'{_FOR_LIBFUZZER}; write command = "PROGRAM @@".')
    table.refuse("dictionary", f"{_FOR_LIBFUZZER}; remove it.")
    table.refuse("options", f"{_FOR_LIBFUZZER}; write options of the program into command.")
    table.refuse("max_length", f"{_FOR_LIBFUZZER}; write it into [target.mutation].")
    limits = read_limits(table.table("limits"))
    mutation = read_mutation(table.table("mutation"))
    words = _command(table, home)
    seeds = _seeds(table, home, mutation)
    if not words or not seeds or (table.has("sources") and not sources):
        return []
    name = _name(table, common, sources[0] if sources else Path(words[0]))
    build = None
    if sources:
        build = Build(sources, flags, out / "programs" / name)
        words = (str(build.program), *words[1:])
    names = {seed: _seed_name(name, seed, len(seeds)) for seed in seeds}
    for seed, full in names.items():
        if not _NAME.fullmatch(full) and _NAME.fullmatch(name):
            table.problem("corpus", f"has {shown(seed.name)}; rename it to {_expected_name()}.")
    return [
        TargetPlan(
            full, BLACK_BOX, words, (seed,), None, limits, mutation,
            share=common.share, jobs=common.jobs, accepted_risk=common.accepted_risk, build=build,
        )
        for seed, full in names.items()
    ]  # fmt: skip


def _command(table: Table, home: Path) -> tuple[str, ...]:
    """The words of the command, of which the first is the program's path or the placeholder."""
    if table.has("sources"):
        words = table.words("command", (PROGRAM, "@@"))
        if words and words[0] != PROGRAM:
            table.problem(
                "command", f"starts with {shown(words[0])}; write {PROGRAM!r} for what is built."
            )
    else:
        words = table.words("command")
        if words and words[0] == PROGRAM:
            table.problem("command", f"has {PROGRAM!r}, but there are no sources; add sources.")
            return ()
    if not words:
        return ()
    if any("\0" in word for word in words):
        table.problem("command", f"is {shown(words)}; remove its NUL character.")
        return ()
    program = words[0]
    if program != PROGRAM:
        try:
            program = str(locate(program, home))
        except BadInput as problem:
            table.problem("command", f"names the program {shown(program)}, {problem}")
    return (program, *(_word(word, home) for word in words[1:]))


def _word(word: str, home: Path) -> str:
    """A word of a command as it works in any folder: files beside the campaign file are named."""
    try:
        return str(home / word) if (home / word).is_file() else word
    except OSError:  # too long for a file's name
        return word


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


def _name(table: Table, common: _Common, program: Path) -> str:
    if common.name:
        return common.name
    if not _NAME.fullmatch(program.stem):
        table.problem("name", f"is missing, and {shown(program.stem)} is none; give it a name of "
                      f"{_expected_name()}.")  # fmt: skip
    return program.stem


def _expected_name() -> str:
    return "letters, digits and . _ + -, at most 100 (it names a folder)"
