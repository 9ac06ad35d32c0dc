"""The observer's hooks, called step by step as versions of afl-fuzz call them."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fuzzwise.engines.aflplusplus.library import observer
from fuzzwise.engines.observer.state import State
from fuzzwise.snapshot import read

CLASS = [0, 1, 2, 4, *[8] * 4, *[16] * 8, *[32] * 16, *[64] * 96, *[128] * 128]
Step = list[object]
AN_HOUR = 3_600_000
"""Milliseconds."""


def do(folder: Path, steps: list[Step], **variables: str) -> State:
    (folder / "state").mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, Path(__file__).with_name("afl_hooks.py"), observer(), folder],
        input="".join(json.dumps(step) + "\n" for step in steps),
        text=True,
        check=True,
        env={**os.environ, "FUZZWISE_STATE": str(folder / "state"), "FUZZWISE_MAP_SIZE": "60"}
        | variables,
    )
    return State(folder / "state")


def loaded(folder: Path, seed: bytes = b"seed") -> list[Step]:
    """A dry run with one seed of two edges, and the beginning of its havoc stage."""
    (folder / "id:000000,orig:seed").write_bytes(seed)
    runs: list[Step] = [["run", seed.hex(), {0: 1, 1: 1}] for _ in range(7)]
    return [*runs, ["entry", "id:000000,orig:seed"], ["havoc"]]


def run(number: int, edges: dict[int, int]) -> Step:
    return ["run", number.to_bytes(4, "big").hex(), edges]


def test_inputs_are_counted_with_what_they_show(tmp_path):
    steps = loaded(tmp_path)
    steps += [run(1, {0: 1, 5: 8}), ["keep", "id:000001,src:000000"]]
    steps += [run(1, {0: 1, 5: 8})] * 7  # calibration
    steps += [run(2, {0: 1, 5: 7}), run(3, {0: 1, 1: 1}), run(3, {0: 1, 1: 1}), run(4, {0: 1})]
    state = do(tmp_path, steps)
    o = state.observation(1.0)
    # The last run is looked at by nobody. Edge 5 was hit 4 to 7 times, twice.
    assert (o.n, o.species, o.discoveries.tolist()) == (4, 3, [1])
    assert o.f == (0, 2, 0, 1)
    assert int(state.head.executed) == 7 + 1 + 7 + 4
    assert int(state.head.seeds) == 2


def test_a_crash_is_an_input_that_shows_nothing(tmp_path):
    steps = [*loaded(tmp_path), run(1, {0: 1, 9: 1}), ["crash"], run(2, {0: 1}), run(3, {})]
    o = do(tmp_path, steps).observation(1.0)
    assert (o.n, o.species, len(o.discoveries)) == (2, 2, 0)
    assert o.f == (1, 0, 0, 0)


def test_a_slow_input_that_is_run_again_is_one_input(tmp_path):
    steps = [*loaded(tmp_path), run(1, {0: 1}), ["crash"], run(1, {0: 1}), run(2, {0: 1})]
    steps += [run(2, {0: 1}), run(3, {})]  # made twice by chance
    assert do(tmp_path, steps).head.inputs == 3


def test_what_afl_does_not_keep_is_nothing_new(tmp_path):
    steps = [*loaded(tmp_path), run(1, {0: 1, 30: 1}), run(2, {0: 1, 30: 1}), run(3, {})]
    o = do(tmp_path, steps).observation(1.0)
    assert (o.n, o.species, len(o.discoveries)) == (2, 2, 0)


def test_trimming_is_no_input_but_deterministic_stages_are(tmp_path):
    name = "id:000000,orig:seed"
    steps = loaded(tmp_path)[:-1]
    steps += [["run", b"see".hex(), {0: 1, 1: 1}], ["run", b"sed".hex(), {0: 1}]]
    steps += [["run", b"seed".hex(), {0: 1, 1: 1}]]  # calibration of the entry
    steps += [["run", b"sEed".hex(), {0: 1, 1: 1}], ["run", b"seEd".hex(), {0: 1, 7: 1}]]
    steps += [["keep", "id:000001,src:000000"], *[["run", b"seEd".hex(), {0: 1, 7: 1}]] * 7]
    steps += [["run", b"seed!".hex(), {0: 1, 1: 1}], ["entry", name]]
    o = do(tmp_path, steps).observation(1.0)
    assert (o.n, o.discoveries.tolist()) == (3, [2])


def test_a_trimmed_entry_is_the_seed_that_it_was_also_under_another_number(tmp_path):
    steps = loaded(tmp_path)
    steps += [run(7, {0: 1, 5: 1}), ["keep", "id:000001,src:000000,op:havoc"]]
    do(tmp_path, steps)
    (tmp_path / "id:000000,time:0,orig:id:000001,src:000000,op:havoc").write_bytes(b"\x07")
    again: list[Step] = [["run", "07", {0: 1, 5: 1}] for _ in range(7)]
    again += [["entry", "id:000000,time:0,orig:id:000001,src:000000,op:havoc"], ["havoc"]]
    again += [run(8, {0: 1}), run(9, {0: 1}), run(10, {})]
    state = do(tmp_path, again)
    assert state.seeds()["inputs"].tolist() == [1, 2]
    assert state.head.inputs == 3


@pytest.mark.parametrize("writes_classes", [False, True])
def test_maps_with_classes_in_place_of_counts_are_seen_as_such(tmp_path, writes_classes):
    """4.04c leaves the counts of a run that it does not keep; some newer versions do not."""
    rng = np.random.default_rng(1)
    steps = loaded(tmp_path)
    for k, count in enumerate((1, 2, 3, 5, 9, 20, 50, 200)):  # each class is seen and kept
        steps += [run(k, {0: 1, 20: CLASS[count]}), ["keep", f"id:{k}"]]
    shown: Callable[[int], int] = CLASS.__getitem__ if writes_classes else int
    for number in range(100):  # something to tell the two apart by
        steps.append(run(1000 + number, {0: 1, 1: shown(int(rng.integers(1, 256)))}))
    for count in (3, 6, 6, 12, 12, 12):
        steps.append(run(2000 + count, {0: 1, 20: shown(count)}))
    state = do(tmp_path, [*steps, run(1, {})])
    features = np.fromfile(tmp_path / "state" / "features", np.uint8)[: 64 * 8].reshape(64, 8)
    assert state.head.inputs == 8 + 100 + 6
    assert (features[20] & 7).tolist() == [1, 1, 2, 3, 4, 1, 1, 1]


def test_all_is_kept_when_it_is_killed_between_two_steps(tmp_path):
    steps = [*loaded(tmp_path), run(1, {0: 1, 5: 1}), ["keep", "id:000001"], run(2, {0: 1})]
    process = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("afl_hooks.py"), observer(), tmp_path],
        stdin=subprocess.PIPE,
        env={**os.environ, "FUZZWISE_STATE": str(tmp_path / "state"), "FUZZWISE_MAP_SIZE": "60"},
    )
    (tmp_path / "state").mkdir()
    assert process.stdin is not None
    process.stdin.write("".join(json.dumps(step) + "\n" for step in steps).encode())
    process.stdin.flush()
    while not (tmp_path / "id:000001").exists():
        assert process.poll() is None
    while True:
        head = State(tmp_path / "state").head  # there since the first step
        if head.inputs == 1 and head.slots[0].state == 1:
            break
        assert process.poll() is None
    process.kill()
    process.wait()
    process.stdin.close()
    state = do(tmp_path, [])
    o = state.observation(1.0)
    assert (o.n, o.species, o.discoveries.tolist()) == (2, 3, [1])
    assert int(state.head.lost) == 1  # the input under way


@pytest.mark.parametrize(
    ("told", "logged"),
    [
        (b"", (None, None)),  # one that could not be written
        (struct.pack("QQ", AN_HOUR, 0), (None, None)),  # by an older fuzzwise
        (struct.pack("QQdq", AN_HOUR, 0, 1.0, -1), (1.0, None)),
        (struct.pack("QQdq", AN_HOUR, 0, 3 / 40, 9), (3 / 40, 9)),
        (struct.pack("QQdq", AN_HOUR, 0, 0.0, 0), (0.0, 0)),
        (struct.pack("QQdq", AN_HOUR, 0, float("nan"), 4), (None, 4)),
        (struct.pack("QQdq", AN_HOUR, 0, 2.0, -7), (None, None)),
    ],
    ids=["empty", "older", "all wait", "some wait", "none waits", "not said", "damaged"],
)
def test_the_log_has_what_the_supervisor_tells_of_the_queue(tmp_path, told, logged):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "clock").write_bytes(told)
    steps = [*loaded(tmp_path), *(run(number, {0: 1}) for number in range(102))]
    do(tmp_path, steps)
    (seen,) = read(tmp_path / "state" / "observations.jsonl").campaigns[0].observations
    assert (seen.n, seen.waiting, seen.tried) == (100, *logged)
    assert (seen.seconds > 3600) == bool(told)


def test_another_size_of_the_map_is_another_build(tmp_path):
    do(tmp_path, loaded(tmp_path))
    with pytest.raises(subprocess.CalledProcessError) as ended:
        do(tmp_path, [], FUZZWISE_MAP_SIZE="700")
    assert ended.value.returncode == 73
