"""What every scheduler is: a policy, an epoch length, and the state they make together."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.model import Floats
from fuzzwise.schedulers.kernel import (
    AVAILABLE,
    BELIEF,
    EPOCH_RECENT_BUGS,
    OWN,
    RUNS,
    STARTED,
    Choose,
    Learn,
    account,
)

LEAST_LOOK = 1.0
"""Seconds of the shortest first turn: to start a target takes up to half of that."""


class Functions(NamedTuple):
    """The two functions that make a policy (see ``kernel``)."""

    choose: Choose
    learn: Learn


class Policy:
    """How to choose; subclasses are frozen dataclasses, their fields are the parameters."""

    functions: ClassVar[Functions]
    own_columns: ClassVar[int] = 0
    """How many columns it keeps for each configuration, besides the common ones."""
    first_turn: ClassVar[float] = 1.0
    """How long the first turn of a configuration is in a live campaign, as a share of an epoch, but
    for ``LEAST_LOOK``; the next ones double until they are whole epochs. Replays of recorded runs
    have epochs of one length."""

    needs_coverage: ClassVar[bool] = False
    """Whether it chooses by coverage, which black boxes do not tell."""

    @property
    def name(self) -> str:
        """Its name without the kind of epoch, such as ``weighted-random/rate``."""
        raise NotImplementedError

    def memory(self, count: int) -> Floats:  # noqa: ARG002
        """What it remembers at the start for that many configurations, parameters included.

        Compiled functions need at least one cell.
        """
        return np.zeros(1)


@dataclass(frozen=True)
class Epoch:
    """How long a configuration is fuzzed before the next choice: runs or seconds (FS §4.4)."""

    kind: Literal["fixed-run", "fixed-time"]
    length: float

    def __post_init__(self) -> None:
        unit = "runs" if self.kind == "fixed-run" else "seconds"
        smallest = 1 if self.kind == "fixed-run" else 1e-6
        if not smallest <= self.length < float("inf"):
            raise BadInput(f"An epoch of {self.length} {unit} is not possible; give more.")
        if self.kind == "fixed-run" and self.length != int(self.length):
            raise BadInput(f"An epoch of {self.length} runs is not possible; give a whole number.")


FIXED_RUN = Epoch("fixed-run", 200)
FIXED_TIME = Epoch("fixed-time", 10.0)


@dataclass(frozen=True)
class Algorithm:
    """A policy together with the epochs it hands out: what a replay compares."""

    epoch: Epoch
    policy: Policy

    @property
    def name(self) -> str:
        """The name by which users call it, such as ``fixed-time/weighted-random/rate``."""
        return f"{self.epoch.kind}/{self.policy.name}"


@dataclass(frozen=True)
class EpochResult:
    """What an epoch showed; a scheduler sees nothing else.

    ``bugs`` are new to the configuration, ``new_bugs`` new to the campaign, and ``singletons`` are
    the bugs that the configuration has shown exactly once, counted since its beginning.

    Where coverage is seen: ``kept`` are the inputs so far that were kept because they showed new
    coverage, and ``discovery_rate`` how many more a second are to be expected now. Where a risk is
    accepted: ``seconds_left`` until the configuration reaches it and is retired. Live campaigns
    tell ``recent_bugs``, the bugs that it has shown in the second half of its runs; -1: not told.
    ``species`` are all that it has seen so far, of coverage; ``discoveries`` are the runs of the
    epoch that showed new ones, and ``runs_since`` those after the last of all such runs.

    ``crashes`` are the runs of the epoch that failed, by whichever bug, and ``stalls`` those of
    them that ended for want of time or of memory.
    """

    runs: int
    seconds: float
    bugs: int = 0
    new_bugs: int = 0
    singletons: int = 0
    kept: int = 0
    discovery_rate: float = 0.0
    seconds_left: float = 0.0
    recent_bugs: int = -1
    species: int = 0
    discoveries: int = 0
    runs_since: int = 0
    crashes: int = 0
    stalls: int = 0


class Scheduler:
    """A policy at work on a number of configurations, one choice at a time.

    Results may come in any order: a configuration that must not be chosen for a while (its jobs are
    all busy, or it is retired) is paused.
    """

    def __init__(self, policy: Policy, count: int, rng: np.random.Generator) -> None:
        """For ``count`` configurations, all of them available."""
        if count < 1:
            raise BadInput("There is nothing to schedule: give at least one configuration.")
        self.policy = policy
        self._arms = start_arms(policy, count)
        self._turns = [0] * count
        self._memory = policy.memory(count)
        self._rng = rng

    def choose(self) -> int:
        """The configuration that gets the next epoch."""
        if not self.is_anyone_available():
            raise BadInput("No configuration is available: all of them are retired or busy.")
        arm = int(self.policy.functions.choose(self._arms, self._memory, self._rng))
        self._arms[arm, STARTED] += 1
        self._turns[arm] += 1
        return arm

    def learn(self, arm: int, result: EpochResult) -> None:
        """Take in what an epoch of a configuration showed."""
        epoch = np.array(dataclasses.astuple(result), float)
        epoch[EPOCH_RECENT_BUGS] += 1
        account(self._arms, arm, epoch)
        self.policy.functions.learn(self._arms, self._memory, arm, epoch)

    def belief(self, arm: int) -> float:
        """What it expects of a configuration; 0 where the policy has no beliefs, or none yet."""
        return float(self._arms[arm, BELIEF])

    def next_best(self, arm: int) -> int | None:
        """The available configuration, other than this one, of which it expects most."""
        beliefs = np.where(self._arms[:, AVAILABLE] > 0, self._arms[:, BELIEF], -np.inf)
        beliefs[arm] = -np.inf
        best = int(beliefs.argmax())
        return None if np.isinf(beliefs[best]) else best

    def started(self, arm: int) -> int:
        """How many epochs a configuration was given; none as long as it is not yet started."""
        return int(self._arms[arm, STARTED])

    def not_yet(self, arm: int) -> None:
        """A turn without a run: where it never had one, the next one is its first turn again.

        Policies that begin with a turn for everybody so choose it before all that are started.
        """
        if self._arms[arm, RUNS] == 0.0:
            self._arms[arm, STARTED] = 0.0

    def next_turn(self, arm: int) -> float:
        """How long its present turn is to be, as a share of an epoch."""
        turns = min(self._turns[arm], 64)
        return float(min(1.0, self.policy.first_turn * 2.0 ** (turns - 1)))

    def recall(self, arm: int, result: EpochResult) -> None:
        """Take in, as if it were one epoch, all that an earlier scheduler knew."""
        self._arms[arm, STARTED] += 1
        self._turns[arm] += 1
        self.learn(arm, result)

    def is_anyone_available(self) -> bool:
        """Whether there is a configuration to choose."""
        return bool(self._arms[:, AVAILABLE].any())

    def pause(self, arm: int) -> None:
        """Leave a configuration out of the choices until it is resumed."""
        self._arms[arm, AVAILABLE] = 0.0

    def resume(self, arm: int) -> None:
        """Let a configuration be chosen again."""
        self._arms[arm, AVAILABLE] = 1.0


def start_arms(policy: Policy, count: int) -> Floats:
    """The table of configurations before the first epoch."""
    arms = np.zeros((count, OWN + policy.own_columns))
    arms[:, AVAILABLE] = 1.0
    return arms
