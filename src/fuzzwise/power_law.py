"""Power laws: fitted to measured points, and as the intensity of a discovery process."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

import numpy as np

from fuzzwise.model import Floats, Ints


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """Δ(n) = exp(intercept)·n^slope, fitted by least squares of ln Δ on ln n."""

    intercept: float
    slope: float
    r2: float
    points: int

    def at(self, n: float) -> float:
        """The fitted Δ(n)."""
        return exp(self.intercept + self.slope * log(n))


def fit(n: Floats, delta: Floats, weights: Floats | None = None) -> PowerLaw | None:
    """Weighted least squares in logarithms; points with Δ = 0 or n = 0 have none and are left out.

    None with fewer than two different n. R² is 1 where all Δ are equal: nothing is unexplained.
    """
    usable = (n > 0) & (delta > 0)
    if weights is None:
        weights = np.ones(len(n))
    x, y, w = np.log(n[usable]), np.log(delta[usable]), weights[usable]
    if len(x) < 2 or x.min() == x.max():
        return None
    mean_x = float(w @ x / w.sum())
    mean_y = float(w @ y / w.sum())
    dx, dy = x - mean_x, y - mean_y
    slope = float((w * dx) @ dy / ((w * dx) @ dx))
    total = float((w * dy) @ dy)
    left = float(w @ (dy - slope * dx) ** 2)
    r2 = 1.0 if total <= 1e-24 * max(1.0, mean_y * mean_y) else 1 - left / total
    return PowerLaw(mean_y - slope * mean_x, slope, r2, len(x))


def log_age(discoveries: Ints, n: int) -> Floats:
    """ln(n/n_i) of every discovery, with n_i at the middle of its input (n_i - 1/2).

    The half makes the sum positive even if the last input discovered something, and removes the
    bias of treating counted inputs as a continuous time.
    """
    age: Floats = np.log(n / (discoveries - 0.5))
    return age


@dataclass(frozen=True, slots=True)
class GrowthFit:
    """Discoveries as a Poisson process with intensity λ(t) = Λ·b·t^(b-1)/n^b (Crow-AMSAA).

    ``exponent`` is b̂ = D/S with S = Σ ln(n/n_i); expected discoveries grow as n^b, the discovery
    probability falls as n^(b-1).
    """

    n: int
    discoveries: int
    log_age_sum: float

    @property
    def exponent(self) -> float:
        """The maximum likelihood estimate of b."""
        return self.discoveries / self.log_age_sum

    @property
    def probability(self) -> float:
        """Δ̂(n) = b̂·D/n."""
        return self.exponent * self.discoveries / self.n


def fit_growth(discoveries: Ints, n: int) -> GrowthFit | None:
    """Crow-AMSAA's fit to all discoveries of a campaign; None without any."""
    if len(discoveries) == 0:
        return None
    return GrowthFit(n, len(discoveries), float(log_age(discoveries, n).sum()))
