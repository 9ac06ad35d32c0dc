"""Scripts of Atheris, and other Python files with a function TestOneInput."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fuzzwise.engines.python import SUFFIX
from fuzzwise.engines.python.interpreter import find_python
from fuzzwise.engines.python.launch import is_harness
from fuzzwise.errors import BadInput
from fuzzwise.folders.companions import companions
from fuzzwise.folders.model import TARGET, Found, FoundFile, FoundTarget, Tree

ENGINE = "python"


def find(tree: Tree) -> Found:
    """Harnesses in Python; any other file in it is one that they may import."""
    scripts = [path for path in tree.files if path.suffix == SUFFIX]
    harnesses = [path for path in scripts if is_harness(path)]
    others = tuple(
        FoundFile(path, "", "Python without a function TestOneInput(data), and not of Atheris")
        for path in scripts
        if path not in harnesses
    )
    found = Found(files=others)
    if not harnesses:
        return found
    try:
        find_python()
    except BadInput as problem:
        return found + Found(files=tuple(FoundFile(path, "", str(problem)) for path in harnesses))
    for path in harnesses:
        found += _target(tree, path)
    return found


def _target(tree: Tree, path: Path) -> Found:
    beside = companions(tree, path, ENGINE)
    keys: dict[str, Any] = {"program": path, **beside.keys}
    target = FoundTarget(path.stem, ENGINE, keys, dict(beside.asked.limits), {}, beside.remarks)
    return Found((target,), (FoundFile(path, TARGET, f"engine {ENGINE}"), *beside.files))
