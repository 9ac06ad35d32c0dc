"""Programs that some engine takes: an out/ folder of OSS-Fuzz or ClusterFuzzLite, targets of AFL++.

A program is taken by what is in its file, whatever it is called, as ``fuzzwise fuzz`` does. What
lies beside it belongs to it by OSS-Fuzz's names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from fuzzwise.engines.aflplusplus.program import reproducing
from fuzzwise.engines.contents import ELF, HARNESS, LIBFUZZER, OBSERVER, contains
from fuzzwise.engines.recognise import answers
from fuzzwise.engines.registry import claiming_engine
from fuzzwise.engines.stock.parts import CODE, parts_of
from fuzzwise.engines.stock.recognise import has_libfuzzer, script_text
from fuzzwise.errors import BadInput
from fuzzwise.folders.companions import ENDINGS, Companions, companions
from fuzzwise.folders.honoured import WITH_ENVIRONMENT
from fuzzwise.folders.model import TARGET, Found, FoundFile, FoundTarget, Tree
from fuzzwise.programs import find as find_program
from fuzzwise.received import open_regular
from fuzzwise.triage.symbolizer import symbolizer

SECONDS, MEMORY_MIB = "25s", 2560
"""What one input may take on OSS-Fuzz."""

SYMBOLIZER = "llvm-symbolizer"
_AFL = (
    r"afl-(fuzz|showmap|tmin|cmin|analyze|gotcpu|plot|whatsup|addseeds|as|ld|cc|c\+\+|gcc|g\+\+"
    r"|clang|lto|llvm|compiler-rt|qemu-trace|frida-trace|untracer|network|system-config"
    r"|persistent-config)([-.+].*)?|afl_(cmplog|options)\.txt|afl\+\+\.dict"
)
TOOLS = {
    r"llvm-symbolizer.*": "names functions in reports; that of this machine is used",
    r"centipede": "Centipede itself, which no engine of fuzzwise uses",
    r"honggfuzz": "honggfuzz itself, which no engine of fuzzwise uses",
    r"jazzer_driver.*": "starts targets of the JVM, and is none",
    _AFL: "of AFL++ itself; the afl-fuzz of this machine is used, with its usual settings",
}
"""Files beside targets that are none, by their whole names: a target may begin with any of them."""

PART = "part"
BY_NAME = ("_fuzzer", "_fuzztest", "_fuzz_test")
"""How names of targets end that OSS-Fuzz takes for one whatever is in them."""

_OTHERS = {
    b"CENTIPEDE_RUNNER_FLAGS": "Centipede",
    b"_LIBHFUZZ_PERSISTENT_BINARY_SIGNATURE_": "honggfuzz",
}
"""Marks of builds for fuzzers that have no engine here."""

_NO_PROGRAMS = {".so", ".a", ".o", ".jar", ".class", ".py", ".toml"}
_SHELL = {".sh", ".bash", ".zsh"}
_WRAPPER_LINES = 10
"""Within which a script that starts a target says so."""
_FIRST = 4096


def find(tree: Tree) -> Found:
    """The programs that can be fuzzed, and those that look as if they could."""
    is_oss_fuzz = any(path.name.endswith(ENDINGS) for path in tree.files)
    found = Found()
    for path in tree.files:
        if path.suffix in _NO_PROGRAMS or ".so." in path.name:
            continue
        if why := _tool(path):
            found += Found(files=(FoundFile(path, "", why),))
        elif os.access(path, os.X_OK):
            found += _program(tree, path, is_oss_fuzz)
        elif _is_marked(path):
            why = f"a fuzz target that may not be executed; run: chmod +x {path.name}"
            found += Found(files=(FoundFile(path, "", why),))
    return Found(found.targets, tuple(_each_once(found.files)))


def _each_once(files: Iterable[FoundFile]) -> Iterator[FoundFile]:
    """What several wrappers start, as a library of Java, is listed with the first."""
    known: set[Path] = set()
    for each in files:
        if each.taken_for != PART or each.path not in known:
            yield each
            known.add(each.path)


def _tool(path: Path) -> str:
    if path.name == SYMBOLIZER and symbolizer() is None:
        return "names functions in reports; put it on the PATH, where there is none yet"
    return next((why for names, why in TOOLS.items() if re.fullmatch(names, path.name)), "")


def _program(tree: Tree, path: Path, is_oss_fuzz: bool) -> Found:
    engine = claiming_engine(path)
    if engine in (None, "stock") and _is_other_script(path):
        return Found(files=(FoundFile(path, "", _NO_WRAPPER),))
    if engine is None and contains(path, OBSERVER):
        engine = "libfuzzer"
    if engine is None and path.name.endswith(BY_NAME):
        if not answers(path):
            return Found(files=(FoundFile(path, "", _ONLY_CALLED_ONE),))
        engine = "stock"
    if why := _why_not(path, engine):
        return Found(files=(FoundFile(path, "", why),)) if why != _UNKNOWN else Found()
    assert engine is not None
    beside = companions(tree, path, engine, partial(_knows, parts_of(path)))
    target = _target(path, engine, beside, is_oss_fuzz)
    mine = (FoundFile(path, TARGET, f"engine {engine}"), *beside.files, *_started(tree, path))
    return Found((target,), mine)


def _started(tree: Tree, script: Path) -> Iterator[FoundFile]:
    """What a wrapper starts that is no target itself, as a package of Python, or classes."""
    for path in parts_of(script)[1:]:
        if path in tree.known and path.suffix in CODE:
            yield FoundFile(path, PART, f"started by {script.name}", tree.shown(script))


_UNKNOWN = "unknown"
_ONLY_CALLED_ONE = (
    "called like a fuzz target, but nothing in it is of a fuzzer, and it does not answer -help=1 "
    "as libFuzzer does"
)


_NO_WRAPPER = (
    "a script that speaks of a fuzz target, but does not begin as those do that start one, with "
    "LLVMFuzzerTestOneInput in a comment; it is not run. If it is one, name it to fuzzwise fuzz"
)


def _is_other_script(path: Path) -> bool:
    """Whether a script only looks like a target, as one that builds them does: it is never run."""
    text = script_text(path)
    if HARNESS not in text:
        return False
    comments = [line for line in text.splitlines()[:_WRAPPER_LINES] if line.startswith(b"#")]
    return path.suffix in _SHELL or not any(HARNESS in line for line in comments)


def _why_not(path: Path, engine: str | None) -> str:
    """Why a program is none to fuzz; _UNKNOWN where others are to say what it is."""
    for mark, name in _OTHERS.items():
        if contains(path, mark) and not contains(path, LIBFUZZER[1]):
            return (
                f"built for {name}, which has no engine here; build it for libFuzzer "
                "(FUZZING_ENGINE=libfuzzer), or fuzzwise watch reads what it writes"
            )
    if engine is None:
        return _UNKNOWN
    if engine == "afl++" and find_program("afl-fuzz") is None:
        return "a target of AFL++, which is not here; install it with: apt-get install afl++"
    return ""


def _target(path: Path, engine: str, beside: Companions, is_oss_fuzz: bool) -> FoundTarget:
    keys: dict[str, Any] = {"program": path, **beside.keys}
    limits = dict(beside.asked.limits)
    if is_oss_fuzz and engine in WITH_ENVIRONMENT:
        keys["working_folder"] = path.parent
    if is_oss_fuzz and engine in ("stock", "libfuzzer"):
        limits = {"time": SECONDS, "memory_mib": MEMORY_MIB, **limits}
    remarks = beside.remarks
    if engine == "afl++" and len(reproducing((str(path),))) == 1:
        remarks += ('its input is standard input; if it reads a file: command = "PROGRAM @@"',)
    name = path.name if path.suffix not in (".exe", ".par") else path.stem
    return FoundTarget(name, engine, keys, limits, dict(beside.asked.environment), remarks)


def _knows(parts: tuple[Path, ...], option: str) -> bool:
    """Whether the libFuzzer in a target has an option; of scripts that cannot be told."""
    programs = [part for part in parts if has_libfuzzer(part)]
    return not programs or any(contains(part, option.encode()) for part in programs)


def _is_marked(path: Path) -> bool:
    """Whether a file that may not be executed looks like a fuzz target all the same."""
    start = _start_of(path)
    if start.startswith(b"#!"):
        return HARNESS in start
    return start.startswith(ELF) and contains(path, HARNESS)


def _start_of(path: Path) -> bytes:
    """The beginning of a file; nothing of one that cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(_FIRST)
    except (OSError, BadInput):
        return b""
