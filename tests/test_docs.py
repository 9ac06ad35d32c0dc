"""What the documentation shows works: commands run, examples parse, links and tables hold."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzwise.estimators.registry import registered
from fuzzwise.schedulers.registry import policies
from fuzzwise.snapshot import read

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_command_shown_runs(page, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    for line in lines:
        program, *words = shlex.split(line.removeprefix("$ "))
        assert program in ("fuzzwise", "cc")
        start = [program] if program == "cc" else [sys.executable, "-m", "fuzzwise"]
        result = subprocess.run(
            [*start, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ},
            check=False,
        )
        assert result.returncode == 0, (line, result.stderr)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_to_files(page):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    for target in targets:
        assert (page.parent / target).exists(), target


def test_library_example_of_the_readme_runs(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "fuzzwise", "simulate", "--campaigns", "1", "--inputs", "4000",
         "--snapshots", "urn.jsonl"],
        cwd=tmp_path, capture_output=True, check=True,
    )  # fmt: skip
    (example,) = blocks(ROOT / "README.md", "python")
    result = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "the discovery probability could still be" in result.stdout


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


def test_example_of_the_scheduler_page_runs():
    (example,) = blocks(ROOT / "docs" / "schedulers.md", "python")
    result = subprocess.run(
        [sys.executable, "-c", f"{example}\nprint('chosen', configuration)"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("chosen ")
