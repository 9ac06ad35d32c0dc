"""A [[target]] in Go: the folder of a package, and one of its fuzz tests."""

from __future__ import annotations

from pathlib import Path

from fuzzwise.config.table import Table, shown
from fuzzwise.engines.contract import CommonKeys, FuzzRequest, TargetPlan
from fuzzwise.engines.go.module import FuzzTest, fuzz_tests, module_of, named, tests_of
from fuzzwise.engines.go.settings import GoSettings
from fuzzwise.engines.go.toolchain import find_go
from fuzzwise.engines.harness_keys import read_corpora
from fuzzwise.engines.starting import STARTUP
from fuzzwise.engines.target_files import existing
from fuzzwise.errors import BadInput

_NOT_BUILT = "go compiles it; remove it."


def read_go(table: Table, keys: CommonKeys) -> list[TargetPlan]:
    """The target; none where something of it is wrong."""
    table.refuse("command", 'write package = "FOLDER" and function = "FuzzX".')
    table.refuse("program", 'write package = "FOLDER" and function = "FuzzX".')
    table.refuse("sources", _NOT_BUILT)
    table.refuse("flags", _NOT_BUILT)
    limits = table.table("limits")
    seconds = limits.duration("time", 10.0, "1s", "1d")
    memory = limits.whole("memory_mib", 2048, 256, 1 << 24)
    startup = limits.duration("startup", STARTUP, "1s", "1d")
    limits.finish()
    corpus, zips = read_corpora(table, keys.home)
    test = _test(table, keys.home)
    if test is None:
        return []
    settings = GoSettings(seconds, memory, startup=startup)
    command = (str(test.package), test.function)
    return [
        TargetPlan(
            keys.name or test.function, keys.engine, command, corpus, None, settings,
            share=keys.share, jobs=keys.jobs, accepted_risk=keys.accepted_risk, seed_zips=zips,
        )
    ]  # fmt: skip


def _test(table: Table, home: Path) -> FuzzTest | None:
    text = table.text("package", expected="the folder of a Go package with fuzz tests")
    function = table.text("function", "")
    package = existing(table, "package", text or "", home)
    if package is None:
        return None
    if wrong := _objection(package):
        table.problem("package", f"is {shown(text)}, {wrong}")
        return None
    known = tests_of(package)
    if function and function not in known:
        table.problem("function", f"is {shown(function)}, but there {_are(known)}.")
        return None
    if not function and len(known) > 1:
        table.problem("function", f"is missing; there {_are(known)}, and a target is one of them.")
        return None
    return FuzzTest(package.absolute(), function or known[0])


def plan_fuzz(request: FuzzRequest) -> TargetPlan:
    """The target of ``fuzzwise fuzz``."""
    _refuse_others(request)
    request.check_corpus()
    test = named(request.target)
    if test is None:
        raise BadInput(_why_none(request.target))
    if wrong := _objection(test.package):
        raise BadInput(f"{request.target}: {wrong}")
    find_go()
    settings = GoSettings(inputs=request.inputs, startup=request.startup)
    corpus = tuple(place.absolute() for place in request.corpus)
    command = (str(test.package.absolute()), test.function)
    return TargetPlan(test.function, "go", command, corpus, settings=settings, jobs=request.jobs)


def _why_none(target: Path) -> str:
    known = tests_of(target) if target.is_dir() else []
    if known:
        return (
            f"{target}: there {_are(known)}. Say which one, for example: fuzzwise fuzz "
            f"{target / known[0]}"
        )
    if target.is_dir():
        below = [str(test.package / test.function) for test in fuzz_tests(target)]
        if below:
            return (
                f"{target}: there {_are(below)}. Say which one, for example: fuzzwise fuzz "
                f"{below[0]}"
            )
    elif target.parent.is_dir() and (near := tests_of(target.parent)):
        return f"{target}: there is no such fuzz test; there {_are(near)}."
    return (
        f"{target}: is no fuzz test of Go. Give PACKAGE/FuzzX: the folder of a package that has "
        "func FuzzX(f *testing.F) in a file *_test.go, and the name of the function."
    )


def _objection(package: Path) -> str:
    """What is wrong with a package, "" where nothing is."""
    if not package.is_dir():
        return "which is no folder; give that of a Go package."
    if not tests_of(package):
        return "which has no func FuzzX(f *testing.F) in a file *_test.go."
    if module_of(package) is None:
        return "which is in no Go module: no go.mod is in it or above it. Make one: go mod init"
    return ""


def _are(known: list[str]) -> str:
    more = f" and {len(known) - 8:,} more" if len(known) > 8 else ""
    return f"is {known[0]}" if len(known) == 1 else f"are {', '.join(known[:8])}{more}"


def _refuse_others(request: FuzzRequest) -> None:
    """What is asked of another fuzzer."""
    asked = {
        "--afl": bool(request.afl_options),
        "--arguments": request.arguments is not None,
        "--libfuzzer": bool(request.libfuzzer_options),
        "--python": request.python is not None,
        "--measure": request.measure,
        "--per-seed": request.per_seed,
        f"--schedule {request.schedule}": request.schedule not in ("fresh", "observe"),
        f"--species {request.species}": request.species != "feature",
    }
    for words, is_asked in asked.items():
        if is_asked:
            raise BadInput(f"{words}: a fuzz test of Go has no such thing; leave it out.")
