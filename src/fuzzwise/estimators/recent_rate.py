"""The campaign's own discoveries, counted over its recent past."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fuzzwise.estimators.base import (
    earliest_and_latest,
    need_discoveries,
    nothing_yet,
    rule_of_three,
)
from fuzzwise.estimators.waiting import raised
from fuzzwise.model import Estimate, Floats, Ints, Observation
from fuzzwise.power_law import log_age
from fuzzwise.special import gammaincinv

EXPONENTS: Floats = np.linspace(-3.0, 2.5, 45)
"""The b of laws n^(b-1) by which Δ may fall within the window."""

USUAL, SPREAD = -0.1, 0.6
"""Which of them to expect, before anything is seen: a normal distribution."""


@dataclass(frozen=True, slots=True)
class RecentRate:
    """Δ̂ = discoveries in a recent window, over its inputs, less what Δ fell by within it.

    It counts inputs that really did discover something for this campaign, under nearly the
    present corpus, so adaptive bias has nothing to act on; and it needs no counts per seed, so
    any fuzzer's log will do.

    The window is the last quarter of all inputs. Where that has fewer than ``enough`` discoveries,
    it begins earlier, with the last discovery before those, but not before the half.

    Within it Δ falls as a power law n^(b-1). D discoveries at ages u_i = ln(n/n_i), in a window
    that is U = ln(n/start) long, have the likelihood Δ^D·exp(-Δ·n·h(b) - bΣu_i), with h(b) =
    (1-e^(-bU))/b. b has a normal prior, so that few discoveries are not taken for a trend. Given
    b, nΔ·h(b) is a gamma variable of shape D + 1/2, and the estimate is the mean over b.

    Interval: a gamma distribution with the mean and the variance of that mixture, of shape D for
    the lower end and D + 1 for the upper, as in Garwood's Poisson interval. Discoveries come in
    bursts, since one opens the way to others, and no law holds for long: so the variance has
    another part, (u·mean)², however many discoveries there are. The rarer they are, the more the
    latest few seeds weigh, and the further Δ of the moment is from any mean over the past: u² =
    ``unlike``² + ``rarer``² for each power of ten by which Δ̂ is below ``rare``, up to two of them.

    With no discovery in the window, the m inputs since the last one showed nothing: 1/(m+2), and
    the Rule of Three 1 - α^(1/m) as upper end, from 0.

    Where discoveries are only known in groups (``counted_at``), the interval holds those that they
    would give if all of them were the first inputs of their groups, and if all were the last.

    All that is of seeds that were mutated. Where preferred seeds still wait for their first turn
    (``waiting``), the estimate and its upper end are raised for them: ``waiting.raised``.
    """

    window: float = 0.25
    widest: float = 0.5
    enough: int = 10
    unlike: float = 0.22
    rarer: float = 0.2
    rare: float = 0.003
    name: str = "recent-rate"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate from the discoveries in the window."""
        return raised(self._of_tried_seeds(observation, confidence), observation)

    def _of_tried_seeds(self, observation: Observation, confidence: float) -> Estimate:
        times = need_discoveries(observation)
        n = observation.n
        if n == 0:
            return nothing_yet(self.name, confidence)
        told = self._of_numbers(observation, times, confidence)
        if observation.counted_at is None:
            return told
        ways = [
            self._of_numbers(observation, way, confidence)
            for way in earliest_and_latest(times, observation.counted_at, n)
        ]
        low = min(way.low or 0.0 for way in (told, *ways))
        high = max(way.high or 1.0 for way in (told, *ways))
        return replace(told, low=low, high=high)

    def _of_numbers(self, observation: Observation, times: Ints, confidence: float) -> Estimate:
        n = observation.n
        start = self._start(times, n)
        recent = times[int(times.searchsorted(start, side="right")) :]
        if len(recent) == 0:
            return rule_of_three(self.name, observation, times, confidence)
        law = _FallingRate(float(log_age(recent, n).sum()), np.log(n / max(start, 0.5)))
        found, tail = len(recent), (1 - confidence) / 2
        value = min(1.0, law.mean_and_shape(found + 0.5, 0.0)[0] / n)
        spread = self._spread(value)
        low, high = (
            mean / shape * float(gammaincinv(shape, share)) / n
            for share, (mean, shape) in (
                (tail, law.mean_and_shape(found, spread)),
                (1 - tail, law.mean_and_shape(found + 1.0, spread)),
            )
        )
        high = min(1.0, max(value, high))
        return Estimate(value, min(value, low), high, confidence, self.name, n)

    def _spread(self, value: float) -> float:
        """The relative variance that is not that of a count: u² above."""
        orders = min(2.0, max(0.0, np.log10(self.rare / value)))
        return float(self.unlike**2 + self.rarer**2 * orders)

    def _start(self, times: Ints, n: int) -> int:
        """The last input before the window."""
        earliest = n - max(1, round(n * self.widest))
        start = n - max(1, round(n * self.window))
        if len(times) < self.enough:
            return earliest
        return max(earliest, min(start, int(times[-self.enough])))


class _FallingRate:
    """What a window says of nΔ, for a sum of log ages and a length, in logarithms of inputs."""

    def __init__(self, ages: float, length: float) -> None:
        bent = np.where(np.abs(EXPONENTS) < 1e-9, 1e-9, EXPONENTS)
        self._exposure = -np.expm1(-bent * length) / bent
        self._log_weight = -EXPONENTS * ages - 0.5 * ((EXPONENTS - USUAL) / SPREAD) ** 2

    def mean_and_shape(self, count: float, spread: float) -> tuple[float, float]:
        """The mean of nΔ after so many discoveries, and the shape of its gamma distribution.

        ``spread`` is a relative variance, beside that of the mean.
        """
        log_weight = self._log_weight - count * np.log(self._exposure)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        first = float((weight / self._exposure).sum())
        second = float((weight / self._exposure**2).sum())
        relative = (count + 1) / count * second / first**2 - 1
        return count * first, 1 / (relative + spread)
