"""What a user has of a campaign, folder or file, is enough for every command that shows it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from commands import fuzzwise
from fuzzwise.campaign.lookup import campaign_folder
from fuzzwise.errors import BadInput
from fuzzwise.triage.examine import INPUT, shell_line
from stored import begun, epoch, found, turn


@pytest.fixture
def crasher(tmp_path: Path) -> Path:
    """A program that says what a sanitizer would."""
    path = tmp_path / "crasher"
    path.write_text(
        "#!/bin/sh\n"
        'grep -q crash "$1" || exit 0\n'
        "echo '==9==ERROR: AddressSanitizer: SEGV on unknown address 0x1 (pc 0x2 T0)' >&2\n"
        "echo '    #0 0x2 in parse_box box.c:7:3' >&2\n"
        "exit 1\n"
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def file(tmp_path: Path, crasher: Path) -> Path:
    """A campaign file whose programs are gone, with a campaign of two targets in its folder."""
    path = tmp_path / "two.toml"
    path.write_text('[campaign]\nout = "kept"\n[[target]]\nprogram = "gone"\n')
    words = str(crasher), INPUT
    crashing = tmp_path / "kept" / "targets" / "box" / "crashes" / "x" / "input.rb"
    crashing.parent.mkdir(parents=True)
    crashing.write_bytes(b"crash")
    name = str(crashing.relative_to(tmp_path / "kept"))
    shown = found("x", inputs=(name,), command=shell_line(words, crashing))
    with begun(tmp_path / "kept", "a", "box") as store:
        epoch(store, 2, "a", turn(500))
        epoch(store, 4, "box", turn(300, shown))
    return path


def test_the_folder_of_a_file_is_found_through_it(file: Path) -> None:
    kept = file.with_name("kept")
    assert campaign_folder(file) == kept
    assert campaign_folder(kept) == kept
    assert campaign_folder(kept / "campaign.db") == kept


def test_a_file_without_out_has_its_folder_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text("[campaign]\n")
    with begun(tmp_path / "small-out"):
        pass
    assert campaign_folder(path) == tmp_path / "small-out"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_every_view_takes_both(file: Path, kind: str) -> None:
    given = file if kind == "file" else file.with_name("kept")
    status = json.loads(fuzzwise("status", given, "--json").stdout)
    assert [target["name"] for target in status["targets"]] == ["a", "box"]
    assert fuzzwise("report", given, "--json").stdout == fuzzwise("status", given, "--json").stdout
    watched = json.loads(fuzzwise("watch", given, "--json").stdout)
    assert [campaign["inputs"] for campaign in watched["campaigns"]] == [500, 300]


@pytest.mark.parametrize("kind", ["file", "folder", "moved"])
def test_triage_runs_each_crash_by_its_own_target(file: Path, kind: str) -> None:
    given = {"file": file, "folder": file.with_name("kept"), "moved": file.with_name("elsewhere")}
    if kind == "moved":
        file.with_name("kept").rename(given["moved"])
    result = fuzzwise("triage", given[kind], "--trust-command", "--json", "--checks", 0)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    (bug,) = found["bugs"]
    assert bug["frames"][0] == "parse_box"
    assert bug["reproducer"].endswith("targets/box/crashes/x/input.rb")


def test_the_line_of_a_bug_is_a_command_again(file: Path, crasher: Path) -> None:
    from fuzzwise.campaign.crashes import crashing_inputs

    ((path, command),) = crashing_inputs(file.with_name("kept"))
    assert path.is_file()
    assert command == (str(crasher), INPUT)


def test_an_input_by_standard_input_stays_so(tmp_path: Path) -> None:
    from fuzzwise.campaign.crashes import crashing_inputs

    crashing = tmp_path / "crashes" / "with space"
    crashing.parent.mkdir()
    crashing.write_bytes(b"x")
    line = shell_line(("/bin/cat", "-v"), crashing)
    assert "<" in shlex.split(line)
    with begun(tmp_path, "box") as store:
        epoch(store, 2, "box", turn(300, found("x", inputs=("crashes/with space",), command=line)))
    assert crashing_inputs(tmp_path) == [(crashing, ("/bin/cat", "-v"))]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "there is no such file or folder. Expected: the folder of a `fuzz"),
        (lambda path: path.mkdir(), "holds no campaign. Expected: the folder of a `fuzz"),
        (lambda path: path.write_text(""), "neither [campaign] nor [[target]]. Expected"),
        (lambda path: path.write_bytes(b"\xff\x00"), "is not a text file in UTF-8. Expected"),
        (lambda path: path.write_text("[campaign"), "is not valid TOML"),
        (lambda path: path.write_text("[campaign]\nout = 3"), "expected the folder to keep"),
        (lambda path: path.write_text("campaign = 3"), "campaign"),
        (lambda path: path.write_text("[campaign]"), "there is no campaign in"),
    ],
)
def test_what_is_no_campaign_is_told_with_what_was_expected(make, said, tmp_path: Path) -> None:
    path = tmp_path / "thing"
    make(path)
    with pytest.raises(BadInput) as told:
        campaign_folder(path)
    assert said in str(told.value)


def test_a_budget_that_is_used_says_how_to_go_on(tmp_path: Path) -> None:
    """The program need not run: the time of the campaign is over before its first epoch."""
    (tmp_path / "program").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "seed").write_text("x")
    file = tmp_path / "small.toml"
    file.write_text(
        '[campaign]\nbudget = "1s"\n[[target]]\nname = "box"\n'
        'engine = "black-box"\ncommand = ["./program", "@@"]\ncorpus = "seed"\n'
    )
    with begun(tmp_path / "small-out", "box") as store:
        epoch(store, 2, "box", turn(300))
        store.tick(5.0)
    said = fuzzwise("run", file, "--quiet").stderr
    assert "Raise the budget, or go on for a while with --time" in said
    assert "--time" in fuzzwise("status", file).stdout
