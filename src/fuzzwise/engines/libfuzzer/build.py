"""The engine library and the compiler wrappers that build observed targets.

The engine is libFuzzer's own runtime without its main, plus the observer, in one static library:
a drop-in for ``LIB_FUZZING_ENGINE``. Two symbols of the runtime are renamed on the way, so that
the observer learns where each module keeps its coverage counters, and chooses the seed.
"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fuzzwise.engines.cache import kept
from fuzzwise.engines.compilers import CXX_SUFFIXES
from fuzzwise.engines.observer.build import COUNTING, FLAGS, fingerprint_of
from fuzzwise.engines.observer.build import NATIVE as SHARED
from fuzzwise.errors import BadInput
from fuzzwise.programs import find

NATIVE = Path(__file__).parent / "native"
SOURCES = ("observer.c", "counters.c", "again.c", "lengths.c", "reports.c")
MAIN = "main.c"
STUBS = "stubs.c"
PRELOAD = "preload.c"
EXPORTED = "preload.map"
"""What the shared library shows: nothing of the C++ library in it may take another one's place."""

RENAMED = {
    "__sanitizer_cov_8bit_counters_init": "fuzzwise_real_counters_init",
    "LLVMFuzzerCustomMutator": "fuzzwise_mutator",
}
"""Symbols of the runtime that get another name: what the observer stands in for."""

RENAMED_IN_PRELOAD = {**RENAMED, "LLVMFuzzerRunDriver": "fuzzwise_real_driver"}

INSTRUMENT = "-fsanitize=fuzzer-no-link"
LIBRARIES = ("-lstdc++", "-lm", "-lpthread", "-ldl")
COMPILER_VARIABLE = "FUZZWISE_CLANG"


@dataclass(frozen=True)
class Toolchain:
    """A clang with the libFuzzer runtime that belongs to it."""

    cc: Path
    cxx: Path
    runtime: Path
    version: str


def find_toolchain() -> Toolchain:
    """The clang named by FUZZWISE_CLANG, else ``clang``, else the newest ``clang-N``."""
    asked = os.environ.get(COMPILER_VARIABLE)
    names = [asked] if asked else ["clang", *(f"clang-{n}" for n in range(40, 10, -1))]
    for name in names:
        if found := find(name):
            return _toolchain(found)
    if asked:
        raise BadInput(f"{COMPILER_VARIABLE} names {asked!r}, which is not an executable.")
    raise BadInput("No clang was found. Install it with: apt-get install clang libclang-rt-14-dev")


def _toolchain(cc: Path) -> Toolchain:
    cxx = cc.with_name(cc.name.replace("clang", "clang++", 1))
    version = _output([str(cc), "--version"]).splitlines()[0]
    architecture = platform.machine()
    names = [f"libclang_rt.fuzzer_no_main-{architecture}.a", "libclang_rt.fuzzer_no_main.a"]
    resources = Path(_output([str(cc), "-print-resource-dir"]).strip())
    folders = [Path(_output([str(cc), "-print-runtime-dir"]).strip()), resources / "lib" / "linux"]
    for folder in folders:
        for name in names:
            if (folder / name).exists():
                return Toolchain(cc, cxx if cxx.exists() else cc, folder / name, version)
    major = resources.name.split(".")[0]
    raise BadInput(
        f"{cc} has no libFuzzer runtime ({names[0]}). "
        f"Install it with: apt-get install libclang-rt-{major}-dev"
    )


def engine(toolchain: Toolchain) -> Path:
    """The engine library for that clang, made on first use and kept in the user's cache."""
    name = f"engine-{_fingerprint(toolchain)}"
    return kept(name, partial(_make, toolchain)) / "libfuzzwise.a"


def preload(toolchain: Toolchain) -> Path:
    """The engine as a shared library, for programs that look for libFuzzer when they run."""
    name = f"preload-{_fingerprint(toolchain)}"
    return kept(name, partial(_make_preload, toolchain)) / "libfuzzwise.so"


def stubs(toolchain: Toolchain) -> Path:
    """Empty coverage hooks, for programs that are linked without any fuzzing engine."""
    return engine(toolchain).with_name("libfuzzwise_stubs.a")


def link_words(toolchain: Toolchain, flags: Sequence[str]) -> list[str]:
    """What links a target: the engine, and libFuzzer's eyes on memcmp and its like.

    With address, memory or thread sanitizer these eyes are the sanitizer's own interceptors.
    """
    kinds = {k for f in flags if f.startswith("-fsanitize=") for k in f[11:].split(",")}
    interceptors = toolchain.runtime.with_name(
        toolchain.runtime.name.replace("fuzzer_no_main", "fuzzer_interceptors")
    )
    words = [str(engine(toolchain))]
    if interceptors.exists() and not kinds & {"address", "hwaddress", "memory", "thread"}:
        words += ["-Wl,--whole-archive", str(interceptors), "-Wl,--no-whole-archive"]
    return [*words, *LIBRARIES]


