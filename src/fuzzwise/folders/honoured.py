"""What an .options file asks for, as keys of a campaign file; what cannot be is a remark."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fuzzwise.engines.harness_keys import OURS
from fuzzwise.engines.libfuzzer.options import RANDOM, instead_of
from fuzzwise.folders.options_file import OptionsFile
from fuzzwise.text import printable
from fuzzwise.triage.surroundings import NAME

SANITIZERS = ("asan", "msan", "ubsan", "hwasan", "lsan", "tsan")
LIBFUZZER = ("stock", "libfuzzer", "python")
"""Engines that take libFuzzer's options."""

WITH_ENVIRONMENT = ("stock", "libfuzzer", "afl++")

_LARGEST = {"stock": 1 << 30, "libfuzzer": 1 << 30, "python": 1 << 30, "afl++": 1 << 20}
_NO_LIMIT = 1 << 24
_SHOWN = 80
_WORD = re.compile(r"[A-Za-z0-9_]+")
_ELSEWHERE = {
    "grammar": "it names a grammar for ClusterFuzz's own mutators, which fuzzwise does not have",
    "honggfuzz": "it is for honggfuzz",
    "afl": "it is for ClusterFuzz's AFL; options of afl-fuzz go into options",
    "centipede": "it is for Centipede",
}


@dataclass
class Honoured:
    """Keys of a [[target]], its limits and variables; ``dictionary`` is the name of a file."""

    keys: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    dictionary: str = ""
    remarks: list[str] = field(default_factory=list)

    def leave(self, what: str, why: str) -> None:
        """Remember that something is not as the file says, and why."""
        self.remarks.append(f"{printable(what)[:_SHOWN]} is not used: {why}")


def honoured(file: OptionsFile, engine: str, knows: Callable[[str], bool]) -> Honoured:
    """What becomes of a file for a target of an engine.

    ``knows`` says whether the libFuzzer in the target has an option of a name.
    """
    made = Honoured(remarks=[f"in its options, {problem}" for problem in file.problems])
    words = list(_libfuzzer(file.section("libfuzzer"), engine, knows, made))
    if words:
        made.keys["options"] = words
    _sanitizers(file, engine, made)
    _variables(file.section("env"), engine, made)
    for name in file.sections:
        if name not in ("libfuzzer", "env", *SANITIZERS):
            why = _ELSEWHERE.get(name, "fuzzwise knows no such section")
            made.leave(f"[{name}]", why)
    return made


def _libfuzzer(
    section: dict[str, str], engine: str, knows: Callable[[str], bool], made: Honoured
) -> Iterator[str]:
    for name, value in section.items():
        word = f"{name} = {value}"
        if name == "dict":
            made.dictionary = value
        elif name == "max_len":
            yield from _longest(value, engine, made)
        elif engine not in LIBFUZZER:
            made.leave(word, "it is for libFuzzer, and this target is one of AFL++")
        elif name in ("timeout", "rss_limit_mb"):
            _limit(name, value, made)
        elif why := instead_of(name):
            made.leave(word, why.removeprefix("remove it: "))
        elif not _WORD.fullmatch(name) or not value or not value.isprintable():
            made.leave(word, "libFuzzer's options are of the form name = value")
        elif RANDOM.fullmatch(value) and engine != "stock":
            yield f"-{name}={_drawn(value, word, made)}"
        elif not knows(name):
            made.leave(word, "the libFuzzer in this target has no such option")
        else:
            yield f"-{name}={value}"


def _longest(value: str, engine: str, made: Honoured) -> Iterator[str]:
    """The length of inputs: a number, or one for each process."""
    word = f"max_len = {value}"
    if RANDOM.fullmatch(value):
        if engine == "stock":
            yield f"-max_len={value}"
            return
        value = _drawn(value, word, made)
    if value.isdecimal() and len(value) < 12 and 1 <= int(value) <= _LARGEST[engine]:
        made.keys["max_length"] = int(value)
    else:
        made.leave(word, f"a length is a number from 1 to {_LARGEST[engine]:,}")


def _limit(name: str, value: str, made: Honoured) -> None:
    word = f"{name} = {value}"
    if RANDOM.fullmatch(value):
        value = _drawn(value, word, made)
    number = int(value) if value.isdecimal() and len(value) < 10 else -1
    if name == "timeout":
        if 1 <= number <= 86_400:
            made.limits["time"] = f"{number}s"
        else:
            made.leave(word, "a limit of time is a number of seconds from 1 to 86400")
    elif number == 0:
        made.limits["memory_mib"] = _NO_LIMIT
    elif 16 <= number <= _NO_LIMIT:
        made.limits["memory_mib"] = number
    else:
        made.leave(word, "a limit of memory is a number of MiB, at least 16, or 0 for none")


def _sanitizers(file: OptionsFile, engine: str, made: Honoured) -> None:
    for name in SANITIZERS:
        section = file.section(name)
        if not section:
            continue
        if engine not in WITH_ENVIRONMENT:
            made.leave(f"[{name}]", f"targets of the engine {engine} have no variables")
            continue
        pairs = []
        for option, value in section.items():
            word = f"{name}: {option} = {value}"
            if not _WORD.fullmatch(option) or not value.isprintable():
                made.leave(word, "options of sanitizers are of the form name = value")
                continue
            pairs.append(f"{option}={_drawn(value, word, made)}")
        if pairs:
            made.environment[f"{name.upper()}_OPTIONS"] = ":".join(pairs)


def _variables(section: dict[str, str], engine: str, made: Honoured) -> None:
    for name, value in section.items():
        variable, word = name.upper(), f"[env] {name} = {value}"
        if engine not in WITH_ENVIRONMENT:
            made.leave(word, f"targets of the engine {engine} have no variables")
        elif not NAME.fullmatch(variable) or "\0" in value:
            made.leave(word, "no variable can be called that")
        elif variable.startswith(OURS):
            made.leave(word, f"{OURS}… is for fuzzwise's own")
        elif variable in made.environment:
            made.leave(word, "the section of the sanitizer says it already")
        else:
            made.environment[variable] = _drawn(value, word, made)


def _drawn(value: str, word: str, made: Honoured) -> str:
    """A value of random(a,b) that cannot be another for each process: one, the same every time."""
    found = RANDOM.fullmatch(value)
    if found is None:
        return value
    low, high = sorted((int(found[1]), int(found[2])))
    number = random.Random(word).randint(low, high)  # noqa: S311
    made.remarks.append(f"of {printable(word)[:_SHOWN]}, {number} was drawn once and for all")
    return str(number)
