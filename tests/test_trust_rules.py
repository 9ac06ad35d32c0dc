"""The rule of docs/trust.md for contributors, as far as the source can be read for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "fuzzwise"
FILES = sorted(path for path in SOURCE.rglob("*.py") if "testing" not in path.parts)

WRITERS = {
    "snapshot.py": "to /dev/stdout and the like",
    "engines/aflplusplus/places.py": "a seed, in a campaign's folder without links",
    "engines/blackbox/server.py": "in a private folder of its own",
    "engines/libfuzzer/crashes.py": "a crash, in a campaign's folder without links",
    "engines/observer/seed_marks.py": "a list that grows, in a campaign's folder without links",
    "engines/observer/seeds.py": "a list that grows, in a campaign's folder without links",
    "engines/python/failures.py": "inside of the harness's process",
    "engines/python/inside.py": "inside of the harness's process",
    "triage/examine.py": "in a private folder of its own",
}
"""Who else opens files to write, and why that is no harm."""


def calls(path: Path) -> Iterator[tuple[ast.Call, str]]:
    """All calls in a file, each with what is called."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def test_programs_are_looked_up_in_one_place() -> None:
    found = {name(path) for path in FILES for _, called in calls(path) if called.endswith("which")}
    assert found == {"programs.py"}


def test_python_is_started_without_the_current_folder() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.List) and any(_is(item, "-m", "-c") for item in node.elts):
                words = ast.unparse(node)
                assert "sys.executable" not in words or "'-P'" in words, f"{path}:{node.lineno}"


def test_files_are_written_in_one_place() -> None:
    """Through ``files``, but for those above; ``os.open`` is for those who say how."""
    found = {name(path) for path in FILES for call in calls(path) if _writes(*call)}
    assert found == WRITERS.keys()


def _writes(node: ast.Call, called: str) -> bool:
    if called.endswith((".write_text", ".write_bytes")):
        return True
    if not (called == "open" or called.endswith(".open")) or called.startswith("os."):
        return False
    modes = node.args + [word.value for word in node.keywords if word.arg == "mode"]
    return any(_is(mode, "w", "wb", "a", "ab", "r+b", "x", "xb") for mode in modes)


def _is(node: ast.expr, *values: str) -> bool:
    return isinstance(node, ast.Constant) and node.value in values
