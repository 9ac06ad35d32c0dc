"""Folders of `fuzzwise fuzz` and `fuzzwise run`, watched like those of any other fuzzer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzer_files import EXAMPLES, afl_instance, check, seed_name, stats_text
from fuzzwise.campaign.finished import run_entry
from fuzzwise.engines.aflplusplus.stats import Untried
from fuzzwise.store.places import open_store
from fuzzwise.watch.recognise import open_sources, read
from observed_target import build, fuzz
from stored import begun, epoch, plan, turn


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("own"), EXAMPLES / "ini.c")


def test_a_folder_of_fuzz_is_read_as_it_counts(target: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = fuzz(target, out, "--inputs", "20000", "--json")
    document = json.loads(done.stdout)
    reading = check(read([out])[0])
    assert (reading.kind, reading.name) == ("fuzzwise", "ini")
    assert reading.observation.n == document["inputs"]
    assert len(reading.observation.discoveries) == document["discoveries"]
    assert reading.corpus == document["corpus"]
    assert reading.processes == ()


def test_the_process_of_a_folder_of_fuzz_is_known_and_ends_on_its_signal(
    target: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = [sys.executable, "-m", "fuzzwise", "fuzz", target, "--out", out, "--quiet"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=dict(os.environ))
    try:
        deadline = time.monotonic() + 600
        while not (out / "campaign.json").exists() or not (out / "state" / "head").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        source = open_sources([out])[0]
        while source.read().observation.n < 100:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        (found,) = check(source.read()).processes
        assert found.pid == process.pid
        os.kill(found.pid, found.stop_signal)
        assert process.wait(timeout=600) == 130
        assert found.stop_signal == signal.SIGINT
    finally:
        process.kill()
        process.wait()


def test_each_target_of_a_folder_of_run_is_a_campaign(tmp_path: Path) -> None:
    with begun(tmp_path, "a", "b") as store:
        epoch(store, 1.0, "a", turn(100))
        epoch(store, 2.0, "a", turn(250))
    one, other = (check(reading) for reading in read([tmp_path]))
    assert (one.name, one.observation.n) == ("a", 250)
    assert (other.name, other.observation.n) == ("b", 0)
    assert one.kind == "fuzzwise"
    assert one.untried is None


def test_what_waits_in_the_queue_of_afl_is_told_for_own_campaigns_too(tmp_path: Path) -> None:
    stats = stats_text(corpus_favored=20, pending_favs=8)
    run, fuzz = tmp_path / "run", tmp_path / "fuzz"
    for folder, home in ((run, run / "targets" / "a"), (fuzz, fuzz)):
        entry = replace(plan(folder, "a").targets[0], engine="afl++")
        with open_store(folder) as store:
            store.begin_run(run_entry(replace(plan(folder), targets=(entry,)), None))
            epoch(store, 1.0, "a", turn(100))
        afl_instance(home / "afl" / "default", [seed_name(0)], stats)
    (fuzz / "state").mkdir()
    (fuzz / "campaign.json").write_text('{"settings": {"engine": "afl++"}}')
    assert read([run])[0].untried == Untried(8, 20)
    assert read([fuzz])[0].untried == Untried(8, 20)
