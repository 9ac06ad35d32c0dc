"""What `import fuzzwise` offers: the names of docs/api.md, each loaded when it is used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fuzzwise

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "api.md").read_text()


def alone(program: str) -> str:
    """What a program prints in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_every_name_is_there_and_on_the_page():
    assert set(fuzzwise.__all__) == {*fuzzwise._PLACES, "__version__"}
    for name in fuzzwise.__all__:
        assert getattr(fuzzwise, name) is not None
        assert f"`{name}`" in PAGE, f"docs/api.md does not have {name}; add it to its table."


def test_the_page_has_no_other_name():
    used = set(re.findall(r"\bfuzzwise\.(\w+)\b(?!\.)", "".join(_python(PAGE))))
    assert used <= set(fuzzwise.__all__)


def test_type_checkers_see_the_same_as_the_interpreter():
    tree = ast.parse(Path(fuzzwise.__file__).read_text())
    seen = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "__future__" and node.col_offset == 4
        for alias in node.names
    }
    places = {name: place.partition(":") for name, place in fuzzwise._PLACES.items()}
    assert seen == {
        name: f"fuzzwise.{module}.{original or name}"
        for name, (module, _, original) in places.items()
    }


def test_to_import_it_loads_nothing():
    loaded = "import sys, fuzzwise; print(*(name for name in sys.modules if 'fuzzwise' in name))"
    assert alone(loaded) == "fuzzwise"
    assert "numpy" not in alone("import sys, fuzzwise; print(*sys.modules)").split()


def test_what_is_not_there_is_said():
    with pytest.raises(AttributeError, match="no attribute 'judge_everything'"):
        _ = fuzzwise.judge_everything
    assert "judge_log" in dir(fuzzwise)


def test_what_needs_the_lab_says_so():
    program = "import sys; sys.modules['numba'] = None\ntry: from fuzzwise import replay\n"
    program += "except Exception as error: print(type(error).__name__, error)"
    assert alone(program).startswith("MissingExtra To replay a recording needs the Python package")


def _python(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
