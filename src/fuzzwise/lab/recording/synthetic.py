"""Recordings drawn from a model, so that the truth behind them is known.

Programs have several seeds each; a configuration is a program with one of them. Every configuration
has a constant speed and bugs that each run shows with constant probabilities, at most one a run:

- speeds: log-uniform, over orders of magnitude;
- bugs of a program: negative binomial, so that many have none and a few have many; each falls on
  one of the program's configurations, and a share of them on several;
- probabilities: log-uniform, over orders of magnitude, drawn anew for each configuration of a bug.

Drawn event by event: the gap to the next crash that is kept is geometric, its bug falls in
proportion to the probabilities. Only the first few crashes of a bug in a configuration are kept
(a replay needs the first two: the bug itself, and when it stops to be a singleton); with many
bugs and days of runs the others are millions of points that say nothing new.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.lab.recording.recording import MARK, ConfigurationLog, Recording
from fuzzwise.model import Floats, Ints


@dataclass(frozen=True)
class SyntheticCampaign:
    """What to draw a recording from; equal campaigns give equal recordings.

    ``bugs``: how many there are, divided by the configurations, on average; ``evenness``: the shape
    of the negative binomial distribution of a program's bugs: 0.25 leaves 3 in 10 programs without
    any, a higher one fewer. ``shared``: share of the bugs that occur in several configurations
    of their program (2 to all of them, each number equally likely).
    ``speed_variation``: standard deviation of the log of the speed between two progress marks.
    ``kept``: crashes of one bug in one configuration that are recorded.
    """

    configurations: int = 100
    seconds: float = 10 * 86_400.0
    seed: int = 0
    bugs: float = 10.0
    evenness: float = 0.25
    rarest: float = 1e-9
    commonest: float = 1e-2
    slowest: float = 0.1
    fastest: float = 1000.0
    shared: float = 0.2
    seeds_per_program: int = 4
    marks: int = 200
    speed_variation: float = 0.0
    kept: int = 10

    def __post_init__(self) -> None:
        whole = ("configurations", "seeds_per_program", "marks", "kept")
        for name in whole:
            if getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}; expected 1 or more.")
        if not 1e-6 <= self.seconds <= 1e9:
            raise BadInput(f"seconds is {self.seconds}; expected 0.000001 to a billion.")
        if not (0 <= self.bugs <= 1e4 and 1e-6 <= self.evenness <= 1e6):
            raise BadInput("bugs must be 0 to 10,000, and evenness between 1e-6 and 1e6.")
        if not 1e-15 <= self.rarest <= self.commonest <= 1:
            raise BadInput("Probabilities must be 1e-15 <= rarest <= commonest <= 1.")
        if not 0 < self.slowest <= self.fastest <= 1e6:
            raise BadInput("Runs per second must be 0 < slowest <= fastest <= a million.")
        if not 0 <= self.shared <= 1:
            raise BadInput(f"shared is {self.shared}; expected a share between 0 and 1.")
        if not 0 <= self.speed_variation <= 3:
            raise BadInput(f"speed_variation is {self.speed_variation}; expected 0 to 3.")


@dataclass(frozen=True, eq=False)
class ConfigurationTruth:
    """What a configuration was drawn from: ``probabilities[j]`` is that of ``bugs[j]``, per run."""

    runs_per_second: float
    bugs: Ints
    probabilities: Floats


@dataclass(frozen=True, eq=False)
class SyntheticTruth:
    """What a recording was drawn from. Bugs that it shows have the same numbers in both."""

    configurations: tuple[ConfigurationTruth, ...]
    bugs: tuple[str, ...]


def generate(campaign: SyntheticCampaign) -> tuple[Recording, SyntheticTruth]:
    """A recording, and the speeds and probabilities behind it, bugs it never shows included."""
    plan, *streams = (
        np.random.default_rng(child)
        for child in np.random.SeedSequence(campaign.seed).spawn(campaign.configurations + 1)
    )
    speeds = _log_uniform(plan, campaign.slowest, campaign.fastest, campaign.configurations)
    places = _places_of_bugs(campaign, plan)
    drawn = []
    for i, rng in enumerate(streams):
        bugs = places[i]
        chances = _log_uniform(rng, campaign.rarest, campaign.commonest, len(bugs))
        chances /= max(1.0, float(chances.sum()))  # a run shows one bug at most
        clock = _Clock(campaign, float(speeds[i]), rng)
        drawn.append((bugs, chances, clock, *_crashes(chances, clock.total_runs, campaign, rng)))

    total = 1 + max((int(bugs.max()) for bugs in places if len(bugs)), default=-1)
    shown = np.zeros(total, dtype=bool)
    for bugs, _, _, _, which in drawn:
        shown[bugs[which]] = True
    order = np.argsort(~shown, kind="stable")  # those that the recording shows come first
    number = np.empty(total, dtype=np.int64)
    number[order] = np.arange(total)
    names = tuple(f"bug-{k}" for k in order.tolist())

    logs, truths = [], []
    for i, (bugs, chances, clock, runs, which) in enumerate(drawn):
        program, seed = divmod(i, campaign.seeds_per_program)
        logs.append(clock.log(f"program-{program}/seed-{seed}", runs, number[bugs[which]]))
        truths.append(ConfigurationTruth(float(speeds[i]), number[bugs], chances))
    recording = Recording(tuple(logs), names[: int(shown.sum())])
    return recording, SyntheticTruth(tuple(truths), names)


def adversarial(
    configurations: int,
    *,
    rich: int = -1,
    epochs: int = 10,
    epoch_runs: int = 200,
    epoch_seconds: float = 10.0,
) -> Recording:
    """The recording on which a deterministic scheduler is K times slower than the optimum (FS §4).

    All configurations run at the same speed and only one has bugs: a new one in the last run of
    each of its epochs. Let ``rich`` be the configuration that the scheduler visits last (the last
    of all, for Round-Robin): it needs K epochs where the optimum needs one.
    """
    if configurations < 1 or epochs < 1:
        raise BadInput("An adversarial recording needs at least 1 configuration and 1 epoch.")
    if not -configurations <= rich < configurations:
        raise BadInput(f"There is no configuration {rich}; there are {configurations}.")
    ends = np.arange(1, epochs + 1)
    runs, microseconds = ends * epoch_runs, ends * round(epoch_seconds * 1e6)
    nothing = np.full(epochs, MARK, dtype=np.int64)
    logs = [
        ConfigurationLog(f"configuration-{i}", runs, microseconds, nothing)
        for i in range(configurations)
    ]
    logs[rich] = ConfigurationLog(logs[rich].name, runs, microseconds, ends - 1)
    return Recording(tuple(logs), tuple(f"bug-{k}" for k in range(epochs)))


def _log_uniform(rng: np.random.Generator, low: float, high: float, count: int) -> Floats:
    return np.exp(rng.uniform(math.log(low), math.log(high), count))


def _places_of_bugs(campaign: SyntheticCampaign, rng: np.random.Generator) -> list[Ints]:
    """The bugs of each configuration, numbered over the whole campaign."""
    places: list[list[int]] = [[] for _ in range(campaign.configurations)]
    bug = 0
    for first in range(0, campaign.configurations, campaign.seeds_per_program):
        siblings = range(first, min(first + campaign.seeds_per_program, campaign.configurations))
        mean = campaign.bugs * len(siblings)
        shape = campaign.evenness
        for is_shared in rng.random(rng.negative_binomial(shape, shape / (shape + mean))) < (
            campaign.shared if len(siblings) > 1 else 0.0
        ):
            count = int(rng.integers(2, len(siblings) + 1)) if is_shared else 1
            for place in rng.choice(siblings, count, replace=False).tolist():
                places[place].append(bug)
            bug += 1
    return [np.array(bugs, dtype=np.int64) for bugs in places]


def _crashes(
    chances: Floats, total_runs: int, campaign: SyntheticCampaign, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """The run numbers of the crashes that are kept, in order, and which bug each shows."""
    runs, which = [], []
    left = np.full(len(chances), campaign.kept)
    weights = chances.copy()
    run = 0
    while (rate := float(weights.sum())) > 0:
        run += int(rng.geometric(min(rate, 1.0)))
        if run > total_runs:
            break
        bug = int(np.searchsorted(np.cumsum(weights), rng.random() * rate, side="right"))
        bug = min(bug, int(np.flatnonzero(weights)[-1]))  # rounding of the sum
        runs.append(run)
        which.append(bug)
        left[bug] -= 1
        if left[bug] == 0:
            weights[bug] = 0.0
    return np.array(runs, dtype=np.int64), np.array(which, dtype=np.int64)


class _Clock:
    """The speed of a configuration over time, as progress marks at equal distances."""

    def __init__(self, campaign: SyntheticCampaign, speed: float, rng: np.random.Generator) -> None:
        end = round(campaign.seconds * 1e6)
        self._times = np.unique(np.linspace(0, end, campaign.marks + 1).round().astype(np.int64))
        spread = campaign.speed_variation
        factors = np.exp(rng.normal(-spread * spread / 2, spread, len(self._times) - 1))
        done = np.cumsum(np.diff(self._times) / 1e6 * speed * factors)
        self._runs = np.concatenate([[0.0], done])
        self.total_runs = int(self._runs[-1])

    def log(self, name: str, runs: Ints, bugs: Ints) -> ConfigurationLog:
        """The log of crashes at those runs, together with the marks."""
        when = np.interp(runs, self._runs, self._times).round().astype(np.int64)
        times = np.concatenate([when, self._times[1:]])
        done = np.concatenate([runs, self._runs[1:].astype(np.int64)])
        shown = np.concatenate([bugs, np.full(len(self._times) - 1, MARK)])
        order = np.lexsort((done, times))
        return ConfigurationLog(name, done[order], times[order], shown[order])
