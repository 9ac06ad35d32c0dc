"""What fuzzwise needs from the machine: whether it is there, and how to get it if not."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fuzzwise.errors import BadInput
from fuzzwise.plugins import Kind, check_name, load, with_installed
from fuzzwise.programs import find

LAB = ("altair", "numba", "polars", "pyarrow", "vl_convert")
"""What the extra ``lab`` brings."""
SERVE = ("prometheus_client", "starlette", "uvicorn")
"""What the extra ``serve`` brings."""
FLEET = ("cryptography", "distributed", "fsspec", "psycopg")
"""What the extra ``fleet`` brings."""


@dataclass(frozen=True)
class Part:
    """Something that is looked for: ``found`` says what there is, ``missing`` what to do."""

    name: str
    used_for: str
    found: str = ""
    missing: str = ""


_MEANS = {
    "libfuzzer": "with all counts: fuzzwise has built it",
    "stock": "as it is: it takes libFuzzer's options and was not built with fuzzwise",
    "afl++": "as a compiler of AFL++ has built it",
    "python": "as a harness in Python",
    "go": "by Go's own fuzzer, which go compiles it for",
}


@dataclass(frozen=True)
class Recognised:
    """A program and the engine that would fuzz it; ``problem`` says why there is none."""

    program: Path
    engine: str = ""
    problem: str = ""

    @property
    def means(self) -> str:
        """How it is fuzzed."""
        return _MEANS.get(self.engine, "by a plug-in")


def recognised(program: Path) -> Recognised:
    """Which engine would fuzz a program."""
    from fuzzwise.engines.recognise import recognise

    if is_test := _is_test_of_go(program):
        return is_test
    if not program.is_file():
        return Recognised(program, problem=f"{program}: there is no such file.")
    if not os.access(program, os.X_OK) and program.suffix != ".py":
        how = (
            f"Make a program so with: chmod +x {shlex.quote(str(program))}; a harness in C or C++ "
            "is built with `fuzzwise build`."
        )
        return Recognised(program, problem=f"{program}: is not executable. {how}")
    try:
        return Recognised(program, recognise(program))
    except BadInput as problem:
        return Recognised(program, problem=str(problem))


def _is_test_of_go(program: Path) -> Recognised | None:
    """A fuzz test of Go, or what is wrong with one; None where it can only be something else."""
    from fuzzwise.engines.contract import FuzzRequest
    from fuzzwise.engines.registry import claiming_engine, engine_named

    if program.is_file() or claiming_engine(program) != "go":
        return None
    try:
        engine_named("go").plan_fuzz(FuzzRequest(program))
    except BadInput as problem:
        return Recognised(program, problem=str(problem))
    return Recognised(program, "go")


def look() -> Iterator[Part]:
    """Look for every part."""
    for name, used_for, look_for in _PARTS:
        try:
            yield Part(name, used_for, found=look_for())
        except BadInput as problem:
            yield Part(name, used_for, missing=str(problem))


def _clang() -> str:
    from fuzzwise.engines.libfuzzer.build import find_toolchain

    toolchain = find_toolchain()
    return f"{toolchain.version} ({toolchain.cc})"


def _cxx() -> str:
    from fuzzwise.engines.libfuzzer.build import find_toolchain

    toolchain = find_toolchain()
    if toolchain.cxx == toolchain.cc:
        raise BadInput(
            f"There is no clang++ beside {toolchain.cc}. Install it with: apt-get install clang. A "
            "harness in C can be linked by clang: LIB_FUZZING_ENGINE=$(fuzzwise engine --link)"
        )
    return f"{toolchain.cxx} (clang alone links with: fuzzwise engine --link)"


def _cc() -> str:
    from fuzzwise.engines.compilers import find_compiler

    return str(find_compiler())


def _afl() -> str:
    from fuzzwise.engines.aflplusplus.program import COMPILERS, INSTALL, find_afl_fuzz

    with tempfile.TemporaryDirectory(prefix="fuzzwise-") as scratch:
        afl = find_afl_fuzz(Path(scratch))
    compiler = next((path for name in COMPILERS if (path := find(name))), None)
    if compiler is None:
        raise BadInput(f"{afl.path} is there, but none of {', '.join(COMPILERS)}. {INSTALL}")
    return f"{afl.name} ({afl.path}, {compiler})"


def _atheris() -> str:
    from fuzzwise.engines.python.interpreter import find_python

    return f"in {find_python()}"


def _go() -> str:
    from fuzzwise.engines.go.toolchain import find_go

    return str(find_go())


def _gdb() -> str:
    found = find("gdb")
    if found is None:
        raise BadInput("gdb was not found. Install it with: apt-get install gdb")
    return str(found)


def _symbolizer() -> str:
    from fuzzwise.triage.symbolizer import symbolizer

    found = symbolizer()
    if found is None:
        raise BadInput("llvm-symbolizer was not found. Install it with: apt-get install llvm")
    return str(found)


def _lab() -> str:
    return _extra("lab", LAB)


def _serve() -> str:
    return _extra("serve", SERVE)


def _fleet() -> str:
    return _extra("fleet", FLEET)


def _extra(name: str, modules: Sequence[str]) -> str:
    missing = ", ".join(module for module in modules if find_spec(module) is None)
    if missing:
        raise BadInput(
            f"Not installed: {missing}. Install them with: pip install 'fuzzwise[{name}]'"
        )
    return "all installed"


def _plugins() -> str:
    from fuzzwise.engines import registry as engines
    from fuzzwise.estimators import registry as estimators
    from fuzzwise.schedulers import registry as schedulers

    found, problems = [], []
    known: tuple[tuple[Mapping[str, Any], Kind], ...] = (
        (estimators.OWN, estimators.PLUGINS),
        (schedulers.OWN, schedulers.PLUGINS),
    )
    for own, kind in known:
        every, wrong = with_installed(own, kind)
        found += [f"{kind.what} {name}" for name in every if name not in own]
        problems += wrong
    for entry in entry_points(group=engines.GROUP):
        try:
            check_name(entry, entry.name, engines.ours(), engines.PLUGINS)
            load(entry, engines.PLUGINS)
            found.append(f"{engines.PLUGINS.what} {entry.name}")
        except BadInput as problem:
            problems.append(str(problem))
    if problems:
        raise BadInput(" ".join(problems))
    return ", ".join(found) or "none is installed"


_PARTS: tuple[tuple[str, str, Callable[[], str]], ...] = (
    ("clang", "targets of libFuzzer and in Python", _clang),
    ("clang++", "targets in C++, and to link the library of `fuzzwise engine`", _cxx),
    ("C compiler", "black boxes, AFL++", _cc),
    ("AFL++", "targets of AFL++", _afl),
    ("Atheris", "targets in Python", _atheris),
    ("Go", "fuzz tests of Go", _go),
    ("gdb", "stacks of crashes without a sanitizer", _gdb),
    ("llvm-symbolizer", "names of functions in reports of sanitizers", _symbolizer),
    ("extra [lab]", "charts, also those of the report; record, replay, simulate, evaluate", _lab),
    ("extra [serve]", "the live page and its metrics: serve, run --serve", _serve),
    ("extra [fleet]", "campaigns on many machines, and stores in PostgreSQL", _fleet),
    ("plug-ins", "what other packages add: estimators, schedulers, engines", _plugins),
)
