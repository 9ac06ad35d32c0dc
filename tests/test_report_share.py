"""``report --share``: nothing in page, Markdown, SARIF and JSON tells of the machine."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from campaign_states import example_state
from fuzzwise.report.campaign.elsewhere import Elsewhere, command_from
from fuzzwise.report.machine import Machine
from fuzzwise.report.source_paths import SourcePaths
from fuzzwise.store.states import EventState

FUZZWISE = (sys.executable, "-P", "-m", "fuzzwise")
USER, HOST, TOKEN = "alicetelltale", "boxtelltale", "tokentelltale"

CRASHES = """#!/bin/sh
# Tells all it knows of its machine, as a sanitizer that found a bug tells of the program.
[ "$(cat "$1")" = seed ] && exit 0
here=$(cd "$(dirname "$0")" && pwd)
{
  echo "==$$==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1 at pc 0x2 (pid=$$)"
  echo "    #0 0x1 in read_chunk $here/src of it/chunk.c:7:3"
  echo "    #1 0x2 in main $here/src of it/main.c:9 ($here/crashes+0x2)"
  echo "LOGNAME=$LOGNAME SECRET_TOKEN='$SECRET_TOKEN' HOME=$HOME"
  echo "run by $LOGNAME on $HOSTNAME in $PWD, process $$, see file://$HOME/log and -I$here/include"
  echo "SUMMARY: AddressSanitizer: heap-buffer-overflow $here/src of it/chunk.c:7:3 in read_chunk"
} >&2
kill -ABRT $$
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with telling names, in which a campaign has found a bug."""
    home = tmp_path_factory.mktemp("telltale-disk") / "telltale folder" / "telltale-project"
    home.mkdir(parents=True)
    (home / "crashes").write_text(CRASHES)
    (home / "crashes").chmod(0o755)
    (home / "seed").write_bytes(b"seed")
    (home / "few.toml").write_text(
        '[campaign]\nbudget = "1s"\nepoch = "1s"\ncores = 1\n'
        '[[target]]\nname = "chunks"\nengine = "black-box"\ncommand = "./crashes @@"\n'
        'corpus = "seed"\n'
    )
    out = str(home / "telltale out")
    call(home, "run", "few.toml", "--out", out)
    while not json.loads(call(home, "status", out, "--json"))["bugs"]:
        call(home, "run", "few.toml", "--out", out, "--time", "2s")
    return home


def call(home: Path, *words: str) -> str:
    """A command of somebody whose machine is full of telling names; what it prints."""
    said = {"HOME": str(home), "USER": USER, "LOGNAME": USER, "HOSTNAME": HOST}
    said["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    done = subprocess.run(
        [*FUZZWISE, *words],
        cwd=home,
        env=os.environ | said | {"SECRET_TOKEN": TOKEN, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def reports(home: Path, place: Path, *words: str) -> dict[str, str]:
    names = ("page.html", "summary.md", "bugs.sarif")
    page, markdown, sarif = (str(place / name) for name in names)
    out = str(home / "telltale out")
    printed = call(
        home, "report", out, *words, "-o", page, "--markdown", markdown, "--sarif", sarif, "--json"
    )
    return {name: (place / name).read_text() for name in names} | {"json": printed}


def test_nothing_that_is_shared_tells_of_the_machine(home: Path, tmp_path: Path) -> None:
    shared = reports(home, tmp_path, "--share")
    for name, text in shared.items():
        assert "read_chunk" in text.replace("\\", ""), name
        assert "telltale" not in text.lower(), (name, re.findall(".{50}telltale.{30}", text, re.I))
        assert str(Path.home()) not in text, name
        assert platform.node() not in text, name
    page = shared["page.html"]
    assert "==…==ERROR: AddressSanitizer" in page
    assert "pid=…" in page
    assert "process …," in page
    assert "SECRET_TOKEN=…" in page
    assert "chunk.c:7" in page
    document = json.loads(shared["json"])
    assert document["folder"] == "."
    (bug,) = document["bugs"]
    assert bug["command"] == f"./crashes {Path(bug['reproducer']).name}"


def test_without_sharing_paths_are_from_the_campaign_and_the_present_folder(
    home: Path, tmp_path: Path
) -> None:
    told = reports(home, tmp_path)
    for name, text in told.items():
        assert str(home) not in re.sub("(?s)<details>.*?</details>", "", text), name
    document = json.loads(told["json"])
    assert document["folder"] == "telltale out"
    (bug,) = document["bugs"]
    done = subprocess.run(
        ["/bin/sh", "-c", bug["command"]], cwd=home / "telltale out", capture_output=True
    )
    assert b"heap-buffer-overflow" in done.stderr


def test_the_keys_of_the_document_stay(home: Path, tmp_path: Path) -> None:
    shared = json.loads(reports(home, tmp_path, "--share")["json"])
    told = json.loads(reports(home, tmp_path)["json"])
    assert shared.keys() == told.keys()
    for key in ("targets", "bugs", "events"):
        assert [row.keys() for row in shared[key]] == [row.keys() for row in told[key]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("==123==ERROR: x", "==…==ERROR: x"),
        ("data race (pid=77)", "data race (pid=…)"),
        ("[New LWP 4711]", "[New LWP …]"),
        ("process 12 is gone", "process … is gone"),
        ("PATH=/a:/b x", "PATH=… x"),
        ("KEY='a b' x", "KEY=… x"),
        ("a == b, SIZE==3, n=3", "a == b, SIZE==3, n=3"),
        ("Bob@Box-7 and bob_x, bobby", "user@host and user_x, bobby"),
        ("chunks of bob", "chunks of user"),
    ],
)
def test_what_tells_of_a_machine_is_left_out(
    text: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("USER", "bob")
    monkeypatch.setenv("LOGNAME", "chunks")
    monkeypatch.setenv("HOSTNAME", "box-7.example.org")
    assert Machine(tmp_path, kept=("Chunks",))(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/opt/secret/x.c:3:4 (/usr/lib/libc.so.6+0x1)", "x.c:3:4 (libc.so.6+0x1)"),
        ("{0}/targets/t/crash-1", "targets/t/crash-1"),
        ("in f {0}/../a b/src/x.c:3", "in f src/x.c:3"),
        ("~bob/x and ~/y", "x and y"),
        ("'-I/opt/secret/inc' 1/2 a/b //", "'-Iinc' 1/2 a/b //"),
        ("file:///opt/secret/z", "z"),
        ("http://example.org/a", "http://example.org/a"),
    ],
)
def test_no_absolute_path_is_shared(text: str, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "camp"
    files = [f"{tmp_path}/a b/src/x.c", f"{tmp_path}/a b/lib/y.c"]
    paths = SourcePaths(folder, files, share=True)
    given = text.format(folder).replace(f"{folder}/..", str(tmp_path))
    assert paths.in_text(given) == said
    assert paths("/opt/secret/x.c") == "x.c"
    assert paths("/" + "x/" * 4000 + "y") == "y"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("{0}/programs/x {0}/in/1", "programs/x in/1"),
        ("{0}/x --in={0}/in/1 < '{0}/an in'", "./x --in=in/1 < 'an in'"),
        ("{1}/bin/x -q", "../bin/x -q"),
        ("/usr/bin/python3 x", "/usr/bin/python3 x"),
        ("an 'open quote", "an 'open quote"),
        ("", ""),
    ],
)
def test_a_command_is_one_for_the_campaigns_folder(command: str, said: str, tmp_path: Path) -> None:
    bug = example_state(1, hostile=False).bugs[0]
    line = command.format(tmp_path / "camp", tmp_path)
    assert command_from(tmp_path / "camp", replace(bug, command=line)) == said


def test_events_and_warnings_name_files_from_the_campaign(tmp_path: Path) -> None:
    state = example_state(1, folder=tmp_path, hostile=False)
    event = EventState(1.0, "warning", "png", f"{tmp_path}/targets/a b: is empty.")
    told = Elsewhere(replace(state, events=(event,))).state()
    assert told.events[0].detail == "targets/a b: is empty."
    assert told.folder == tmp_path, "its files are still read"
