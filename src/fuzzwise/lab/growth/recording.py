"""Recordings of how targets grow: read, and laid on one clock for replays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fuzzwise import snapshot
from fuzzwise.errors import BadInput, NotEstimable
from fuzzwise.estimators.registry import DEFAULT, find
from fuzzwise.lab.growth.recorder import SUFFIX
from fuzzwise.model import Floats, Observation
from fuzzwise.snapshot import Campaign
from fuzzwise.stop_forecast import inputs_to_stop
from fuzzwise.stopping import AcceptedRisk

RUNS, SPECIES, FOUND, KEPT, RATE, LEFT, STOPS, LAST = range(8)
"""What is known of a repeat at each step of its clock: runs, species, discoveries and inputs kept
by then; the discoveries a second that the judge expects; the seconds until the accepted risk; 1
from when its risk is accepted on; which run was the last discovery, 0 for none."""
COLUMNS = 8


@dataclass(frozen=True, eq=False)
class Repeat:
    """One recording of a target, a column a step of its own clock.

    ``table[column, j]`` holds at j steps; in between it is in proportion, but for what the judge
    says, which is of the latest look. ``bugs`` and ``bug_seconds``: those shown, in order, as
    positions in the list of all bugs, and when.
    """

    target: str
    table: Floats
    bugs: tuple[int, ...]
    bug_seconds: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class GrowthRecording:
    """All repeats of all targets; ``step`` is that of their clocks, in seconds."""

    targets: tuple[str, ...]
    repeats: tuple[tuple[Repeat, ...], ...]
    bugs: tuple[str, ...]
    step: float
    warnings: tuple[str, ...] = ()

    @property
    def shortest_seconds(self) -> float:
        """How long every repeat of every target was recorded."""
        steps = min(one.table.shape[1] - 1 for many in self.repeats for one in many)
        return float(steps * self.step)


@dataclass(frozen=True, eq=False)
class Campaigns:
    """The repeats as they were recorded, by target, before they are laid on one clock."""

    by_target: Mapping[str, Sequence[Campaign]]
    warnings: tuple[str, ...]

    @property
    def shortest_seconds(self) -> float:
        """How long every repeat of every target was recorded."""
        every = (campaign for many in self.by_target.values() for campaign in many)
        return min(campaign.observations[-1].seconds or 0.0 for campaign in every)


ENDINGS = (SUFFIX, f"{SUFFIX}.gz")
"""How the names of recordings end."""


def growth_files(paths: Sequence[Path]) -> list[Path]:
    """The files of a recording of growth that paths mean: themselves, or those in a folder."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        found += [file for file in inside if file.name.endswith(ENDINGS) and not file.is_symlink()]
    return found


def read_growth(
    files: Sequence[Path], *, accepted_risk: float | None, step: float
) -> GrowthRecording:
    """The recording in those files, laid out."""
    return lay_out(read_campaigns(files), accepted_risk=accepted_risk, step=step)


def read_campaigns(files: Sequence[Path]) -> Campaigns:
    """What was recorded in those files."""
    warnings: list[str] = []
    by_target: defaultdict[str, list[Campaign]] = defaultdict(list)
    for file in files:
        read = snapshot.read(file)
        warnings += read.warnings
        for campaign in read.campaigns:
            last = campaign.observations[-1:]
            if not last or last[0].discoveries is None or not last[0].seconds:
                warnings.append(f"{file}: {campaign.name} has no time or no discoveries; left out.")
                continue
            by_target[campaign.subject or campaign.name].append(campaign)
    if not by_target:
        raise BadInput("The recording holds no target that has run.")
    return Campaigns(by_target, tuple(warnings))


def lay_out(campaigns: Campaigns, *, accepted_risk: float | None, step: float) -> GrowthRecording:
    """All of it on clocks of that step; what its judge would have said is computed here.

    So one recording serves for every accepted risk.
    """
    bugs: dict[str, int] = {}
    rule = None if accepted_risk is None else AcceptedRisk(accepted_risk)
    repeats = tuple(
        tuple(_repeat(name, campaign, bugs, rule, step) for campaign in recorded)
        for name, recorded in campaigns.by_target.items()
    )
    names = tuple(campaigns.by_target)
    return GrowthRecording(names, repeats, tuple(bugs), step, campaigns.warnings)


def _repeat(
    name: str, campaign: Campaign, bugs: dict[str, int], rule: AcceptedRisk | None, step: float
) -> Repeat:
    seen = campaign.observations
    seconds = np.array([0.0, *(o.seconds or 0.0 for o in seen)])
    clock = np.arange(int(seconds[-1] / step) + 1) * step
    table = np.zeros((len(clock), COLUMNS)).T  # replays want all of a step beside each other
    counts = {
        RUNS: [o.n for o in seen],
        SPECIES: [o.species or 0 for o in seen],
        FOUND: [0 if o.discoveries is None else len(o.discoveries) for o in seen],
        KEPT: [o.corpus or 0 for o in seen],
    }
    for column, values in counts.items():
        # What the initial corpus shows is there with the first input.
        before = float(values[0]) if column in (SPECIES, KEPT) else 0.0
        table[column] = np.interp(clock, seconds, [before, *map(float, values)])
    latest = np.searchsorted(seconds[1:], clock, "right") - 1
    table[LAST] = _last_discoveries(seen[-1], table[RUNS])
    for column, said in zip((RATE, LEFT, STOPS), _judged(seen, rule), strict=True):
        table[column] = np.where(latest >= 0, np.array(said)[np.maximum(latest, 0)], 0.0)
    runs = np.array([0.0, *(float(o.n) for o in seen)])
    shown = sorted(campaign.bugs, key=lambda bug: bug.n)
    when = np.interp([float(bug.n) for bug in shown], runs, seconds) if shown else ()
    known = tuple(bugs.setdefault(bug.id, len(bugs)) for bug in shown)
    return Repeat(name, table, known, tuple(float(at) for at in when))


def _last_discoveries(all_of_it: Observation, runs: Floats) -> Floats:
    """Which run was the last discovery by each number of runs; 0 where there was none."""
    found = all_of_it.discoveries
    numbers = np.array([0.0, *([] if found is None else found)])
    last: Floats = numbers[np.searchsorted(numbers, runs, "right") - 1]
    return last


def _judged(
    seen: Sequence[Observation], rule: AcceptedRisk | None
) -> tuple[list[float], list[float], list[float]]:
    """The rate, the seconds left and whether it is retired, at each observation."""
    estimator = find(DEFAULT)
    rates, lefts, stops = [], [], []
    looked, stopped = 0, False
    for now in seen:
        pace = (now.seconds or 0.0) / now.n if now.n else 0.0
        try:
            rate = estimator(replace(now, waiting=None), 0.95).risk / pace if pace else 0.0
        except NotEstimable:
            rate = 0.0
        left = 0.0
        if rule is not None and not stopped:
            decision = rule(now, looked)
            looked = now.n if decision.estimate is not None else looked
            stopped = decision.stop
            left = _inputs_to_stop(now, rule) * pace
        rates.append(rate)
        lefts.append(left)
        stops.append(float(stopped))
    return rates, lefts, stops


def _inputs_to_stop(now: Observation, rule: AcceptedRisk) -> float:
    """How many more inputs until it is retired, as a campaign tells its scheduler."""
    try:
        return inputs_to_stop(now, rule).value
    except NotEstimable:
        due = rule.earliest_stop(now)
        return 0.0 if due is None else float(due - now.n)