def compile_words(toolchain: Toolchain, words: Sequence[str], *, cxx: bool) -> list[str]:
    """The command for a call of the wrapper: instrumented, and linked with our engine.

    ``-fsanitize=fuzzer`` asks for libFuzzer's main, which the engine has instead. Executables
    linked without an engine (a configure script's tests) get empty hooks.
    """
    compiler = str(toolchain.cxx if cxx else toolchain.cc)
    kept: list[str] = []
    wants_engine = False
    for word in words:
        if word.startswith("-fsanitize="):
            kinds = word.removeprefix("-fsanitize=").split(",")
            wants_engine |= "fuzzer" in kinds
            kinds = [kind for kind in kinds if kind not in ("fuzzer", "fuzzer-no-link")]
            if kinds:
                kept.append("-fsanitize=" + ",".join(kinds))
        else:
            kept.append(word)
    command = [compiler, INSTRUMENT, *kept]
    no_link = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-v", "-shared", "-r"}
    asks = any(word.startswith(("-print-", "--print-", "-dump")) for word in kept)
    inputs = [word for word in kept if not word.startswith("-")]
    if no_link & set(kept) or asks or not inputs:
        return command
    if wants_engine:
        return [*command, *link_words(toolchain, kept)]
    return [*command, str(stubs(toolchain))]


def build_words(toolchain: Toolchain, words: Sequence[str]) -> list[str]:
    """The command that builds a target from its sources in one go."""
    cxx = any(Path(word).suffix in CXX_SUFFIXES for word in words if not word.startswith("-"))
    extra = [] if any(word.startswith("-O") for word in words) else ["-O2"]
    extra += [] if any(word.startswith("-g") for word in words) else ["-g"]
    return compile_words(toolchain, [*extra, "-fsanitize=fuzzer", *words], cxx=cxx)


def _fingerprint(toolchain: Toolchain) -> str:
    runtime = toolchain.runtime.stat().st_mtime_ns
    parts = (toolchain.cc, toolchain.version, runtime, SOURCES, COUNTING, FLAGS, LIBRARIES)
    return fingerprint_of(f"{parts} {RENAMED_IN_PRELOAD}", NATIVE, SHARED)


def _make(toolchain: Toolchain, made: Path, work: Path) -> None:
    archiver = _tool("ar")
    objects = _objects(toolchain, work, RENAMED, (*SOURCES, MAIN, STUBS))
    (objects / "fuzzwise_stubs.o").rename(work / "stubs.o")
    members = sorted(path.name for path in objects.glob("*.o"))
    _run([archiver, "rcs", str(made / "libfuzzwise.a"), *members], objects)
    _run([archiver, "rcs", str(made / "libfuzzwise_stubs.a"), "stubs.o"], work)


def _make_preload(toolchain: Toolchain, made: Path, work: Path) -> None:
    objects = _objects(toolchain, work, RENAMED_IN_PRELOAD, (*SOURCES, PRELOAD))
    members = sorted(path.name for path in objects.glob("*.o"))
    library = str(made / "libfuzzwise.so")
    shown = f"-Wl,--version-script={NATIVE / EXPORTED}"
    _run([str(toolchain.cc), "-shared", shown, "-o", library, *members, *LIBRARIES], objects)


def _objects(
    toolchain: Toolchain, work: Path, renamed: Mapping[str, str], sources: Sequence[str]
) -> Path:
    """A folder with the objects of the runtime, symbols renamed, and with ours."""
    objcopy, archiver = _tool("objcopy"), _tool("ar")
    objects = work / "objects"
    objects.mkdir()
    _run([archiver, "x", str(toolchain.runtime)], objects)
    renames = [f"--redefine-sym={old}={new}" for old, new in renamed.items()]
    for member in objects.iterdir():
        _run([objcopy, *renames, member.name], objects)
    for path in (*(SHARED / name for name in COUNTING), *(NATIVE / name for name in sources)):
        command = [str(toolchain.cc), *FLAGS, "-c", str(path), "-o", f"fuzzwise_{path.stem}.o"]
        _run(command, objects)
    return objects


def _tool(name: str) -> str:
    found = find(name) or find(f"llvm-{name}")
    if not found:
        raise BadInput(f"{name} was not found. Install it with: apt-get install binutils")
    return str(found)


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout or "\n"  # noqa: S603


def _run(command: list[str], folder: Path) -> None:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if result.returncode:
        raise BadInput(f"Building the engine failed: {' '.join(command)}\n{result.stderr.strip()}")
