"""The counts of a black-box session: every crash in one place, whatever comes when."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzwise.engines.blackbox.tally import (
    MOST_KEPT,
    MOST_TRACES,
    MOST_TRIES,
    MOST_UNTRACED,
    SILENT,
    Crash,
    Tally,
    evenly,
    load,
    smallest,
)
from fuzzwise.errors import BadInput


def tally() -> Tally:
    return Tally("generation", "fingerprint", lanes=[0])


def crash(n: int, length: int = 9) -> Crash:
    return Crash(0, n, n, n / 100, length)


def after(counts: Tally, traces: dict[int, int]) -> Tally:
    """Crashes with the given traces, by run."""
    for n, trace in traces.items():
        counts.lanes[0] = n
        counts.crash(crash(n), trace)
    return counts


def name(trace: int) -> str:
    return f"{trace:016x}"


def test_all_crashes_of_a_stack_count_for_its_bug_and_the_first_is_the_discovery():
    counts = after(tally(), {3: 7, 5: 7, 8: 1, 9: 7})
    assert counts.observation().species == 0  # none was examined yet
    counts.examined(name(1), crash(8), "rare")
    counts.examined(name(7), counts.traces[name(7)].waiting[1], "often")  # later than the other
    after(counts, {12: 7})
    seen = counts.observation()
    assert seen.n == 12
    assert seen.discoveries is not None
    assert seen.discoveries.tolist() == [3, 8]
    assert seen.last_discovery_seconds == 0.08
    assert (seen.species, seen.f, seen.k) == (2, (1, 0, 0, 1), 1)
    assert counts.count_of("often") == 4


def test_two_stacks_of_one_bug_are_one_species_first_shown_by_the_earlier():
    counts = after(tally(), {3: 7, 5: 8, 6: 8})
    counts.examined(name(8), crash(5), "bug")
    counts.examined(name(7), crash(3), "bug")
    seen = counts.observation()
    assert seen.discoveries is not None
    assert seen.discoveries.tolist() == [3]
    assert (seen.f, seen.last_discovery_seconds) == ((0, 0, 1, 0), 0.03)


def test_a_silent_stack_is_given_up_after_some_tries():
    counts = after(tally(), dict.fromkeys(range(1, 4), 7))
    trace = counts.traces[name(7)]
    for _ in range(3):
        assert trace.bug is None
        counts.examined(name(7), smallest(trace.waiting), SILENT)
    after(counts, dict.fromkeys(range(4, 20), 7))
    assert len(trace.waiting) == MOST_TRIES - 3
    while trace.waiting:
        counts.examined(name(7), smallest(trace.waiting), SILENT)
    assert trace.bug == SILENT
    assert counts.silent == 19
    after(counts, {20: 7})
    assert (counts.silent, trace.waiting) == (20, [])


def test_only_some_inputs_of_a_known_stack_wait_to_be_kept():
    counts = after(tally(), {1: 7})
    counts.examined(name(7), crash(1), "bug")
    counts.traces[name(7)].kept = 1
    after(counts, dict.fromkeys(range(2, 50), 7))
    assert len(counts.traces[name(7)].waiting) == MOST_KEPT - 1
    assert counts.count_of("bug") == 49


@given(st.lists(st.integers(0, 2000), max_size=4))
def test_of_crashes_without_stacks_some_wait_and_all_are_counted(turns):
    counts = tally()
    n = 0
    for crashes in turns:
        fresh = range(n + 1, n + crashes + 1)
        after(counts, dict.fromkeys(fresh, 0))
        n += crashes
        assert len(counts.sample) < 2 * MOST_UNTRACED
        counts.choose()
        assert len(counts.waiting) == min(MOST_UNTRACED, crashes)
        gaps = {b.n - a.n for a, b in zip(counts.waiting, counts.waiting[1:], strict=False)}
        assert not gaps or max(gaps) <= 2 * crashes / MOST_UNTRACED + 2 * min(gaps)  # evenly
        for number, one in enumerate(tuple(counts.waiting)):
            counts.examined_alone(one, "bug" if number % 2 else SILENT)
        assert counts.crashes == n
        assert counts.not_examined + counts.silent + counts.count_of("bug") == n


def test_endless_new_stacks_stay_within_bounds():
    counts = after(tally(), {n: n for n in range(1, MOST_TRACES + 500)})
    assert len(counts.traces) == MOST_TRACES
    assert len(counts.sample) + counts.not_examined == 499
    after(counts, {9999: 1})
    assert counts.traces[name(1)].count == 2  # a known one is still known


def test_what_waited_stays_when_more_comes():
    counts = after(tally(), dict.fromkeys(range(1, 16), 0))
    counts.choose()
    waiting = list(counts.waiting)
    after(counts, dict.fromkeys(range(16, 60), 0))
    counts.choose()
    assert counts.waiting[: len(waiting)] == waiting
    assert len(counts.waiting) == MOST_UNTRACED


def test_a_choice_is_evenly_spread():
    crashes = [crash(n) for n in range(1, 101)]
    assert [c.n for c in evenly(crashes, 4)] == [1, 26, 51, 76]
    assert evenly(crashes, 100) == crashes
    assert evenly(crashes, 0) == []


def test_a_tally_is_read_back_whole_or_not_at_all(tmp_path: Path):
    counts = after(tally(), {3: 7, 5: 0, 8: 1})
    counts.examined(name(7), crash(3), "bug")
    path = tmp_path / "progress.json"
    assert load(path) is None
    counts.save(path)
    assert load(path) == counts
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert load(path) is None
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(counts, version=99)))
    assert load(path) is None


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff\xfe", b'{"generation": 3}', b"null"])
def test_nonsense_is_no_tally(tmp_path, content):
    path = tmp_path / "progress.json"
    path.write_bytes(content)
    assert load(path) is None


def test_a_folder_in_the_place_of_a_tally_is_told(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        load(tmp_path)


@pytest.mark.parametrize("n", [-1, 2**64])
def test_a_number_that_cannot_be_counted_is_a_damaged_file(tmp_path: Path, n: int) -> None:
    path = tmp_path / "progress.json"
    counts = after(tally(), {5: 7})
    counts.examined(f"{7:016x}", crash(5), "bug")
    counts.save(path)
    told = msgspec.json.decode(path.read_bytes())
    told["bugs"]["bug"]["n"] = n
    path.write_bytes(json.dumps(told).encode())
    assert load(path) is None
