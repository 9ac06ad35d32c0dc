"""The campaign's own discoveries, counted over its recent past."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p

from fuzzwise.estimators import intervals
from fuzzwise.estimators.base import (
    found_since,
    need_discoveries,
    nothing_yet,
    rule_of_three,
)
from fuzzwise.estimators.waiting import raised
from fuzzwise.model import Estimate, Observation


@dataclass(frozen=True, slots=True)
class RecentRate:
    """Δ̂ = discoveries in (n/2, n] divided by n/2.

    It counts inputs that really did discover something for this campaign, under nearly the
    present corpus, so adaptive bias has nothing to act on; and it needs no counts per seed, so
    any fuzzer's log will do. It lags: what it estimates is the mean over the window, a little
    above the present value, on the safe side.

    Interval: the upper end is Garwood's exact Poisson limit for the mean over the window, and the
    present value is below that mean. The lower end is Garwood's divided by -ln(1-w)/w for a window
    of share w (1.39 for the half), the lag of a probability that falls as 1/n. A target that runs
    dry faster than that can be below the lower end; nothing of that makes the upper end wrong.

    With no discovery in the window, the m inputs since the last one showed nothing: 1/(m+2), and
    the Rule of Three 1 - α^(1/m) as upper end, from 0.

    Where discoveries are only known in groups (``counted_at``), some of one may be before the
    window: the lower end is that without them, the upper end that with all of them. Whichever of
    its inputs were the discoveries, the interval so holds the one that their numbers would give.

    All that is of seeds that were mutated. Where preferred seeds still wait for their first turn
    (``waiting``), the estimate and its upper end are raised for them: ``waiting.raised``.
    """

    window: float = 0.5
    name: str = "recent-rate"

    def __call__(self, observation: Observation, confidence: float = 0.95) -> Estimate:
        """Estimate from the discoveries in the last ``window`` share of all inputs."""
        return raised(self._of_tried_seeds(observation, confidence), observation.waiting)

    def _of_tried_seeds(self, observation: Observation, confidence: float) -> Estimate:
        times = need_discoveries(observation)
        n = observation.n
        if n == 0:
            return nothing_yet(self.name, confidence)
        start = n - max(1, round(n * self.window))
        fewest, found, most = found_since(observation, times, start)
        if found == 0:
            return rule_of_three(self.name, observation, times, confidence)
        size = n - start
        low, high = intervals.poisson(fewest, confidence)[0], intervals.poisson(most, confidence)[1]
        lag = -log1p(-self.window) / self.window
        return Estimate(
            found / size, low / lag / size, min(1.0, high / size), confidence, self.name, n
        )
