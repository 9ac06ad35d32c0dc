"""Where the fuzz tests of a Go module are, told from its files and without running anything."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.received import read_limited

MODULE_FILE = "go.mod"
TESTS = "_test.go"
MOST_FILES = 100_000
"""Files and folders that are looked at: more are no module, but somebody's home."""

_PARTS = (".go", ".mod", ".sum", ".s", ".c", ".h", ".cc", ".cpp", ".hh", ".hpp", ".syso")
"""How files end from which a test is compiled."""

_FUZZ = re.compile(rb"^func +(Fuzz\w{0,200}) *\( *\w+ +\*testing\.F *\)", re.MULTILINE)
_NAME = re.compile(r"Fuzz\w{0,200}")
_PATH = re.compile(rb'^module\s+"?([^\s"]{1,1000})"?', re.MULTILINE)


@dataclass(frozen=True)
class FuzzTest:
    """One fuzz test: the folder of its package, and its function."""

    package: Path
    function: str


def fuzz_tests(folder: Path) -> list[FuzzTest]:
    """All fuzz tests of a Go module, or of a folder in one, in the order of their names.

    As the command go does, folders called testdata and those whose names begin with . or _ are
    passed over, and so are vendor/ and other modules inside of this one. Build constraints are not
    looked at. Nothing where the folder is in no module.
    """
    if module_of(folder) is None:
        return []
    return [
        FuzzTest(place, name)
        for place in _packages(folder)
        for name in sorted({name for path in _tests_in(place) for name in functions_in(path)})
    ]


def tests_of(package: Path) -> list[str]:
    """The names of the fuzz tests of one package."""
    return sorted({name for path in _tests_in(package) for name in functions_in(path)})


def named(target: Path) -> FuzzTest | None:
    """The fuzz test that ``PACKAGE/FuzzX``, or the folder of a package with one, stands for."""
    try:
        if target.is_dir():
            found = tests_of(target)
            return FuzzTest(target, found[0]) if len(found) == 1 else None
        is_one = _NAME.fullmatch(target.name) and target.name in tests_of(target.parent)
        return FuzzTest(target.parent, target.name) if is_one else None
    except (OSError, ValueError):  # a name with NUL
        return None


def is_for_go(target: Path) -> bool:
    """Whether something can only be meant for Go: a package with fuzz tests, a module, a test.

    The test need not exist: ``PACKAGE/FuzzX`` is one that is named wrongly.
    """
    try:
        if target.is_dir():
            return bool(tests_of(target)) or (target / MODULE_FILE).is_file()
        is_name = _NAME.fullmatch(target.name) is not None and not target.exists()
        return is_name and target.parent.is_dir() and bool(tests_of(target.parent))
    except (OSError, ValueError):  # a name with NUL
        return False


def module_of(package: Path) -> Path | None:
    """The folder of the module that a package is in; None where there is none."""
    place = package.absolute()
    return next((up for up in (place, *place.parents) if (up / MODULE_FILE).is_file()), None)


def import_path(package: Path) -> str:
    """What a package is called in Go; "" where its module does not say."""
    module = module_of(package)
    try:
        found = _PATH.search(read_limited(module / MODULE_FILE)) if module else None
    except (OSError, BadInput):
        return ""
    if found is None or module is None:
        return ""
    below = package.absolute().relative_to(module).as_posix()
    name = found[1].decode(errors="replace")
    return name if below == "." else f"{name}/{below}"


def parts_of(package: Path) -> tuple[Path, ...]:
    """The files of a package's module from which its tests are compiled, the package first.

    Modules that are elsewhere are named with their versions in go.mod and go.sum; with others in
    the place of such versions (``replace``), a test is taken for the same.
    """
    module = module_of(package) or package
    found = (
        path
        for place in _packages(module)
        for path in sorted(place.iterdir())
        if path.name.endswith(_PARTS) and path.is_file()
    )
    return (package, *found)


def _packages(folder: Path) -> Iterator[Path]:
    """A folder and those below it that may be packages of the same module."""
    looked = 0
    for here, below, files in os.walk(folder):
        looked += len(below) + len(files)
        if looked > MOST_FILES:
            raise BadInput(
                f"{folder}: has more than {MOST_FILES:,} files. Give the folder of one Go module."
            )
        place = Path(here)
        below[:] = sorted(name for name in below if _may_hold_packages(place / name))
        yield place


def _may_hold_packages(folder: Path) -> bool:
    if folder.name in ("testdata", "vendor") or folder.name.startswith((".", "_")):
        return False
    return not (folder / MODULE_FILE).exists()


def _tests_in(package: Path) -> list[Path]:
    found = (path for path in package.iterdir() if path.name.endswith(TESTS))
    return sorted(path for path in found if not path.name.startswith((".", "_")))


def functions_in(path: Path) -> list[str]:
    """The names of the fuzz tests in one file."""
    try:
        return [name.decode() for name in _FUZZ.findall(read_limited(path))]
    except (OSError, BadInput, UnicodeDecodeError):
        return []
