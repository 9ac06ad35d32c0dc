"""``fuzzwise triage`` as people and programs call it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import planted
from fuzzwise.cli import main

SEVERITIES = {"check_format": "abort", "add_note": "null dereference", "average": "divide"}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted.build("records", "address", tmp_path_factory.mktemp("cli"))


@pytest.fixture
def crashes(tmp_path: Path) -> Path:
    """A folder with some inputs a bug, and one that does not crash."""
    folder = tmp_path / "some crashes"
    folder.mkdir()
    for bug, contents in planted.inputs("records", 33).items():
        for number, data in enumerate(contents if bug in SEVERITIES else ()):
            (folder / f"{bug}{number}").write_bytes(data)
    (folder / "fine\x1b[31m").write_bytes(b"RB01")
    return folder


def test_json_has_the_documented_keys(
    target: Path, crashes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in crashes.iterdir()}
    assert main(["triage", str(crashes), "--json", "--checks", "1", "--", str(target), "@@"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert err == ""
    assert {bug["frames"][0]: bug["severity"] for bug in document["bugs"]} == SEVERITIES
    for bug in document["bugs"]:
        paths = [str(crashes / f"{bug['frames'][0]}{number}") for number in range(3)]
        assert bug["inputs"] == paths
        assert bug["count"] == 3
        assert bug["reproducer"] == min(paths, key=lambda path: (Path(path).stat().st_size, path))
        assert bug["flaky"] is False
        assert len(bug["id"]) == 16
        assert bug["file"].endswith("records.c")
        assert bug["line"] > 0
        assert bug["kind"]
        assert bug["frames"][0] in bug["summary"]
    assert document["command"] == [str(target), "@@"]
    assert document["not_crashing"] == [str(crashes / "fine\\x1b[31m")]
    assert (document["timeouts"], document["runs"]) == ([], 10)
    assert {path: path.read_bytes() for path in crashes.iterdir()} == before


def test_the_table_names_bugs_and_what_did_not_crash(
    target: Path, crashes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["triage", "--checks=0", str(crashes), "--", str(target), "@@"]) == 0
    out = capsys.readouterr().out
    assert "3 bugs in 9 inputs" in out
    assert "did not crash (1): " in out
    assert "add_note < read_record" in out
    assert all(word in out for word in ("null dereference", "divide-by-zero", "abort"))
    assert "\x1b" not in out


def test_reproducers_and_their_commands_show_the_bug_again(
    target: Path, crashes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "kept here"
    sarif = tmp_path / "bugs.sarif"
    options = ["--json", "--checks=0", "--out", str(out), "--sarif", str(sarif)]
    assert main(["triage", *options, str(crashes), "--", str(target), "@@"]) == 0
    bugs = json.loads(capsys.readouterr().out)["bugs"]
    assert sorted(path.name for path in out.iterdir()) == sorted(bug["id"] for bug in bugs)
    for bug in bugs:
        home = out / bug["id"]
        assert sorted(path.name for path in home.iterdir()) == [
            "command.txt",
            "input",
            "report.txt",
        ]
        assert (home / "input").read_bytes() == Path(bug["reproducer"]).read_bytes()
        assert bug["frames"][0] in (home / "report.txt").read_text()
        line = (home / "command.txt").read_text()
        again = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, cwd="/")
        assert bug["frames"][0] in again.stderr
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert len(results) == len(bugs)
    assert sorted(tmp_path.iterdir()) == sorted([crashes, out, sarif])


def test_the_number_of_frames_tells_bugs_apart(
    target: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = planted.inputs("records", 11)
    for bug in ("read_comment", "read_street"):  # both crash in copy_bytes
        (tmp_path / bug).write_bytes(made[bug][0])
    for frames, count in ((1, 1), (2, 2)):
        words = ["triage", str(tmp_path), "--json", f"--frames={frames}", "--checks=0"]
        assert main([*words, "--", str(target), "@@"]) == 0
        bugs = json.loads(capsys.readouterr().out)["bugs"]
        assert len(bugs) == count
        assert all(len(bug["frames"]) == frames for bug in bugs)


def test_a_campaign_knows_its_target(
    target: Path, crashes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "campaign"
    shutil.copytree(crashes, out / "crashes")
    (out / "campaign.json").write_text(json.dumps({"target": str(target)}))
    assert main(["triage", str(out), "--json", "--checks=0", "--trust-command"]) == 0
    assert len(json.loads(capsys.readouterr().out)["bugs"]) == 3


def test_hangs_alone_are_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "input").write_text("60")
    command = ["--", "sh", "-c", "sleep $(cat $0)", "@@"]
    assert main(["triage", str(tmp_path), "--timeout", "1s", *command]) == 0
    assert "timeout (1): " in capsys.readouterr().out


def test_bad_input_is_a_sentence(
    target: Path, crashes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> str:
        assert main(["triage", *words]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "Traceback" not in err
        return err

    folder, program = str(crashes), str(target)
    assert "-- PROGRAM @@" in said(folder)
    assert "-- PROGRAM @@" in said(folder, "--")
    assert "no such file or folder" in said(str(tmp_path / "missing"), "--", program, "@@")
    assert "no such file" in said(folder, "--", str(tmp_path / "missing"), "@@")
    assert "is not executable" in said(folder, "--", str(planted.EXAMPLES / "bad.c"), "@@")
    assert "The input does not crash" in said(f"{folder}/fine\x1b[31m", "--", program, "@@")
    assert "Missing argument 'PATH…'" in said("--", program, "@@")
    assert "--frames" in said(folder, "--frames=0", "--", program, "@@")
    taken = tmp_path / "taken"
    taken.touch()
    assert "taken: is a file" in said(folder, f"--out={taken}", "--", program, "@@")
    sarif = tmp_path / "nowhere" / "x.sarif"
    one = str(crashes / "average0")
    assert "cannot be written" in said(one, "--checks=0", f"--sarif={sarif}", "--", program, "@@")
