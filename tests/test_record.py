"""Recording: real programs fuzzed for seconds, interrupted, killed, resumed, and triaged."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import fuzzwise
from fuzzwise.engines.blackbox import input_hash
from fuzzwise.errors import BadInput
from fuzzwise.lab.recording import log as logs
from fuzzwise.lab.recording.config import read_plan
from fuzzwise.lab.recording.load import TRIAGED, read_recording
from fuzzwise.lab.recording.log import Log, read_log
from fuzzwise.lab.recording.triaged import input_of
from waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[1]
SEEDS = ROOT / "examples" / "seeds"
ENOUGH = 500
"""Runs of each configuration in which, with this random seed, all of them crash, and four bugs
show."""


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for name in ("records", "sums"):
        flags = ["-O1", "-g", "-fstack-protector-strong"]
        source = ROOT / "examples" / f"{name}.c"
        subprocess.run(["cc", *flags, "-o", folder / name, source, "-lm"], check=True)
    return folder


def plan_file(folder: Path, programs: Path, *, seconds: str = "2s", more: str = "") -> Path:
    path = folder / "plan.toml"
    path.write_text(
        f"""
        [recording]
        time = "{seconds}"
        cores = 2
        seed = 5
        [[configuration]]
        command = "{programs}/records @@"
        seed = "{SEEDS}/records-*.rb"
        {more}
        """
    )
    return path


def events_of(path: Path, runs: int) -> list[tuple[int, ...]]:
    """What happened in the first runs, apart from when."""
    e = read_log(path).events
    rows = np.flatnonzero((e.kind != logs.MARK) & (e.run <= runs))
    return [(int(e.run[r]), int(e.kind[r]), int(e.signal[r]), int(e.input[r])) for r in rows]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, programs) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    found = record_enough(plan_file(folder, programs), folder / "out")
    assert [c["name"] for c in found] == [
        "records-full", "records-links", "records-picture", "records-short",
    ]  # fmt: skip
    assert all(c["finished"] for c in found)
    return folder / "out"


def record_enough(plan: Path, out: Path, *words: object) -> list[dict[str, Any]]:
    """Record for two seconds, and go on for longer where these were few runs."""
    found: list[dict[str, Any]] = []
    seconds = 2
    while not found or min(c["runs"] for c in found) < ENOUGH:
        assert seconds < PATIENCE, found
        said = fuzzwise("record", plan, "--out", out, "--time", f"{seconds}s", "--json", *words)
        assert said.returncode == 0, said.stderr
        found = json.loads(said.stdout)["configurations"]
        seconds *= 2
    return found


def test_a_log_has_every_crash_with_its_input_and_marks_in_between(recorded):
    log = read_log(recorded / "records-full.fuzzlog")
    e = log.events
    assert log.warnings == ()
    crashes = np.flatnonzero(e.kind == logs.CRASH)
    assert len(crashes) > 10
    assert set(e.signal[crashes].tolist()) <= {signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE}
    for row in crashes[:20]:
        data = input_of(log.header.configurations[0], int(e.run[row]))
        assert input_hash(data) == int(e.input[row])
    assert (e.trace[crashes] != 0).all()
    assert (np.diff(e.run) >= 0).all()
    assert (np.diff(e.microseconds) >= 0).all()
    check_marks(log)


def check_marks(log: Log) -> None:
    """One ends each second with the run that is then under way, and the last one the recording."""
    e = log.events
    marks = np.flatnonzero(e.kind == logs.MARK)
    whole = log.header.seconds * 1e6
    before_the_last_run = marks[e.run[marks] < e.run[-1]]  # which may end a second, too
    assert (e.microseconds[before_the_last_run] < whole).all()
    assert e.microseconds[marks[-1]] >= whole
    assert marks[-1] == len(e) - 1
    began = 0
    for first, mark in zip([0, *(marks[:-1] + 1)], marks, strict=True):
        before = e.run[first:mark] < e.run[mark]
        assert (e.microseconds[first:mark][before] < began + 1e6).all()
        began = e.microseconds[mark]


def test_the_same_seed_gives_the_same_crashes(recorded, programs, tmp_path):
    again = tmp_path / "again"
    plan = plan_file(tmp_path, programs)
    record_enough(plan, again, "--cores", 1)
    for path in recorded.glob("records-*.fuzzlog"):
        both = [read_log(folder / path.name).events.run[-1] for folder in (recorded, again)]
        runs = int(min(both))
        assert events_of(path, runs) == events_of(again / path.name, runs)
        assert len(events_of(path, runs)) > 0


def test_interrupted_and_killed_recordings_go_on_where_they_ended(recorded, programs, tmp_path):
    out = tmp_path / "out"
    plan = plan_file(tmp_path, programs, seconds="20m")
    words = [sys.executable, "-m", "fuzzwise", "record", str(plan), "--out", str(out)]
    for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9), (signal.SIGTERM, 130)):
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_until(partial(saves_at_its_end, process), "it to record")
        wait_until(lambda: still_running(programs / "records"), "the program")
        time.sleep(1.5)  # of recording
        process.send_signal(number)
        assert process.wait(PATIENCE) == code
        assert nothing_runs(programs / "records")
    result = fuzzwise("record", plan, "--out", out, "--time", "4s", "--json")
    assert result.returncode == 0, result.stderr
    for path in recorded.glob("records-*.fuzzlog"):
        log = read_log(out / path.name)
        assert log.warnings == ()
        seconds = log.events.microseconds[-1] / 1e6
        assert seconds >= 4
        runs = int(min(log.events.run[-1], read_log(path).events.run[-1]))
        assert events_of(out / path.name, runs) == events_of(path, runs)


def test_asking_for_less_time_than_was_recorded_ends_the_log(programs, tmp_path):
    out = tmp_path / "out"
    plan = plan_file(tmp_path, programs, seconds="20m")
    begun: list[Path] = []
    while len(begun) < 2 or not all(len(read_log(path).events) for path in begun):
        record_a_while(plan, out)
        begun = sorted(out.glob("*.fuzzlog"))
    assert all("was not finished" in read_log(path).warnings[0] for path in begun)
    before = [len(read_log(path).events) for path in begun]
    assert fuzzwise("record", plan, "--out", out, "--time", "100ms").returncode == 0
    assert [read_log(path).warnings for path in begun] == [()] * len(begun)
    assert [len(read_log(path).events) for path in begun] == before


def record_a_while(plan: Path, out: Path) -> None:
    """Interrupt a recording soon after two configurations have begun: their present second ends."""
    words = [sys.executable, "-m", "fuzzwise", "record", str(plan), "--out", str(out)]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_until(lambda: len(list(out.glob("*.fuzzlog"))) >= 2, "two logs")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130


def saves_at_its_end(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has got so far that it records, and takes SIGTERM for a request to save."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)  # type: ignore[index]
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def nothing_runs(program: Path) -> bool:
    """Whether, after a moment that whoever cleans up may take, no process of it is left."""
    wait_until(lambda: not still_running(program), "its end")
    return True


def still_running(program: Path) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "exe").readlink() == program:
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_a_second_recorder_on_the_same_folder_is_refused(programs, tmp_path):
    out = tmp_path / "out"
    plan = plan_file(tmp_path, programs, seconds="20m")
    words = [sys.executable, "-m", "fuzzwise", "record", str(plan), "--out", str(out)]
    first = subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: list(out.glob("*.fuzzlog")), "a log")
        second = fuzzwise("record", plan, "--out", out)
        assert second.returncode == 2
        assert "Another fuzzwise records into" in second.stderr
    finally:
        first.send_signal(signal.SIGINT)
        assert first.wait(PATIENCE) == 130


def test_other_settings_do_not_mix_with_an_old_recording(recorded, programs, tmp_path):
    plan = plan_file(tmp_path, programs, more='[mutation]\nkinds = ["bits"]')
    result = fuzzwise("record", plan, "--out", recorded)
    assert result.returncode == 2
    assert "was recorded with other settings" in result.stderr


def test_triage_turns_the_recording_into_bugs_and_replay_reads_them(recorded):
    result = fuzzwise("triage", recorded, "--json", "--trust-command")
    assert result.returncode == 0, result.stderr
    bugs = json.loads(result.stdout)["bugs"]
    places = {bug["frames"][0] for bug in bugs}
    assert {"tidy_name", "set_pixel", "add_note", "check_format"} <= places
    log = read_log(recorded / TRIAGED)
    assert log.header.triaged
    assert {bug.id for bug in log.header.bugs} == {bug["id"] for bug in bugs}
    assert all(c.folder == "" for c in log.header.configurations)
    recording = read_recording([recorded])
    assert len(recording.configurations) == 4
    assert len(recording.bugs) == len(bugs)
    counts = np.concatenate([np.bincount(c.bugs[c.bugs >= 0]) for c in recording.configurations])
    assert counts.max() == 10  # the first crashes of a bug are kept, the others counted
    crashed = sum(
        int((read_log(p).events.kind == logs.CRASH).sum()) for p in recorded.glob("records-*")
    )
    assert sum(bug.crashes for bug in log.header.bugs) == crashed
    replayed = fuzzwise("replay", recorded, "--epoch-time", "0.1s", "--repeats", 3, "--json")
    assert json.loads(replayed.stdout)["optimum"] == len(bugs)


WRONG = {
    "time": ('[recording]\ntime = "soon"', "recording.time is 'soon'"),
    "no time": ("[recording]", "recording.time is missing"),
    "zero cores": ('[recording]\ntime = 5\ncores = 0', "recording.cores is 0; expected a whole"),
    "no configuration": ("[recording]\ntime = 5", "configuration is missing"),
    "unknown table": ("[recordings]\ntime = 5", "recordings is not a known key; did you mean"),
    "unknown key": ("[recording]\ntime = 5\ncoers = 2", "did you mean 'cores'?"),
    "ratio": ("[mutation]\nratio = 2", "mutation.ratio is 2"),
    "ratio range": ("[mutation]\nratio = [0.1, 0.01]", "mutation.ratio is [0.1, 0.01]"),
    "kinds": ('[mutation]\nkinds = ["bit"]', "expected a list out of bits, bytes"),
    "memory": ("[limits]\nmemory_mib = 0", "limits.memory_mib is 0"),
    "run time": ('[limits]\ntime = "1ms"', "limits.time is '1ms'"),
    "table": ("limits = 3", "limits is 3; expected a table [limits]"),
    "tables": ("configuration = 3", "expected tables [[configuration]]"),
    "no command": ('[[configuration]]\nseed = "x"', "configuration[1].command is missing"),
    "no program": ('[[configuration]]\ncommand = "nonesuch @@"\nseed = "x"', "not in the PATH"),
    "no file": ('[[configuration]]\ncommand = "./none @@"\nseed = "x"', "there is no such file"),
    "not executable": (
        '[[configuration]]\ncommand = "./plan.toml @@"\nseed = "plan.toml"',
        "which is not executable",
    ),
    "quotes": ("[[configuration]]\ncommand = \"cat '\"\nseed = \"x\"", "command is \"cat '\""),
    "no seed": ('[[configuration]]\ncommand = "cat @@"\nseed = "none-*"', "there is no such file"),
    "name": (
        '[[configuration]]\nname = "a/b"\ncommand = "cat @@"\nseed = "plan.toml"',
        "is 'a/b'; expected letters",
    ),
    "same name": (
        '[[configuration]]\nname = "a"\ncommand = "cat @@"\nseed = "plan.toml"\n'
        '[[configuration]]\nname = "a"\ncommand = "cat @@"\nseed = "plan.toml"',
        "'a' is used 2 times",
    ),
    "not TOML": ("[recording", "is not valid TOML"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_in_the_file_are_found_before_anything_starts(tmp_path, case):
    content, said = WRONG[case]
    path = tmp_path / "plan.toml"
    path.write_text(content)
    with pytest.raises(BadInput) as error:
        read_plan(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)


def test_all_mistakes_are_told_at_once(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text('[recording]\ncores = 0\n[limits]\nmemory_mib = -1\n[mutation]\nratio = "x"')
    with pytest.raises(BadInput, match="5 mistakes; nothing was started"):
        read_plan(path)


def test_files_that_are_missing_or_no_text_are_reported(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="not a text file"):
        read_plan(tmp_path / "binary.toml")


def test_broken_configurations_are_found_before_time_is_spent(programs, tmp_path):
    bad = tmp_path / "bad.rb"
    bad.write_bytes(b"RB01A\x01\xff")
    more = f"""
        [[configuration]]
        name = "ignores"
        command = "true @@"
        seed = "{SEEDS}/records-full.rb"
        [[configuration]]
        name = "crashes"
        command = "{programs}/records @@"
        seed = "{bad}"
        [[configuration]]
        name = "sleeps"
        command = "sh -c 'cat @@; sleep 60'"
        seed = "{SEEDS}/records-full.rb"
        """
    plan = plan_file(tmp_path, programs, more=more)
    result = fuzzwise("record", plan, "--out", tmp_path / "out")
    assert result.returncode == 2
    assert "3 configurations cannot be fuzzed" in result.stderr
    assert "never reads its input" in result.stderr
    assert "crashes on its unchanged seed (SIGABRT)" in result.stderr
    assert "longer than 1 s on its unchanged seed" in result.stderr
    assert not (tmp_path / "out").exists()
    skipped = fuzzwise("record", plan, "--out", tmp_path / "out", "--skip-broken", "--time", "1s")
    assert skipped.returncode == 0, skipped.stderr
    assert "3 configurations are left out" in skipped.stderr
    assert len(list((tmp_path / "out").glob("*.fuzzlog"))) == 4
