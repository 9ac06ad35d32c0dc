"""A campaign with a target of AFL++ beside one of libFuzzer and a black box, end to end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from afl_target import EXAMPLES, TARGETS, fuzzers_of, inputs_of, need_afl, segments_of
from commands import fuzzwise
from fuzzwise.engines.observer.state import State

FUZZWISE = (sys.executable, "-m", "fuzzwise")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    need_afl()
    (tmp_path / "seed.txt").write_text("aB and something else\n")
    path = tmp_path / "three.toml"
    path.write_text(
        f"""[campaign]
budget = "3s"
cores = 2
epoch = "1s"
[[target]]
name = "reader"
engine = "afl++"
sources = "{TARGETS / "afl_parser.c"}"
command = "{{program}} @@"
corpus = "seed.txt"
[[target]]
name = "harness"
engine = "libfuzzer"
sources = "{EXAMPLES / "utf8.c"}"
[[target]]
name = "box"
engine = "black-box"
sources = "{TARGETS / "afl_parser.c"}"
corpus = "seed.txt"
"""
    )
    return path


def status(out: Path) -> dict[str, dict[str, Any]]:
    done = fuzzwise("status", out, "--json")
    assert done.returncode == 0, done.stderr
    return {target["name"]: target for target in json.loads(done.stdout)["targets"]}


def test_all_three_engines_share_a_budget(tmp_path, campaign):
    out = tmp_path / "three-out"
    done = fuzzwise("run", campaign)
    assert done.returncode == 0, done.stderr
    told = status(out)
    assert set(told) == {"reader", "harness", "box"}
    for name, target in told.items():
        assert target["inputs"] > 50, name
        assert target["seconds"] > 0.2, name
    assert told["reader"]["discoveries"] > 0
    assert told["reader"]["risk"]["n"] == told["reader"]["inputs"]
    assert not fuzzers_of(out)
    # The folder of the target is one that other commands read.
    log = out / "targets/reader/state/observations.jsonl"
    estimate = fuzzwise("estimate", log, "--json")
    assert estimate.returncode == 0, estimate.stderr

    again = fuzzwise("run", campaign, "--time", "2s")
    assert again.returncode == 0, again.stderr
    after = status(out)
    assert all(after[name]["inputs"] >= target["inputs"] for name, target in told.items())
    assert after["reader"]["inputs"] == State(out / "targets/reader/state").head.inputs


def test_a_killed_campaign_leaves_no_afl_fuzz_behind(tmp_path, campaign):
    out = tmp_path / "three-out"
    process = subprocess.Popen(
        [*FUZZWISE, "run", campaign], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    reader = out / "targets/reader"
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if inputs_of(reader) > 50:
            break
        time.sleep(0.05)
    state = State(reader / "state")
    pids = [int(slot.pid) for slot in state.head.slots if slot.pid]
    process.kill()
    process.wait()
    while fuzzers_of(out) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not fuzzers_of(out)
    assert pids
    while any(map(segments_of, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)  # the kernel takes a moment
    assert not any(map(segments_of, pids))
    made = int(state.head.inputs)
    done = fuzzwise("run", campaign, "--time", "2s")
    assert done.returncode == 0, done.stderr
    assert status(out)["reader"]["inputs"] > made
