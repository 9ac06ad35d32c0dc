"""Metrics for Prometheus: one collector over the stores; docs/metrics.md has names and units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    StateSetMetricFamily,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry

from fuzzwise.report import left
from fuzzwise.report.campaign.words import upper_risk
from fuzzwise.serve.campaigns import Campaign
from fuzzwise.store.states import BROKEN, FUZZING, RETIRED, WAITING, CampaignState, TargetState
from fuzzwise.text import printable

STATES = (WAITING, FUZZING, RETIRED, BROKEN)
_OF_TARGET = ("campaign", "target")

Value = Callable[[TargetState], float | None]

COUNTERS: tuple[tuple[str, str, Value], ...] = (
    ("inputs", "Inputs that the target has run, of all generations.", lambda t: t.inputs),
    ("core_seconds", "Time on cores that the target has had.", lambda t: t.seconds),
    ("epochs", "Epochs of the target that have ended.", lambda t: t.epochs),
)
GAUGES: tuple[tuple[str, str, Value], ...] = (
    # These begin again when a target is built anew: they are no counters.
    (
        "discoveries",
        "Inputs of the present build that showed something new.",
        lambda t: t.discoveries,
    ),
    ("species", "Species that the present build has shown.", lambda t: t.species),
    ("corpus_seeds", "Seeds in the corpus of the target.", lambda t: t.corpus),
    ("crashes", "Crashes of the present build.", lambda t: t.crashes),
    ("bugs", "Distinct bugs that the target has shown.", lambda t: len(t.bugs)),
    (
        "risk_ratio",
        "Estimated probability that the next input shows something new.",
        lambda t: t.risk.risk if t.risk else None,
    ),
    ("risk_upper_ratio", "Upper end of the interval of the risk.", upper_risk),
    ("accepted_risk_ratio", "Risk at which the target is retired.", lambda t: t.accepted_risk),
    (
        "left_seconds",
        "Time on a core until the target may be retired; none where that is not known.",
        left.of_target,
    ),
    (
        "time_share_ratio",
        "Part of all time on cores that the target has had.",
        lambda t: t.share_of_time,
    ),
)


class StoreCollector(Collector):
    """Reads each campaign when it is asked, at the pace at which its page does."""

    def __init__(self, campaigns: Sequence[Campaign]) -> None:
        self._campaigns = campaigns

    def collect(self) -> Iterator[Metric]:
        """All metrics of all campaigns that can be read."""
        known: list[tuple[str, CampaignState]] = []
        up = GaugeMetricFamily(
            "fuzzwise_store_up",
            "Whether the store of the campaign could be read.",
            labels=["campaign"],
        )
        for campaign in self._campaigns:
            moment = campaign.look()
            up.add_metric([campaign.key], float(not moment.problem and moment.state is not None))
            if moment.state is not None:
                known.append((campaign.key, moment.state))
        yield up
        yield from _of_campaigns(known)
        yield from _of_targets(known)


def _of_campaigns(known: Sequence[tuple[str, CampaignState]]) -> Iterator[Metric]:
    def gauge(name: str, told: str, value: Callable[[CampaignState], float | None]) -> Metric:
        made = GaugeMetricFamily(f"fuzzwise_campaign_{name}", told, labels=["campaign"])
        for key, state in known:
            if (number := value(state)) is not None:
                made.add_metric([key], number)
        return made

    def counter(name: str, told: str, value: Callable[[CampaignState], float | None]) -> Metric:
        made = CounterMetricFamily(f"fuzzwise_campaign_{name}", told, labels=["campaign"])
        for key, state in known:
            if (number := value(state)) is not None:
                made.add_metric([key], number)
        return made

    yield counter("seconds", "Running time of the campaign, over all runs.", lambda s: s.seconds)
    yield counter(
        "manager_cpu_seconds",
        "Time on cores of fuzzwise itself, over all runs.",
        lambda s: s.own_seconds,
    )
    yield gauge("running", "1 while a process runs the campaign.", lambda s: float(s.running))
    yield gauge("budget_seconds", "Running time it may use.", lambda s: s.budget)
    yield gauge("cores", "Cores of the campaign.", lambda s: s.cores)
    yield gauge("free_cores", "Cores on which no target runs.", _free_cores)
    yield gauge("bugs", "Distinct bugs of the campaign.", lambda s: len(s.bugs))


def _free_cores(state: CampaignState) -> float:
    """A target that runs takes a core, or several; the store does not tell how many."""
    busy = sum(target.state == FUZZING for target in state.targets) if state.running else 0
    return max(0, state.cores - busy)


def _of_targets(known: Sequence[tuple[str, CampaignState]]) -> Iterator[Metric]:
    each = [
        ([key, printable(target.name)], target) for key, state in known for target in state.targets
    ]
    kinds = ((CounterMetricFamily, COUNTERS), (GaugeMetricFamily, GAUGES))
    for family, table in kinds:
        for name, told, value in table:
            made = family(f"fuzzwise_target_{name}", told, labels=_OF_TARGET)
            for labels, target in each:
                if (number := value(target)) is not None:
                    made.add_metric(labels, number)
            yield made
    states = StateSetMetricFamily(
        "fuzzwise_target_state", "1 for the state in which the target is.", labels=_OF_TARGET
    )
    for labels, target in each:
        states.add_metric(labels, {state: state == target.state for state in STATES})
    yield states


def metrics_text(campaigns: Sequence[Campaign], accept: str) -> tuple[bytes, str]:
    """All metrics in the format that is asked for, and its type."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(StoreCollector(campaigns))
    encode, kind = choose_encoder(accept)
    return encode(registry), kind
