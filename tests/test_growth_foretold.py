"""What recordings foretell of a campaign: that which it finds in the time that it gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzzwise import snapshot
from fuzzwise.campaign.manager import Manager
from fuzzwise.campaign.threads import Threads
from fuzzwise.errors import BadInput
from fuzzwise.lab.growth.foretold import foretell
from fuzzwise.lab.growth.recording import (
    COLUMNS,
    FOUND,
    RUNS,
    GrowthRecording,
    Repeat,
    growth_files,
    read_growth,
)
from fuzzwise.snapshot import Campaign
from fuzzwise.store.places import open_reader, open_store
from simulated_session import SPEED, SimulatedSession, plan_of
from waiting import PATIENCE

STEP = 0.01
GROWTH = {"small": 20.0, "usual": 60.0, "large": 200.0}


def discoveries(scale: float) -> tuple[int, ...]:
    """They come with the logarithm of the inputs."""
    found = np.unique(np.ceil(100 * np.expm1(np.arange(1, 12 * scale) / scale)).astype(np.int64))
    return tuple(found.tolist())


def recorded(folder: Path) -> GrowthRecording:
    """Each target alone, in turns of a hundredth of a second, as long as any campaign here."""
    for name, scale in GROWTH.items():
        session = SimulatedSession(discoveries(scale), patience=0.0)
        totals = [session.turn(STEP, 1) for _ in range(600)]
        seen = tuple(replace(t.observation, seconds=t.seconds, corpus=t.corpus) for t in totals)
        campaign = Campaign(f"{name}-1", seen, name)
        snapshot.write(folder / f"{name}-1.growth.jsonl", [campaign])
    return read_growth(growth_files([folder]), accepted_risk=None, step=STEP)


@pytest.mark.parametrize("scheduler", ["risk-rate", "round-robin"])
def test_a_live_campaign_finds_what_recordings_say_for_the_time_it_gave(tmp_path, scheduler):
    recording = recorded(tmp_path)
    plan = plan_of(tmp_path, list(GROWTH), scheduler=scheduler)
    targets = tuple(replace(target, accepted_risk=None) for target in plan.targets)
    plan = replace(plan, targets=targets)
    sessions = {name: SimulatedSession(discoveries(scale)) for name, scale in GROWTH.items()}
    with open_store(plan.folder) as store:
        manager = Manager(plan, store, Threads(sessions, plan.cores), last_words=PATIENCE)

        def watch() -> None:
            if all(len(session.turns) > 5 for session in sessions.values()):
                manager.interrupt()

        manager.run(PATIENCE, watch)
    state = open_reader(plan.folder).state()
    spent = {one.name: one.seconds for one in state.targets}
    assert max(spent.values()) < 6.0
    told = foretell(recording, spent)
    for one in state.targets:
        # Between two lines of a recording everything is in proportion.
        per_step = GROWTH[one.name] * SPEED * STEP / max(100.0, one.inputs)
        assert told.by_target[one.name] == pytest.approx(one.discoveries, abs=2 + 2 * per_step)
        by_inputs = foretell(recording, {one.name: one.inputs}, in_inputs=True)
        assert by_inputs.value == pytest.approx(one.discoveries, abs=2 + 2 * per_step)
    less = foretell(recording, {name: seconds / 2 for name, seconds in spent.items()})
    assert less.value < told.value


def made(**repeats: tuple[float, ...]) -> GrowthRecording:
    """Targets whose repeats found so much a second, for ten seconds."""
    many = []
    for name, rates in repeats.items():
        tables = [np.zeros((COLUMNS, 11)) for _ in rates]
        for table, rate in zip(tables, rates, strict=True):
            table[FOUND], table[RUNS] = rate * np.arange(11), 100 * np.arange(11)
        many.append(tuple(Repeat(name, table, (), ()) for table in tables))
    return GrowthRecording(tuple(repeats), tuple(many), (), 1.0)


def test_the_spread_of_repeats_is_how_far_it_may_be_off():
    told = foretell(made(one=(9.0, 11.0), two=(90.0, 110.0)), {"one": 5.0, "two": 2.5})
    assert told.by_target == {"one": 50.0, "two": 250.0}
    assert told.value == 300.0
    # Both vary by √2 in 10, and a live campaign is a third of two repeats.
    deviation = np.sqrt(0.02 * 1.5 * (50.0**2 + 250.0**2))
    assert told.high - told.value == pytest.approx(1.96 * deviation)
    assert told.low == pytest.approx(told.value - 1.96 * deviation)


def test_inputs_tell_it_whatever_the_time():
    given = {"one": 500.0, "two": 250.0}
    told = foretell(made(one=(9.0, 11.0), two=(90.0, 110.0)), given, in_inputs=True)
    assert told.by_target == {"one": 50.0, "two": 250.0}


def test_a_recording_that_is_over_says_what_it_had_in_the_end():
    assert foretell(made(one=(3.0,)), {"one": 50.0}).value == 30.0


def test_a_target_that_was_not_recorded_is_named():
    with pytest.raises(BadInput, match="no recording of 'other'"):
        foretell(made(one=(3.0,)), {"other": 1.0})
