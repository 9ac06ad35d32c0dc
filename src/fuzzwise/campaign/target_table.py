"""One [[target]] of a campaign file: what it must say, depending on its engine."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from fuzzwise.campaign.afl_options import MOST_BYTES, read_options
from fuzzwise.campaign.plan import AFL, BLACK_BOX, LIBFUZZER, PYTHON, SHARES, Build, TargetPlan
from fuzzwise.campaign.target_files import (
    existing,
    find_sources,
    flags_from,
    is_unobserved,
    wrong_line,
)
from fuzzwise.engines.aflplusplus.program import is_afl_target, is_instrumented
from fuzzwise.engines.blackbox import Limits, Mutation
from fuzzwise.engines.blackbox.tables import read_limits, read_mutation
from fuzzwise.engines.python.interpreter import find_python
from fuzzwise.engines.python.launch import SUFFIX, is_harness
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
_FOR_PYTHON = "it is for Python targets; remove it."
_NOT_BUILT = "a Python harness is not built; remove it."
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
    """What targets of all engines have."""

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
    default = PYTHON if table.ends_with("program", SUFFIX) else LIBFUZZER
    default = BLACK_BOX if table.has("command") else default
    default = AFL if _is_made_for_afl(table, home) else default
    engine = table.choice("engine", tuple(_READERS), default)
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
    targets = _READERS[engine](table, common, home, out, sources, flags)
    table.finish()
    return targets


def _libfuzzer(
    table: Table, common: _Common, home: Path, out: Path,
    sources: tuple[Path, ...], flags: tuple[str, ...],
) -> list[TargetPlan]:  # fmt: skip
    table.refuse("command", f'{_FOR_BLACK_BOX}; write engine = "black-box", or program = …')
    table.refuse("mutation", f"{_FOR_BLACK_BOX}; libFuzzer has mutations of its own, remove it.")
    table.refuse("python", _FOR_PYTHON)
    fuzzed = _fuzzed(table, home)
    program = _program(table, home)
    if program is None and not sources:
        return []
    name = _name(table, common, program or sources[0])
    build = None
    if sources:
        build = Build(sources, flags, out / "programs" / name)
        program = build.program
    return [_harness(name, LIBFUZZER, str(program), common, fuzzed, build)]


def _python(
    table: Table, common: _Common, home: Path, out: Path,
    sources: tuple[Path, ...], flags: tuple[str, ...],
) -> list[TargetPlan]:  # fmt: skip
    """A Python harness; ``out``, ``sources`` and ``flags`` are for what is built."""
    del out, sources, flags
    table.refuse("command", f'{_FOR_BLACK_BOX}; write program = "HARNESS.py".')
    table.refuse("mutation", f"{_FOR_BLACK_BOX}; libFuzzer has mutations of its own, remove it.")
    table.refuse("sources", _NOT_BUILT)
    table.refuse("flags", _NOT_BUILT)
    fuzzed = _fuzzed(table, home)
    python = _interpreter(table, home)
    text = table.text("program", expected="the path of a Python file with TestOneInput(data)")
    path = existing(table, "program", text or "", home)
    if path is None:
        return []
    if not is_harness(path):
        table.problem(
            "program", f"is {shown(text)}, which is no Python file with a TestOneInput(data)."
        )
        return []
    plan = _harness(_name(table, common, path), PYTHON, str(path), common, fuzzed, None)
    return [replace(plan, python=python)]


def _interpreter(table: Table, home: Path) -> str | None:
    """The interpreter that the key names; a problem where there is none with Atheris."""
    text = table.text("python", "")
    try:
        asked = str(locate(text, home)) if text else None
    except BadInput as problem:
        table.problem("python", f"is {shown(text)}, {problem}")
        return None
    try:
        find_python(asked)
    except BadInput as problem:
        table.problem("python" if text else "engine", f"needs something: {problem}")
    return asked


@dataclass(frozen=True)
class _Fuzzed:
    """What harnesses under libFuzzer have, in whichever language."""

    limits: Limits
    options: tuple[str, ...]
    length: int | None
    corpus: tuple[Path, ...]
    dictionary: Path | None


def _fuzzed(table: Table, home: Path, engine: str = LIBFUZZER) -> _Fuzzed:
    limits = _fuzzer_limits(table.table("limits"), engine)
    options = read_options(table) if engine == AFL else _options(table)
    length = table.whole("max_length", 0, 1, 1 << 30) or None
    corpus = tuple(
        path for text in table.texts("corpus", ()) for path in _corpus(table, text, home)
    )
    dictionary = existing(table, "dictionary", table.text("dictionary", ""), home)
    if dictionary is not None and (wrong := wrong_line(dictionary)):
        table.problem("dictionary", f'has {wrong}; expected lines such as word="a\\xff".')
    return _Fuzzed(limits, options, length, corpus, dictionary)


def _harness(
    name: str, engine: str, program: str, common: _Common, fuzzed: _Fuzzed, build: Build | None
) -> TargetPlan:
    return TargetPlan(
        name, engine, (program, *fuzzed.options), fuzzed.corpus, fuzzed.dictionary, fuzzed.limits,
        max_length=fuzzed.length, share=common.share, jobs=common.jobs,
        accepted_risk=common.accepted_risk, build=build,
    )  # fmt: skip


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


def _fuzzer_limits(table: Table, engine: str) -> Limits:
    usual, least = (1.0, "0.01s") if engine == AFL else (10.0, "1s")
    seconds = table.duration("time", usual, least, "1d")
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
    table.refuse("python", _FOR_PYTHON)
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


def _afl(
    table: Table, common: _Common, home: Path, out: Path,
    sources: tuple[Path, ...], flags: tuple[str, ...],
) -> list[TargetPlan]:  # fmt: skip
    """A target of AFL++: what has a command has a main of its own, else it is a harness."""
    table.refuse("mutation", f"{_FOR_BLACK_BOX}; AFL++ has mutations of its own, remove it.")
    table.refuse("python", _FOR_PYTHON)
    if common.jobs > 1:
        table.problem("jobs", f"is {common.jobs}, but a target of AFL++ has one; remove it.")
    fuzzed = _fuzzed(table, home, AFL)
    if fuzzed.length is not None and fuzzed.length > MOST_BYTES:
        table.problem("max_length", f"is {fuzzed.length}; AFL++ takes up to {MOST_BYTES}.")
    words = _afl_command(table, home)
    if not words or (table.has("sources") and not sources):
        return []
    name = _name(table, common, sources[0] if sources else Path(words[0]))
    build = None
    if sources:
        kind = () if table.has("command") else ("-fsanitize=fuzzer",)
        build = Build(sources, (*kind, *flags), out / "programs" / name)
        words = (str(build.program), *words[1:])
    plan = _harness(name, AFL, words[0], common, replace(fuzzed, options=words[1:]), build)
    return [replace(plan, options=fuzzed.options)]


def _afl_command(table: Table, home: Path) -> tuple[str, ...]:
    """What afl-fuzz runs: a command with @@ or standard input, or a harness."""
    if table.has("command"):
        table.refuse("program", "there is a command too; remove one of the two.")
        key, words = "command", _command(table, home)
    elif table.has("sources"):
        table.refuse("program", "there are sources too; remove one of the two.")
        return (PROGRAM,)
    else:
        key, words = "program", _afl_program(table, home)
    if words and Path(words[0]).is_file() and not is_instrumented(Path(words[0])):
        table.problem(
            key,
            f"names {shown(words[0])}, which no compiler of AFL++ has built; build it with: "
            f"afl-clang-fast -fsanitize=fuzzer SOURCES -o {Path(words[0]).name}",
        )
        return ()
    return words


def _afl_program(table: Table, home: Path) -> tuple[str, ...]:
    text = table.text("program", expected="the path of a target, or sources = [...] to build")
    path = existing(table, "program", text or "", home)
    if path is None:
        return ()
    try:
        return (str(locate(str(path), home)),)
    except BadInput as problem:
        table.problem("program", f"is {shown(text)}, {problem}")
        return ()


def _is_made_for_afl(table: Table, home: Path) -> bool:
    program = table.first_word("program")
    word = str(home / program) if program else table.first_word("command")
    try:
        return bool(word) and is_afl_target(locate(word, home))
    except BadInput:
        return False


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


_Read = Callable[[Table, _Common, Path, Path, tuple[Path, ...], tuple[str, ...]], list[TargetPlan]]
_READERS: dict[str, _Read] = {
    LIBFUZZER: _libfuzzer,
    BLACK_BOX: _black_box,
    PYTHON: _python,
    AFL: _afl,
}
