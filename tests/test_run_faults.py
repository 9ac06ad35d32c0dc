"""What a campaign does when the world around it fails: it goes on, says so once, loses nothing."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign_files import (
    EXAMPLES,
    MARK,
    TARGETS,
    Campaign,
    Process,
    Ran,
    ended,
    events,
    harness,
    interrupt,
    program,
)
from commands import fuzzwise
from fuzzwise.errors import BadInput
from fuzzwise.store.states import BROKEN, WAITING, CampaignState
from reading import read_decisions, read_state
from waiting import PATIENCE, wait_until

QUICK = ("[target.limits]", 'time = "1s"', "memory_mib = 300")
RECORDS = (EXAMPLES / "seeds" / "records-full.rb").read_bytes()
MANY_BITS = ("[target.mutation]", "ratio = [0.001, 0.05]")


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """One harness and one program, both with bugs that show soon."""
    made = Campaign(tmp_path)
    made.libfuzzer("fragile", harness("fragile.c"))
    made.black_box("records", program("records.c"), RECORDS, *MANY_BITS)
    return made


def check_on_time(campaign: Campaign, seconds: float, before: CampaignState) -> None:
    """It has used its time, and has begun nothing after it, by its own clock."""
    state = campaign.state()
    stopped = next(event for event in reversed(state.events) if event.kind == "stopped")
    over = before.seconds + seconds
    assert stopped.at >= over - 0.1
    assert state.stopped is not None
    assert state.stopped.reason in ("time-budget", "nothing-ran")  # as far as a busy machine came
    assert all(choice.at <= over for choice in read_decisions(campaign.folder, last=1000))


def bugs_of(campaign: Campaign) -> set[str]:
    return {bug.id for bug in campaign.state().bugs}


def kill(process: Process) -> Ran:
    process.kill()
    return ended(process)


# ── files that a power loss has cut ───────────────────────────────────────────────────────────

CUT = {
    "campaign.db-wal": ("", 0.6),
    "campaign.db": ("", 0.6),
    "targets/fragile/state/head": ("fragile", 0.0),
    "targets/fragile/state/seeds": ("fragile", 0.0),
    "targets/fragile/state/features": ("fragile", 0.001),
    "targets/fragile/state/data": ("fragile", 0.0),
    "targets/fragile/campaign.json": ("fragile", 0.5),
    "targets/records/progress.json": ("records", 0.9),
}
"""Files, the target whose counts begin again without them, and the part of them that is left."""

HARMLESS = (
    "targets/*/crashes/*/bug.json",
    "targets/*/crashes/*/report.txt",
    "targets/fragile/corpus/*",
    "targets/fragile/state/given",
)
"""Files that are made again, or that nobody misses."""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """A campaign with bugs whose manager was killed, to be copied."""
    made = Campaign(tmp_path_factory.mktemp("killed"))
    made.libfuzzer("fragile", harness("fragile.c"))
    made.black_box("records", program("records.c"), RECORDS, *MANY_BITS)
    manager = made.start(600)
    wait_until(lambda: _has_bugs_of_both(made), "bugs of both targets", by=manager)
    kill(manager)
    made.wait_for_no_process()
    return made


def _has_bugs_of_both(campaign: Campaign) -> bool:
    try:
        state = campaign.state()
    except BadInput:
        return False
    return len(state.targets) == 2 and all(target.bugs for target in state.targets)


@pytest.fixture
def copy(killed: Campaign, tmp_path: Path) -> Campaign:
    shutil.copytree(killed.folder, tmp_path / "out")
    return Campaign(tmp_path, tables=killed.tables)


def cut(path: Path, part: float) -> None:
    """Leave the first part of a file."""
    os.truncate(path, int(path.stat().st_size * part))


@pytest.mark.parametrize("name", CUT)
def test_a_file_that_was_cut_costs_counts_but_no_bug(copy: Campaign, name: str):
    whose, part = CUT[name]
    before = copy.state()
    cut(copy.folder / name, part)
    ran = copy.run_a_while()
    state = copy.state()
    assert {bug.id for bug in state.bugs} >= {bug.id for bug in before.bugs}
    assert not events(state, "broken")
    assert all(target.inputs > 0 for target in state.targets)
    for target in ("fragile", "records"):
        said = [text for text in events(state, "warning", target) if "began again" in text]
        assert len(said) == (target == whose)
    assert ran.errors.count("began again") == bool(whose)


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_file_that_was_cut_and_that_nobody_misses(copy: Campaign, pattern: str):
    before = copy.state()
    found = list(copy.folder.glob(pattern))
    assert found
    for path in found:
        cut(path, random.Random(path.name).choice((0.0, 0.5)))
    copy.run_a_while()
    state = copy.state()
    assert {bug.id for bug in state.bugs} >= {bug.id for bug in before.bugs}
    assert not [text for text in events(state, "warning") if "began again" in text]
    for old, new in zip(before.targets, state.targets, strict=True):
        assert new.inputs > old.inputs


# ── the disk ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_stops_the_fuzzing_and_not_the_campaign(tmp_path: Path, small_disk: Path):
    campaign = Campaign(tmp_path, out=small_disk / "out")
    campaign.libfuzzer("fragile", harness("fragile.c"))
    campaign.black_box("records", program("records.c"), RECORDS, *MANY_BITS)
    manager = Telling(campaign)
    campaign.wait_for_inputs()
    filler = small_disk / "filler"
    fill(filler)
    before = bugs_of(campaign)
    wait_until(lambda: "disk is full" in manager.said, "it to be told")
    assert bugs_of(campaign) >= before
    filler.unlink()
    campaign.wait_for_turns()
    manager.interrupt()
    state = campaign.state()
    assert {bug.id for bug in state.bugs} >= before
    assert len([text for text in events(state, "warning", "") if "disk is full" in text]) == 1
    assert not events(state, "broken")


def test_a_disk_that_is_full_up_to_the_end(tmp_path: Path, small_disk: Path):
    campaign = Campaign(tmp_path, out=small_disk / "out")
    campaign.libfuzzer("fragile", harness("fragile.c"))
    manager = Telling(campaign)
    campaign.wait_for_inputs()
    fill(small_disk / "filler")
    before = bugs_of(campaign)
    wait_until(lambda: "disk is full" in manager.said, "it to be told")
    assert "disk" in manager.interrupt().out
    assert bugs_of(campaign) >= before
    again = campaign.run(1)
    assert again.status in (0, 2)
    assert "Traceback" not in again.errors
    (small_disk / "filler").unlink()
    campaign.run_a_while()
    assert bugs_of(campaign) >= before


class Telling:
    """A campaign at work, and what it has said on stderr so far."""

    def __init__(self, campaign: Campaign) -> None:
        campaign.plan()  # the file is written
        self._errors = campaign.home / "errors"
        words = [sys.executable, "-m", "fuzzwise", "run", str(campaign.file), "--time", "3600s"]
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, MARK: str(campaign.home)},
            )

    @property
    def said(self) -> str:
        return self._errors.read_text()

    def interrupt(self) -> Ran:
        self._process.send_signal(signal.SIGINT)
        out, _ = self._process.communicate(timeout=PATIENCE)
        return Ran(self._process.returncode, out, self.said).check(130)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


# ── the clock ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_that_is_set(tmp_path: Path, campaign: Campaign, days: int):
    library = tmp_path / "other_clock.so"
    source = TARGETS / "other_clock.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", str(source), "-o", str(library)], check=True)
    offset = tmp_path / "offset"
    offset.write_text("0")
    began = time.monotonic()
    manager = campaign.start(3600, LD_PRELOAD=str(library), CLOCK_OFFSET_FILE=str(offset))
    campaign.wait_for_inputs()
    offset.write_text(str(days * 86400))
    campaign.wait_for_turns()
    interrupt(manager)
    passed = time.monotonic() - began
    state = campaign.state()
    ats = [event.at for event in state.events]
    assert ats == sorted(ats)
    assert 0 <= ats[0] <= ats[-1] <= passed
    for target in state.targets:
        assert 0 < target.seconds <= passed
    assert not events(state, "broken")
    assert "timeout" not in {bug.kind for bug in state.bugs}


# ── targets ───────────────────────────────────────────────────────────────────────────────────


def test_a_build_that_disappears_and_comes_back(campaign: Campaign):
    mine = campaign.libfuzzer("moving", harness("fragile.c"))
    other = campaign.black_box("moving-too", program("records.c"), RECORDS, *MANY_BITS)
    manager = campaign.start(600)
    campaign.wait_for_inputs()
    for path in (mine, other):
        path.rename(path.with_suffix(".away"))
    names = ("moving", "moving-too")
    wait_until(lambda: states(campaign, *names) == [BROKEN, BROKEN], "both missed", by=manager)
    before = campaign.target("fragile").inputs
    wait_until(lambda: campaign.target("fragile").inputs > before, "the others", by=manager)
    for path in (mine, other):
        path.with_suffix(".away").rename(path)
    inputs = {name: campaign.target(name).inputs for name in names}
    for name in names:
        wait_until(
            lambda name=name: campaign.target(name).inputs > inputs[name],
            f"the return of {name}",
            by=manager,
        )
    interrupt(manager)
    state = campaign.state()
    for name in names:
        assert len(events(state, "broken", name)) == 1
        assert len(events(state, "returned", name)) == 1
        assert re.search("(?i)no such file|does not exist", events(state, "broken", name)[0])
    assert not [text for text in events(state, "warning") if "began again" in text]


def states(campaign: Campaign, *names: str) -> list[str]:
    found = {target.name: target.state for target in campaign.state().targets}
    return [found[name] for name in names]


def test_targets_that_take_all_they_can_get(tmp_path: Path):
    """One that leaks, some that never end, one that leaves processes behind.

    libFuzzer looks at the memory of its process once a second: in shorter turns nothing is seen.
    """
    campaign = Campaign(tmp_path, {"epoch": '"1s"'})
    campaign.libfuzzer("leaks", harness("broken.c"), 'share = "high"', *QUICK)
    for name in ("hangs", "sleeps", "lingers", "good"):
        campaign.libfuzzer(name, harness("broken.c"), *QUICK)
    hostile = program("blackbox_hostile.c")
    limits = ("[target.limits]", 'time = "200ms"', "memory_mib = 64", "processes = 16")
    for deed in ("daemons", "bomb", "stubborn"):
        campaign.black_box(deed, hostile, b"seed", *limits, words=f"{deed} @@")
    campaign.black_box(
        "endless", program("blackbox_parser.c"), b"pqrstuvw" * 3, *limits,
        "[target.mutation]", "ratio = [0.02, 0.2]", 'kinds = ["bits"]',
    )  # fmt: skip
    manager = campaign.start(600)
    wait_until(lambda: seen_of_greed(campaign.folder), "what each of them does", by=manager)
    interrupt(manager)
    campaign.wait_for_no_process()
    state = campaign.state()
    assert campaign.target("good").state == WAITING
    for target in state.targets:
        assert len(events(state, "broken", target.name)) == (target.state == BROKEN)
    campaign.run(3).check(0, 2)  # some of them cannot be fuzzed, if that shows so soon
    campaign.wait_for_no_process()
    check_on_time(campaign, 3, state)


def seen_of_greed(folder: Path) -> bool:
    """Whether the leak and a hang were found, and all that can be fuzzed have been."""
    try:
        state = read_state(folder)
    except BadInput:  # not there yet
        return False
    found = {(bug.target, bug.kind) for bug in state.bugs}
    fuzzed = {target.name for target in state.targets if target.inputs > 0}
    return (
        ("leaks", "out-of-memory") in found
        and bool({("hangs", "timeout"), ("sleeps", "timeout")} & found)  # the same bug in both
        and fuzzed >= {"good", "lingers", "leaks", "endless", "daemons"}
    )


def test_what_targets_started_does_not_survive_the_manager(tmp_path: Path):
    campaign = Campaign(tmp_path)
    campaign.libfuzzer("lingers", harness("broken.c"))
    campaign.black_box("daemons", program("blackbox_hostile.c"), b"seed", words="daemons @@")
    manager = campaign.start(600)
    campaign.wait_for_inputs()
    kill(manager)
    campaign.wait_for_no_process()
    assert campaign.state().stopped is not None


GOOD = 25
"""Targets of each engine that are well."""


def test_a_hundred_targets_of_which_half_are_broken(tmp_path: Path):
    campaign = Campaign(tmp_path, {"epoch": '"200ms"'})
    limits = ("[target.limits]", 'time = "1s"')
    broken = []
    for number in range(GOOD):
        campaign.libfuzzer(f"good-{number}", harness("broken.c"))
        campaign.black_box(f"fine-{number}", program("table.c"), b"1,2\n3,4\n")
        kind = "hangs" if number < 3 else ("crashes", "exits")[number % 2]
        broken.append(f"{kind}-{number}")
        campaign.libfuzzer(broken[-1], harness("broken.c"), *limits)
    missing = [campaign.libfuzzer(f"missing-{number}", harness("broken.c")) for number in range(5)]
    broken += [path.name for path in missing]
    for number in range(5):
        for kind, text in (("junk", b"\x7fELF FUZZWISE_STATE"), ("silent", b"#!/bin/sh\n")):
            campaign.libfuzzer(f"{kind}-{number}", script(tmp_path / kind, text))
        campaign.black_box(f"deaf-{number}", script(tmp_path / "deaf", b"#!/bin/sh\n"), b"seed")
        campaign.sources(f"wrong-{number}", "int LLVMFuzzerTestOneInput(")
        broken += [f"{kind}-{number}" for kind in ("junk", "silent", "deaf", "wrong")]
    assert len(campaign.tables) == 100
    manager = campaign.start(600)
    wait_until(lambda: (campaign.folder / "campaign.db").exists(), "the campaign", by=manager)
    for path in missing:
        path.unlink()
    good = [f"{kind}-{number}" for kind in ("good", "fine") for number in range(GOOD)]
    campaign.wait_for_inputs(*good)
    wait_until(lambda: states(campaign, *broken) == [BROKEN] * 50, "the broken", by=manager)
    interrupt(manager)
    campaign.wait_for_no_process()
    state = campaign.state()
    assert sorted(e.target for e in state.events if e.kind == "broken") == sorted(broken)
    assert {t.name for t in state.targets if t.state == BROKEN} == set(broken)
    campaign.tables = [text for text in campaign.tables if 'name = "missing' not in text]
    campaign.run(3).check(2)
    check_on_time(campaign, 3, state)


def script(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o755)
    return path


# ── people ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_campaign_is_saved(campaign: Campaign, number: int):
    manager = campaign.start(600)
    campaign.wait_for_inputs()
    ran = interrupt(manager, number)
    assert "interrupted" in ran.out
    campaign.wait_for_no_process()
    state = campaign.state()
    assert state.stopped is not None
    assert state.stopped.reason == "interrupted"
    before = {target.name: target.inputs for target in state.targets}
    campaign.run_a_while()
    assert all(target.inputs >= before[target.name] for target in campaign.state().targets)


def test_a_terminal_that_goes_away_ends_everything_and_loses_nothing(campaign: Campaign):
    manager = campaign.start(600)
    campaign.wait_for_inputs()
    before = campaign.state()
    manager.send_signal(signal.SIGHUP)
    assert ended(manager).status == 130
    campaign.wait_for_no_process()
    campaign.run_a_while()
    assert bugs_of(campaign) >= {bug.id for bug in before.bugs}


def test_a_second_run_is_refused_and_status_works_meanwhile(campaign: Campaign):
    manager = campaign.start(600)
    campaign.wait_for_inputs()
    second = campaign.run(1).check(2)
    assert f"(process {manager.pid})" in second.errors
    assert "fuzzwise status" in second.errors
    status = fuzzwise("status", campaign.folder)
    assert status.returncode == 0, status.stderr
    assert re.search(r"fragile.*fuzzing|fragile.*waiting", status.stdout)
    assert manager.poll() is None
    interrupt(manager)
