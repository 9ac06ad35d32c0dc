"""``fuzzwise run DIR``: every target of a folder is fuzzed, and every option honoured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzwise.campaign.file import plan_of
from fuzzwise.cli import main
from fuzzwise.store.places import open_reader
from out_folder import make_out
from waiting import PATIENCE

TARGETS = {"parse_fuzzer", "with_space", "gro_e", "at_1.2", "runs_5", "wrapped_fuzzer"}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, subprocess.CompletedProcess]:
    """An out/ folder, the empty folder in which a campaign of it was run, and how that ended.

    It goes on until all targets have been fuzzed.
    """
    home = tmp_path_factory.mktemp("run-folder")
    out = make_out(home / "out")
    empty = home / "empty"
    empty.mkdir()
    seconds = 8
    while not all_fuzzed(end := run(out, empty, seconds)):
        seconds *= 2
        assert seconds < PATIENCE, end.stderr
    return out, empty, end


def run(out: Path, folder: Path, seconds: int) -> subprocess.CompletedProcess[str]:
    """The command that begins the campaign, or goes on with it."""
    words = [sys.executable, "-P", "-m", "fuzzwise", "run", str(out), "--time", f"{seconds}s"]
    return subprocess.run(
        [*words, "--json"],
        cwd=folder,
        env={**os.environ, "TOLD": str(out.parent / "told")},
        capture_output=True,
        text=True,
        check=False,
    )


def all_fuzzed(end: subprocess.CompletedProcess[str]) -> bool:
    return all(target["inputs"] for target in json.loads(end.stdout)["targets"])


def test_every_target_runs_and_nothing_else_is_written(ran) -> None:
    out, empty, end = ran
    assert end.returncode == 0, end.stderr
    document = json.loads(end.stdout)
    assert {target["name"] for target in document["targets"]} == TARGETS
    assert all(target["inputs"] > 0 for target in document["targets"])
    assert [path.name for path in empty.iterdir()] == ["out-campaign"]
    assert (out / "größe_corpus" / "ä").read_bytes() == b"seed"
    assert {path.name for path in (out / "größe_corpus").iterdir()} == {"ä"}


def test_the_list_says_what_every_file_was_taken_for(ran) -> None:
    out, _, end = ran
    assert [path.name for path in out.iterdir() if path.name not in end.stderr] == []
    assert "lost_bit_fuzzer: a fuzz target that may not be executed" in end.stderr


def test_the_target_is_started_as_its_options_ask(ran) -> None:
    out, _, _ = ran
    told = (out.parent / "told").read_text()
    with_options = [line for line in told.split("cwd ") if "-max_len=77" in line]
    assert with_options
    for part in with_options:
        words = part.splitlines()
        for word in ("-timeout=12", "-rss_limit_mb=1234", "-use_value_profile=1"):
            assert word in words
        assert f"-dict={out / 'words.dictionary'}" in words
        assert any(word in words for word in (f"-len_control={n}" for n in range(3, 10)))
        assert not any(word.startswith("-fork") for word in words)
    assert f"cwd {out}\n" in told
    assert "mode strict" in told
    asan = next(line for line in told.splitlines() if "strict_string_checks" in line)
    options = dict(item.split("=", 1) for item in asan.removeprefix("asan ").split(":"))
    assert options["detect_leaks"] == "0"
    assert options["symbolize"] == "1"


def test_seeds_of_an_archive_are_in_the_corpus(ran) -> None:
    _, empty, _ = ran
    unpacked = [path for path in (empty / "out-campaign" / "seeds").rglob("*") if path.is_file()]
    contents = {path.read_bytes() for path in unpacked if path.suffix != ".json"}
    assert contents == {b"abc", b"xyz"}


def test_the_same_command_goes_on_and_the_report_lists_them_all(ran) -> None:
    out, empty, _ = ran
    campaign = empty / "out-campaign"
    before = open_reader(campaign).state().epochs
    for seconds in (1, 10, 100):
        words = ["run", str(out), "--time", f"{seconds}s", "--quiet", "--out", str(campaign)]
        if (end := main(words)) == 0:  # else nothing ran in so short a time
            break
    assert end == 0
    assert open_reader(campaign).state().epochs > before
    assert main(["report", str(campaign), "-o", str(empty / "report.html")]) == 0
    page = (empty / "report.html").read_text()
    assert all(name in page for name in TARGETS)
    (empty / "report.html").unlink()


@pytest.mark.parametrize(("targets", "epoch"), [(1, 10.0), (12, 5.0), (1000, 1.0)])
def test_every_target_has_a_turn_in_the_time_there_is(
    tmp_path: Path, targets: int, epoch: float
) -> None:
    """A campaign without a budget has epochs of ten seconds, unless that is too long for all."""
    (tmp_path / "t").write_text("#!/bin/sh\n# LLVMFuzzerTestOneInput\n")
    (tmp_path / "t").chmod(0o755)
    tables = [{"name": f"t{number}", "program": "t"} for number in range(targets)]
    content = {"campaign": {"cores": 1}, "target": tables}
    assert plan_of(content, tmp_path / "c.toml", seconds=60.0).epoch == epoch


def test_a_risk_that_is_accepted_retires_targets_of_a_folder(ran, tmp_path: Path) -> None:
    out, _, _ = ran
    (tmp_path / "two").mkdir()
    for name in ("parse_fuzzer", "with space"):
        (tmp_path / "two" / name).write_bytes((out / name).read_bytes())
        (tmp_path / "two" / name).chmod(0o755)
    words = ["--time", "600s", "--accept-risk", "0.01", "--quiet", "--out", str(tmp_path / "made")]
    assert main(["run", str(tmp_path / "two"), *words]) == 0
    state = open_reader(tmp_path / "made").state()
    assert state.stopped
    assert state.stopped.reason == "all-retired"


def test_the_folder_of_a_campaign_is_none_of_targets(ran, capfd: pytest.CaptureFixture) -> None:
    _, empty, _ = ran
    assert main(["run", str(empty / "out-campaign")]) == 2
    assert "is the folder of a campaign" in capfd.readouterr().err
