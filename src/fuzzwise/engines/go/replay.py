"""Runs a fuzz test of Go on one input: python -m fuzzwise.engines.go.replay PACKAGE FuzzX FILE.

The user's folders stay as they are: the test runs in a copy of its folder, made of links, in which
the input is its only seed. Everything is said on standard error.
"""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzzwise.engines.go.corpus import FORMAT
from fuzzwise.engines.go.module import FuzzTest
from fuzzwise.engines.go.place import Place
from fuzzwise.engines.go.toolchain import compile_words, not_compiled
from fuzzwise.errors import BadInput
from fuzzwise.files import write_whole
from fuzzwise.received import read_limited

_NAME = "input"


def words(test: FuzzTest, program: Path | None = None) -> tuple[str, ...]:
    """The command, all but the input; ``program`` is the test where it is compiled already."""
    given = ("--program", str(program)) if program else ()
    package = str(test.package.absolute())
    start = (sys.executable, "-P", "-m", "fuzzwise.engines.go.replay")
    return (*start, *given, package, test.function)


def main(arguments: list[str]) -> int:
    """Run it; the test's own exit status."""
    program = None
    if arguments[:1] == ["--program"]:
        program, arguments = Path(arguments[1]), arguments[2:]
    if len(arguments) != 3:
        raise BadInput("Give the folder of a package, the name of a fuzz test, and a file.")
    package, function, file = arguments
    test = FuzzTest(Path(package), function)
    content = read_limited(Path(file))
    if not content.startswith(FORMAT):
        raise BadInput(f"{file}: is no input of Go's: it does not begin with {FORMAT.decode()!r}.")
    with tempfile.TemporaryDirectory(prefix="fuzzwise-", ignore_cleanup_errors=True) as scratch:
        place = Place(test, Path(scratch))
        place.lay(place.seed_names())
        write_whole(place.inputs / _NAME, content, to_disk=False)
        run = program or _compiled(test, Path(scratch))
        one = [str(run), f"-test.run=^{function}$/^{_NAME}$"]
        return subprocess.run(one, cwd=place.package, stdout=2, check=False).returncode  # noqa: S603


def _compiled(test: FuzzTest, scratch: Path) -> Path:
    program = scratch / "one.test"
    done = subprocess.run(  # noqa: S603
        compile_words(test, program, instrumented=False),
        cwd=test.package,
        env=_with_home(),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise BadInput(not_compiled(test, done.stdout + done.stderr))
    return program


def _with_home() -> dict[str, str]:
    """Triage has inputs run in a home of their own, where go would compile everything anew."""
    known = dict(os.environ)
    if known.get("HOME") and known["HOME"] == known.get("TMPDIR"):
        known["HOME"] = pwd.getpwuid(os.getuid()).pw_dir
    return known


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (BadInput, OSError) as problem:
        sys.exit(f"fuzzwise: {problem}")
