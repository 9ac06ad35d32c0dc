"""The larger data set of black boxes: what is to be recorded, and what of it is kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import dataset
import dataset_page
import kept_blackboxes
from dataset_converted import CONVERTED
from dataset_programs import CONFIGURATIONS
from dataset_seeds import BY_TOOL, FROM_CODE
from fuzzwise.lab.recording.config import read_plan
from fuzzwise.lab.recording.load import read_recording
from fuzzwise.lab.recording.log import SUFFIX, read_log
from fuzzwise.lab.recording.recorder import Recorded, record
from fuzzwise.lab.recording.triaged import triage_recording

ROOT = Path(__file__).parents[1]
RECORDED = ("records-full", "records-links")
"""Configurations of an example that share bugs."""
FLAGS = ("-O1", "-g", "-fstack-protector-strong")


def test_there_are_a_hundred_configurations_each_with_a_seed_that_something_makes():
    rows = dataset.all_rows()
    assert len(rows) >= 105
    assert len({row.name for row in rows}) == len(rows)
    made = {*FROM_CODE, *BY_TOOL, *CONVERTED}
    assert {row.seed for row in CONFIGURATIONS} == made, "a seed is missing, or nobody's"


def test_no_configuration_is_another_one_by_another_name():
    rows = dataset.all_rows()
    assert len({(row.command, row.seed) for row in rows}) == len(rows)


@pytest.mark.parametrize("make", FROM_CODE.values(), ids=FROM_CODE.keys())
def test_a_seed_from_code_is_small_and_the_same_every_time(make):
    assert 0 < len(make()) < 8192
    assert make() == make()


def test_machines_share_the_work_without_gap_or_overlap():
    rows = dataset.all_rows()
    parts = [dataset.part(rows, f"{k}/3") for k in (1, 2, 3)]
    assert sorted(row.name for part in parts for row in part) == sorted(row.name for row in rows)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("which", ["0/2", "3/2", "1", "1/0", "a/b", ""])
def test_a_part_that_cannot_be_is_refused(which):
    with pytest.raises(SystemExit, match="expected K/N"):
        dataset.part(dataset.all_rows(), which)


def test_what_is_kept_is_not_recorded_again():
    rows = dataset.all_rows()
    left = dataset.missing(rows, {"tnef", "yaps"})
    assert {row.name for row in rows} - {row.name for row in left} == {"tnef", "yaps"}


def test_what_is_kept_was_recorded_whole_as_it_is_ordered_now_and_names_no_machine():
    rows = {row.name: row for row in dataset.all_rows()}
    for path in kept_blackboxes.kept_logs():
        log = read_log(path)
        [kept] = log.header.configurations
        assert path.name == f"{kept.name}{SUFFIX}"
        assert kept.command[1:] == tuple(rows[kept.name].command.split()[1:])
        assert kept.folder == ""
        assert kept.command[0].startswith(("/usr/", "./"))
        assert log.header.triaged
        assert kept_blackboxes.is_whole(path, kept_blackboxes.SECONDS)
        seed = Path(rows[kept.name].seed).name
        assert seed not in FROM_CODE or FROM_CODE[seed]() == kept.seed


def test_the_page_says_how_many_are_kept():
    page = (ROOT / "docs" / "dataset.md").read_text()
    kept, wanted = len(kept_blackboxes.kept_logs()), len(dataset.all_rows())
    assert f"\n{kept} of {wanted} configurations are recorded so far" in page


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """The logs of two configurations of one program, recorded for a second by the plan of all."""
    work = tmp_path_factory.mktemp("work")
    (work / "seeds").mkdir()
    for seed in (ROOT / "examples" / "seeds").iterdir():
        shutil.copy(seed, work / "seeds")
    source = ROOT / "examples" / "records.c"
    subprocess.run(["cc", *FLAGS, "-o", work / "records", source], check=True)
    rows = [dataset.Row(name, "./records @@", f"seeds/{name}.rb") for name in RECORDED]
    (work / "plan.toml").write_text(dataset.plan_text(rows, "1s", 1))
    done = record(read_plan(work / "plan.toml"), work / "recorded", _ignore, threading.Event())
    assert [one.finished for one in done] == [True, True]
    return work / "recorded"


def _ignore(_: Recorded) -> None:
    pass


def test_a_recording_goes_on_behind_what_there_is_of_its_program(recorded, tmp_path, monkeypatch):
    """What was kept of a second, and another one behind it, is what two seconds would be."""
    triaged = triage_recording(recorded).path
    monkeypatch.setattr(kept_blackboxes, "BEGUN", triaged)
    laid = tmp_path / "recorded"
    assert kept_blackboxes.lay_out(laid, {RECORDED[0]}) == set(RECORDED)
    assert [path.name for path in laid.iterdir()] == [f"{RECORDED[0]}{SUFFIX}"]
    before, begun = (read_log(folder / f"{RECORDED[0]}{SUFFIX}") for folder in (recorded, laid))
    work = recorded.parent
    rows = [dataset.Row(RECORDED[0], "./records @@", f"seeds/{RECORDED[0]}.rb")]
    (work / "longer.toml").write_text(dataset.plan_text(rows, "2s", 1))
    [done] = record(read_plan(work / "longer.toml"), laid, _ignore, threading.Event())
    assert done.finished
    longer = read_log(laid / f"{RECORDED[0]}{SUFFIX}")
    assert longer.events.run[-1] > before.events.run[-1] == begun.events.run[-1]
    bugs = {bug.id for bug in read_log(triage_recording(laid).path).header.bugs}
    first = read_recording([triaged]).configurations[0].first_shown[0]
    assert {read_log(triaged).header.bugs[bug].id for bug in first} <= bugs


def test_bugs_of_logs_that_were_triaged_alone_are_those_of_both_together(
    recorded, tmp_path, monkeypatch
):
    monkeypatch.setattr(kept_blackboxes, "KEPT", tmp_path / "kept")
    assert kept_blackboxes.keep(recorded, seconds=1) == 2
    assert kept_blackboxes.kept_names() == set(RECORDED)
    assert kept_blackboxes.keep(recorded, seconds=1) == 0, "they are kept already"
    together = triage_recording(recorded)
    one_by_one = read_recording([tmp_path / "kept"])
    at_once = read_recording([together.path])
    assert set(one_by_one.bugs) == set(at_once.bugs)
    assert one_by_one.shares_bugs
    logs = [read_log(path) for path in kept_blackboxes.kept_logs()]
    crashes = {bug.id: bug.crashes for bug in dataset_page.joined(logs)}
    assert crashes == {bug.id: len(bug.inputs) for bug in together.triage.bugs}
    page = "\n".join(dataset_page.large_part(kept_blackboxes.kept_logs(), 7))
    assert page.startswith("## The larger data set\n\n2 of 7 configurations are recorded")
    assert f"{len(crashes)} different ones" in page
    assert "several versions" not in page


def test_what_is_cut_off_or_too_short_is_not_kept(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_blackboxes, "KEPT", tmp_path / "kept")
    cut = tmp_path / "cut"
    cut.mkdir()
    for name, left in zip(RECORDED, (-8, 3), strict=True):
        data = (recorded / f"{name}{SUFFIX}").read_bytes()
        (cut / f"{name}{SUFFIX}").write_bytes(data[:left])
    assert kept_blackboxes.keep(cut, seconds=1) == 0
    assert kept_blackboxes.keep(recorded, seconds=2) == 0


def test_versions_that_differ_are_told(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_blackboxes, "KEPT", tmp_path / "kept")
    notes = iter(("Debian 12.1, gcc 1", "Debian 12.2, gcc 2"))
    monkeypatch.setattr(kept_blackboxes, "versions", lambda _: next(notes))
    kept_blackboxes.keep(recorded, seconds=1)
    [said] = dataset_page.versions_said([read_log(path) for path in kept_blackboxes.kept_logs()])
    assert "Debian 12.1, Debian 12.2." in said
    assert said.endswith("more than once: gcc.")
