"""Go modules with fuzz tests: func FuzzX(f *testing.F) in files *_test.go."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from fuzzwise.engines.go.module import (
    MODULE_FILE,
    TESTS,
    FuzzTest,
    functions_in,
    fuzz_tests,
    module_of,
)
from fuzzwise.engines.go.toolchain import find_go
from fuzzwise.errors import BadInput
from fuzzwise.folders.model import SEEDS, TARGET, Found, FoundFile, FoundTarget, Tree
from fuzzwise.text import many

ENGINE = "go"
_SOURCES = (".go", ".mod", ".sum", ".work", ".s")
_OF_WORKSPACE = ("go.work", "go.work.sum")
"""Files of several modules, above them."""


def find(tree: Tree) -> Found:
    """The fuzz tests of all modules in the folder, or of the one that the folder is in."""
    homes = [path.parent for path in tree.files if path.name == MODULE_FILE]
    if module_of(tree.folder) is not None:
        homes.insert(0, tree.folder)
    tests = [test for home in dict.fromkeys(homes) for test in fuzz_tests(home)]
    try:
        if tests:
            find_go()
    except BadInput as problem:
        return Found(files=tuple(_files(tree, tests, str(problem))))
    return Found(tuple(_targets(tests)), tuple(_files(tree, tests, "")))


def _targets(tests: list[FuzzTest]) -> list[FoundTarget]:
    """Each is called as its function is, and as its package too where two have that name."""
    often = Counter(test.function for test in tests)
    return [
        FoundTarget(
            test.function if often[test.function] == 1 else f"{test.package.name}.{test.function}",
            ENGINE,
            {"package": test.package, "function": test.function},
        )
        for test in tests
    ]


def _files(tree: Tree, tests: list[FuzzTest], problem: str) -> list[FoundFile]:
    """What is Go's: tests with what they are called, their seeds, and sources."""
    by_package: dict[Path, list[str]] = {}
    for test in tests:
        by_package.setdefault(test.package, []).append(test.function)
    found = []
    for package, functions in by_package.items():
        found += [each for name in functions for each in _seeds(tree, FuzzTest(package, name))]
    for path in tree.files:
        if not path.name.endswith(_SOURCES):
            continue
        if module_of(path.parent) is None and path.name not in _OF_WORKSPACE:
            found.append(FoundFile(path, "", "of Go, but in no module: there is no go.mod"))
            continue
        functions = _defined_in(path, by_package.get(path.parent, []))
        if functions and problem:
            found.append(FoundFile(path, "", problem))
        elif functions:
            said = f"engine {ENGINE}: {', '.join(functions)}"
            found.append(FoundFile(path, TARGET, said))
        else:
            found.append(FoundFile(path, "source", "of Go"))
    return found


def _defined_in(path: Path, functions: list[str]) -> list[str]:
    if not functions or not path.name.endswith(TESTS):
        return []
    here = functions_in(path)
    return [name for name in functions if name in here]


def _seeds(tree: Tree, test: FuzzTest) -> list[FoundFile]:
    folder = test.package / "testdata" / "fuzz" / test.function
    number = sum(1 for path in tree.files if path.is_relative_to(folder))
    if not number:
        return []
    return [FoundFile(folder, SEEDS, f"{many(number, 'file')}; Go reads them", test.function)]
