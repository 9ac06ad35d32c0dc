"""Packages that add something to fuzzwise and are broken: named, left out, and nobody's problem."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BROKEN = {
    "raises": "raise RuntimeError('on\\nimport')",
    "exits": "import sys; sys.exit('no')",
    "lacks": "import no_such_module_of_anybody",
    "wrong": "THING = 3",
    "empty": "",
}
GROUPS = ("fuzzwise.estimators", "fuzzwise.schedulers", "fuzzwise.engines")
SNAPSHOTS = (
    '{"format":"fuzzwise-observations","version":1}\n'
    '{"n":5000,"seconds":9,"species":2,"discoveries":[1,40]}\n'
)


@pytest.fixture(params=BROKEN)
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with a broken package that adds one thing of every kind."""
    folder = tmp_path / "site"
    about = folder / "broken-1.dist-info"
    about.mkdir(parents=True)
    (folder / "broken.py").write_text(BROKEN[request.param])
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (about / "entry_points.txt").write_text(
        "".join(f"[{group}]\nbad = broken:THING\n" for group in GROUPS)
    )
    return folder


def fuzzwise(site: Path, *words: object) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [sys.executable, "-m", "fuzzwise", *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=site,
        timeout=600,
        check=False,
    )
    assert "Traceback" not in result.stderr
    return result


def test_commands_go_on_without_it_and_say_so_once(site: Path) -> None:
    (site / "log.jsonl").write_text(SNAPSHOTS)
    estimated = fuzzwise(site, "estimate", "log.jsonl")
    assert estimated.returncode == 0
    assert "recent-rate" in estimated.stdout
    (told,) = estimated.stderr.splitlines()
    assert told.startswith("fuzzwise: The plug-in 'bad' (broken:THING), for an estimator, ")
    assert told.endswith("uninstall its package. It is left out.")


@pytest.mark.parametrize("site", ["exits", "wrong"], indirect=True)
def test_a_campaign_file_is_read_without_it(site: Path) -> None:
    (site / "campaign.toml").write_text('[[target]]\nname = "x"\nprogram = "absent"\n')
    for words in (("run", "campaign.toml"), ("fuzz", "absent")):
        result = fuzzwise(site, *words)
        assert result.returncode == 2
        assert "no such file" in result.stderr
        assert result.stderr.count("for an engine, ") == 1
    asked = fuzzwise(site, "fuzz", "absent", "--engine", "bad")
    assert asked.returncode == 2
    assert "The plug-in 'bad' (broken:THING), for an engine, " in asked.stderr


@pytest.mark.parametrize("site", ["raises"], indirect=True)
def test_the_doctor_names_it(site: Path) -> None:
    result = fuzzwise(site, "doctor", "--json")
    assert result.returncode == 2
    parts = {part["name"]: part for part in json.loads(result.stdout)["parts"]}
    for kind in ("an estimator", "a scheduler", "an engine"):
        assert f"'bad' (broken:THING), for {kind}, " in parts["plug-ins"]["missing"]
    assert result.stderr == ""
