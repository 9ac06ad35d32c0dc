"""Imports go downwards: the layers are those of the table in docs/architecture.md."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "fuzzwise"
PAGE = ROOT / "docs" / "architecture.md"


def _tool(name):
    path = ROOT / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"tools_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


shape = _tool("shape")
ENGINES = shape.engines_of(SOURCE)
IMPORTS = list(shape.imports(SOURCE))

JUDGING = ("estimators", "stopping", "forecast", "stop_forecast", "judge")
ENGINE_PARTS = ("engines", *sorted(ENGINES))
STRANGERS = {
    ENGINE_PARTS: (*JUDGING, "schedulers"),
    ("store",): (*JUDGING, "schedulers", "config", *ENGINE_PARTS),
    ("schedulers", "triage"): (*JUDGING, "snapshot"),
    ("lab",): ("store", "campaign", "watch"),
}
"""Who is below somebody and still none of their business."""


def layers(page=PAGE):
    """Each package and the number of its layer, the lowest first, as the page's table has them."""
    section = page.read_text().partition("\n## Layers\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+`) \|", section, flags=re.MULTILINE)
    found = {}
    for number, row in enumerate(reversed(rows)):
        for name in re.findall(r"`([^`]+)`", row):
            assert name not in found, f"{page.name} has {name} in two layers; leave one."
            found[name] = number
    return found


def package(module):
    return shape.package_of(module, ENGINES)


def place(each):
    return f"{each.path.relative_to(ROOT)}:{each.line}"


def across():
    """Every import from one package into another."""
    pairs = ((each, package(each.module), package(each.imported)) for each in IMPORTS)
    return [(each, one, other) for each, one, other in pairs if one != other]


def test_every_package_has_its_layer():
    missing = set(shape.packages(SOURCE)) - set(layers())
    assert not missing, (
        f"{', '.join(sorted(missing))}: in no layer. Say in the table of docs/architecture.md, "
        "under Layers, what it is, in the row above all that it imports."
    )


def test_imports_go_downwards():
    of = layers()
    wrong = [
        f"{place(each)}: {one} imports {each.imported}, which is "
        f"{'above' if of[other] > of[one] else 'beside'} it. Move what both need to a layer below, "
        "or be given it by who calls (docs/architecture.md, Layers)."
        for each, one, other in across()
        if {one, other} <= of.keys() and of[other] >= of[one]
    ]
    assert not wrong, "\n".join(wrong)


def test_one_engine_does_not_import_another():
    """But for Python's, which runs under the observed libFuzzer, and the stock libFuzzer."""
    engines = ENGINES - {"engines.observer"}
    akin = {(f"engines.{name}", "engines.libfuzzer") for name in ("python", "stock")}
    wrong = [
        f"{place(each)}: {one} imports {each.imported}, of another engine. What two engines need "
        "goes to engines/, or to engines/observer/ where it counts."
        for each, one, other in across()
        if {one, other} <= engines and (one, other) not in akin
    ]
    assert not wrong, "\n".join(wrong)


def test_strangers_stay_strangers():
    """Engines do not judge, a store knows no engine, a scheduler sees only what an epoch told."""
    wrong = [
        f"{place(each)}: {one} imports {each.imported}, which is none of its business. Let the "
        "campaign, which knows both, hand over what is needed."
        for each, one, other in across()
        for who, strangers in STRANGERS.items()
        if one in who and other in strangers
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_is_in_a_circle():
    """Of what is imported when a module is loaded."""
    edges = defaultdict(set)
    for each in IMPORTS:
        edges[each.module] |= {each.imported} if each.early else set()
    circles = shape.circles(edges)
    lines = [
        f"{place(each)}: {each.module} imports {each.imported}"
        for circle in circles
        for each in IMPORTS
        if each.early and {each.module, each.imported} <= set(circle)
    ]
    assert not circles, "\n".join(
        ["These modules import each other; move what they share to a module below them.", *lines]
    )


def test_no_package_is_in_a_circle():
    assert shape.circles(shape.packages(SOURCE)) == []


@pytest.mark.parametrize("folder", ["benchmarks", "tools"])
def test_what_scripts_import_exists(folder):
    """Nobody runs them every day: a name that has moved would be noticed late."""
    gone = []
    for path in sorted((ROOT / folder).glob("*.py")):
        for node, name in shape.imported(ast.parse(path.read_text())):
            module, _, attribute = name.rpartition(".")
            if module.partition(".")[0] != "fuzzwise":
                continue
            try:
                found = hasattr(importlib.import_module(module), attribute)
                found = found or importlib.util.find_spec(name) is not None
            except ModuleNotFoundError:
                found = False
            if not found:
                gone.append(f"{path.relative_to(ROOT)}:{node.lineno}: there is no {name} any more.")
    assert not gone, "\n".join(gone)


# ── the check itself ───────────────────────────────────────────────────────────────────────


@pytest.fixture
def project(tmp_path):
    """A small one, with a mistake of each kind."""
    source = tmp_path / "small"
    files = {
        "__init__.py": "",
        "low.py": "def late():\n    from small.high import thing\n",
        "high.py": "from small import low\nfrom small.pair import one\nthing = 1\n",
        "pair/__init__.py": "",
        "pair/one.py": "import small.pair.two\n",
        "pair/two.py": (
            "from typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    from small.high import thing\n"
            "try:\n    from small.pair import one\nexcept ImportError:\n    pass\n"
        ),
        "engines/__init__.py": "",
        "engines/first/__init__.py": "from small import __version__\n",
    }
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    return source


def test_sees_every_import(project):
    found = {
        (each.path.relative_to(project).as_posix(), each.line, each.imported, each.early)
        for each in shape.imports(project)
    }
    assert found == {
        ("low.py", 2, "small.high", False),
        ("high.py", 1, "small.low", True),
        ("high.py", 2, "small.pair.one", True),
        ("pair/one.py", 1, "small.pair.two", True),
        ("pair/two.py", 3, "small.high", False),
        ("pair/two.py", 5, "small.pair.one", True),
    }


def test_finds_circles(project):
    assert shape.circles(shape.packages(project)) == [["high", "low", "pair"]]
    assert shape.circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_an_engine_is_a_package_of_its_own(project):
    assert set(shape.packages(project)) == {
        *("small", "low", "high", "pair", "engines", "engines.first")
    }


def test_reads_the_layers_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A\n\n## Layers\n\n| l | w |\n|---|---|\n| `top` | x |\n| `a`, `b` | y |\n")
    assert layers(page) == {"a": 0, "b": 0, "top": 1}
