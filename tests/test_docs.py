"""What the documentation shows works: commands run, examples parse, links and tables hold."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from commands import fuzzwise
from documented import run_python, shortened
from fuzzwise.estimators.registry import registered
from fuzzwise.schedulers.registry import policies
from fuzzwise.snapshot import read

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "README.md"])
def test_what_is_shown_runs(name, tmp_path):
    """Every command, then all Python of the page as one program, in the same folder.

    All blocks of the README are run by test_readme.py.
    """
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    run_commands(ROOT / name, tmp_path)
    run_python(ROOT / name, tmp_path)


def run_commands(page, folder):
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    for line in map(shortened, lines):
        program, *words = shlex.split(line.removeprefix("$ "))
        assert program in ("fuzzwise", "cc")
        if program == "cc":
            subprocess.run([program, *words], cwd=folder, check=True)
            continue
        result = fuzzwise(*words, cwd=folder)
        assert result.returncode == 0, (line, result.stderr)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_to_files(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    for target in targets:
        assert (page.parent / target).exists(), target


def test_what_the_docs_name_exists():
    """Modules by their full names, files by their paths from the root or from the package."""
    for page in PAGES:
        text = page.read_text()
        for name in re.findall(r"`(fuzzwise(?:\.\w+){2,})`", text):
            assert is_there(name), f"{page.name}: there is no {name}."
        for path in re.findall(r"`((?:\w+/)+(?:\w+\.(?:py|c))?)`", text):
            if path.endswith(("py", "c")) or page.name in ("CONTRIBUTING.md", "architecture.md"):
                places = (ROOT, ROOT / "src", ROOT / "src" / "fuzzwise")
                found = any((place / path).exists() for place in places)
                assert found, f"{page.name}: there is no {path}."


def is_there(name):
    try:
        return bool(import_module(name))
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return hasattr(import_module(module), attribute)


def test_example_of_the_snapshot_format_is_valid(tmp_path):
    (example,) = blocks(ROOT / "docs" / "snapshot-format.md", "json")
    path = tmp_path / "example.jsonl"
    path.write_text(example)
    log = read(path)
    assert log.warnings == ()
    assert [o.n for o in log.campaigns[0].observations] == [100, 200]
    assert len(log.campaigns[0].observations[-1].discoveries) == 8


def test_every_estimator_is_documented():
    page = (ROOT / "docs" / "estimators.md").read_text()
    families = {re.sub(r"-\d+$", "-A", name) for name in registered()}
    assert {name for name in families if f"`{name}`" not in page} == set()


def test_make_targets_named_in_the_docs_exist():
    makefile = (ROOT / "Makefile").read_text()
    named = re.compile(r"`make ([\w-]+)`|^make ([\w-]+)(?=\s)", flags=re.MULTILINE)
    for page in PAGES:
        for target in named.findall(page.read_text()):
            assert f"\n{target[0] or target[1]}:" in makefile


def test_every_scheduler_is_documented():
    page = (ROOT / "docs" / "schedulers.md").read_text()
    parts = {part for name in policies() for part in name.split("/")}
    assert {part for part in parts if f"`{part}" not in page} == set()
