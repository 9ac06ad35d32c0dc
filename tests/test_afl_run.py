"""A campaign with a target of AFL++ beside one of libFuzzer and a black box, end to end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from afl_target import EXAMPLES, TARGETS, fuzzers_of, inputs_of, need_afl, segments_of
from commands import Started, fuzzwise
from fuzzwise.engines.observer.state import State
from reading import state_so_far
from waiting import wait_until

FUZZWISE = (sys.executable, "-m", "fuzzwise")


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    need_afl()
    (tmp_path / "seed.txt").write_text("aB and something else\n")
    path = tmp_path / "three.toml"
    path.write_text(
        f"""[campaign]
budget = "1h"
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


def run_until(out: Path, campaign: Path, wanted: dict[str, int]) -> None:
    """Run the campaign until these targets have made more than so many inputs; interrupt it."""
    with Started("run", campaign, "--quiet") as process:

        def have() -> bool:
            assert process.poll() is None, process.communicate()
            state = state_so_far(out)
            made = {one.name: one.inputs for one in state.targets} if state else {}
            return all(made.get(name, 0) > inputs for name, inputs in wanted.items())

        wait_until(have, f"more inputs than {wanted}")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def test_all_three_engines_share_a_budget(tmp_path, campaign):
    out = tmp_path / "three-out"
    run_until(out, campaign, dict.fromkeys(("reader", "harness", "box"), 50))
    told = status(out)
    assert set(told) == {"reader", "harness", "box"}
    for name, target in told.items():
        assert target["inputs"] > 50, name
        assert target["seconds"] > 0, name
    assert told["reader"]["discoveries"] > 0
    assert told["reader"]["risk"]["n"] == told["reader"]["inputs"]
    assert not fuzzers_of(out)
    # The folder of the target is one that other commands read.
    log = out / "targets/reader/state/observations.jsonl"
    estimate = fuzzwise("estimate", log, "--json")
    assert estimate.returncode == 0, estimate.stderr

    counted = -1
    while told["reader"]["inputs"] != counted:  # a turn that ended too late is told by the next run
        run_until(out, campaign, {name: target["inputs"] for name, target in told.items()})
        after = status(out)
        assert all(after[name]["inputs"] > target["inputs"] for name, target in told.items())
        counted = State(out / "targets/reader/state").head.inputs
        assert after["reader"]["inputs"] <= counted
        told = after


def test_a_killed_campaign_leaves_no_afl_fuzz_behind(tmp_path, campaign):
    out = tmp_path / "three-out"
    process = subprocess.Popen(
        [*FUZZWISE, "run", campaign], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    reader = out / "targets/reader"
    wait_until(lambda: inputs_of(reader) > 50, "inputs of AFL++")
    state = State(reader / "state")
    pids = [int(slot.pid) for slot in state.head.slots if slot.pid]
    process.kill()
    process.wait()
    wait_until(lambda: not fuzzers_of(out), "the end of afl-fuzz")
    assert pids
    wait_until(lambda: not any(map(segments_of, pids)), "the kernel, which takes a moment")
    made = int(state.head.inputs)
    run_until(out, campaign, {"reader": made})
