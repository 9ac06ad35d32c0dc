"""Every scheduler once more, literally and slowly, as chances of the next choice.

Written from the papers, with dictionaries, lists and whole histories;
nothing here comes from the package. ``chances(available)`` gives the probability of each
configuration to be chosen next. Before that, ``chose`` and ``learned`` have told what happened.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from scipy import stats


@dataclass
class Result:
    arm: int
    runs: float
    seconds: float
    bugs: int
    new_bugs: int
    singletons: int


@dataclass
class Restatement:
    """What all of them need: the whole past."""

    count: int
    started: list[int] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def chose(self, arm: int, available: Iterable[int]) -> None:
        self.started.append(arm)

    def learned(self, result: Result) -> None:
        self.results.append(result)

    def chances(self, available: Iterable[int]) -> dict[int, float]:
        raise NotImplementedError

    def of(self, arm: int) -> list[Result]:
        return [r for r in self.results if r.arm == arm]

    def runs(self, arm: int) -> float:
        return sum(r.runs for r in self.of(arm))

    def seconds(self, arm: int) -> float:
        return sum(r.seconds for r in self.of(arm))

    def bugs(self, arm: int) -> int:
        return sum(r.bugs for r in self.of(arm))

    def new_bugs(self, arm: int) -> int:
        return sum(r.new_bugs for r in self.of(arm))

    def singletons(self, arm: int) -> int:
        return self.of(arm)[-1].singletons if self.of(arm) else 0


def uniform(arms: Iterable[int]) -> dict[int, float]:
    arms = list(arms)
    return {a: 1 / len(arms) for a in arms}


def proportional(weights: dict[int, float]) -> dict[int, float]:
    total = sum(weights.values())
    return {a: w / total for a, w in weights.items()} if total > 0 else uniform(weights)


def greatest(values: dict[int, float]) -> dict[int, float]:
    """All of the highest; values that differ by rounding alone count as the same."""
    best = max(values.values())
    return uniform(a for a, v in values.items() if math.isclose(v, best, rel_tol=1e-12))


def mixed(share: float, one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
    arms = set(one) | set(other)
    return {a: share * one.get(a, 0) + (1 - share) * other.get(a, 0) for a in arms}


class AfterOneEach(Restatement):
    """Every configuration gets one epoch first, in the order of their numbers."""

    def chances(self, available):
        waiting = [a for a in sorted(available) if a not in self.started]
        return {waiting[0]: 1.0} if waiting else self.afterwards(available)

    def afterwards(self, available):
        raise NotImplementedError


class RoundRobin(Restatement):
    def chances(self, available):
        order = [a for a in range(self.count) if a in set(available)]
        if not self.started:
            return {order[0]: 1.0}
        later = [a for a in order if a > self.started[-1]]
        return {(later or order)[0]: 1.0}


class UniformRandom(Restatement):
    def chances(self, available):
        return uniform(available)


@dataclass
class WithBelief(AfterOneEach):
    belief: str = "rate"

    def value(self, arm):
        n, time, m = self.runs(arm), self.seconds(arm), self.bugs(arm)
        top, bottom = {
            "rpm": (3, n),
            "ewt": (3, time),
            "rgr": (m, 1),
            "density": (m, n),
            "rate": (m, time),
        }[self.belief]
        return top / bottom if bottom > 0 and self.of(arm) else 0.0


class WeightedRandom(WithBelief):
    def afterwards(self, available):
        return proportional({a: self.value(a) for a in available})


@dataclass
class EpsilonGreedy(WithBelief):
    epsilon: float = 0.1

    def afterwards(self, available):
        values = {a: self.value(a) for a in available}
        return mixed(self.epsilon, uniform(available), greatest(values))


@dataclass
class Exp3S1(Restatement):
    """Restart r, finished steps of it, weights (none at its start), and p at the last draw."""

    r: int = 0
    step: int = 0
    w: dict[int, float] = field(default_factory=dict)
    drawn_with: dict[int, float] = field(default_factory=dict)

    def parameters(self):
        t_r = 2**self.r
        k = self.count
        return 1 / t_r, min(1.0, math.sqrt(k * math.log(k * t_r) / t_r))

    def weights(self):
        return self.w or dict.fromkeys(range(self.count), 1.0)

    def chances(self, available):
        _, gamma = self.parameters()
        arms = list(available)
        total = sum(self.weights()[a] for a in arms)
        return {a: (1 - gamma) * self.weights()[a] / total + gamma / len(arms) for a in arms}

    def chose(self, arm, available):
        super().chose(arm, available)
        self.drawn_with[arm] = self.chances(available)[arm]

    def learned(self, result):
        super().learned(result)
        alpha, gamma = self.parameters()
        k, w = self.count, self.weights()
        x = 1.0 if result.new_bugs > 0 else 0.0
        total = sum(w.values())
        self.w = {
            j: w[j] * math.exp(gamma * (x / self.drawn_with[j] if j == result.arm else 0.0) / k)
            + math.e * alpha / k * total
            for j in range(k)
        }
        self.step += 1
        if self.step == 2**self.r:
            self.r, self.step, self.w = self.r + 1, 0, {}


class Bff(Restatement):
    def chances(self, available):
        def weight(a):
            s, t = self.bugs(a), self.runs(a)
            return (s + 1) / (max(t, s) + 2)

        return proportional({a: weight(a) for a in available})


@dataclass
class Boian(AfterOneEach):
    discounts: tuple[float, ...] = (0.9, 0.99, 0.999)
    first_epsilon: float = 0.01
    last_epsilon: float = 0.75
    half_life: float = 1000.0

    def afterwards(self, available):
        s = len(self.started)
        gamma = self.discounts[s % 3]
        rise = self.last_epsilon - self.first_epsilon
        epsilon = self.last_epsilon - rise * 0.5 ** (s / (self.half_life * self.count))

        def discounted(values):
            return sum(v * gamma**age for age, v in enumerate(reversed(values)))

        def value(a):
            time = discounted([r.seconds for r in self.of(a)])
            return discounted([r.new_bugs for r in self.of(a)]) / time if time > 0 else 0.0

        return mixed(epsilon, uniform(available), greatest({a: value(a) for a in available}))


@dataclass
class HypoFuzz(AfterOneEach):
    floor: float = 0.01

    def afterwards(self, available):
        def value(a):
            if not self.of(a):
                return 0.0
            if self.seconds(a) == 0:
                return 1.0
            since = 0.0
            for r in self.of(a):
                since = 0.0 if r.bugs else since + r.runs
            return (1 / since if since else 1.0) * self.runs(a) / self.seconds(a)

        values = {a: value(a) for a in available}
        top = max(values.values())
        softmax = proportional({a: math.exp(v - top) for a, v in values.items()})
        return proportional({a: max(p, self.floor) for a, p in softmax.items()})


@dataclass
class GoodUcb(AfterOneEach):
    c: float = 0.5

    def afterwards(self, available):
        t = max(1.0, sum(r.runs for r in self.results))

        def index(a):
            n, time = self.runs(a), self.seconds(a)
            if n == 0 or time == 0:
                return 0.0
            return (self.singletons(a) / n + self.c * math.sqrt(math.log(4 * t) / n)) * n / time

        return greatest({a: index(a) for a in available})


@dataclass
class Thompson(AfterOneEach):
    discount: float = 0.999
    strength: float = 0.1

    def afterwards(self, available):
        found = sum(r.new_bugs for r in self.results)
        time = sum(r.seconds for r in self.results)
        mean = (self.strength + found) / time if time > 0 else self.strength
        posterior = {}
        for a in available:
            shape, rate = self.strength, self.strength / mean
            for age, r in enumerate(reversed(self.of(a))):
                shape += r.new_bugs * self.discount**age
                rate += r.seconds * self.discount**age
            posterior[a] = stats.gamma(shape, scale=1 / rate)
        steps = 1000
        quantiles = [(i + 0.5) / steps for i in range(steps)]
        chances = {}
        for a, own in posterior.items():
            product = 1.0
            points = own.ppf(quantiles)
            for other, distribution in posterior.items():
                if other != a:
                    product = product * distribution.cdf(points)
            chances[a] = float(sum(product) / steps) if len(posterior) > 1 else 1.0
        return proportional(chances)


class Rotting(AfterOneEach):
    """Windows of 1, 2, 4, … epochs: the newest that is complete, counted from the first epoch."""

    def window(self, arm, h):
        epochs = self.of(arm)
        end = len(epochs) // h * h
        block = epochs[end - h : end]
        return sum(r.new_bugs for r in block), sum(r.seconds for r in block)

    def lengths(self, arm):
        return [2**j for j in range(24) if 2**j <= len(self.of(arm))]


@dataclass
class RawUcb(Rotting):
    alpha: float = 1.4
    sigma: float = 0.1

    def afterwards(self, available):
        t = max(1, len(self.results))

        def index(a):
            bounds = []
            for h in self.lengths(a):
                bugs, seconds = self.window(a, h)
                if seconds > 0:
                    mean = bugs / h
                    c = math.sqrt(2 * self.alpha * self.sigma**2 * math.log(t) / h)
                    bounds.append((mean + c) / (seconds / h))
            return min(bounds, default=0.0)

        return greatest({a: index(a) for a in available})


@dataclass
class Fewa(Rotting):
    alpha: float = 0.06
    sigma: float = 0.1

    def afterwards(self, available):
        t = max(1, len(self.results))
        kept, h = set(available), 1
        while True:
            fewest = min(len(self.of(a)) for a in kept)
            if fewest < h:
                return uniform(a for a in kept if len(self.of(a)) == fewest)
            low, high = {}, {}
            for a in kept:
                bugs, seconds = self.window(a, h)
                c = math.sqrt(2 * self.alpha * self.sigma**2 * math.log(t) / h)
                low[a] = (bugs / h - c) / (seconds / h) if seconds > 0 else 0.0
                high[a] = (bugs / h + c) / (seconds / h) if seconds > 0 else 0.0
            best = max(low.values())
            kept = {a for a in kept if high[a] > best or math.isclose(high[a], best)}
            h *= 2


@dataclass
class RiskRate(AfterOneEach):
    prior: float = 0.25
    duplicates: float = 0.5

    def afterwards(self, available):
        def risk_per_second(a):
            n, time = self.runs(a), self.seconds(a)
            if time == 0:
                return 0.0
            others = max(0, self.bugs(a) - self.new_bugs(a))
            discoveries = self.new_bugs(a) + self.duplicates * others
            growth = (discoveries + self.prior) / (math.log(n) if n > math.e else 1.0)
            return growth / n * (n / time) if n else growth / time

        return greatest({a: risk_per_second(a) for a in available})
