"""The measures of RR section 4.4, and the coverage of intervals, over many campaigns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from fuzzwise.errors import BadInput, NotEstimable, need_extra
from fuzzwise.estimators import intervals
from fuzzwise.estimators.registry import estimate_all
from fuzzwise.model import Observation, Truth
from fuzzwise.snapshot import Campaign

if TYPE_CHECKING:
    import polars as pl

BEYOND = 1000
"""Averages over n leave out the first inputs, where every estimator is at a loss."""

TRUTH_CONFIDENCE = 0.95
"""Confidence of the interval that a measured truth is given for its own sampling error."""

NOTHING_LEFT = Truth(0.0)


def load_polars() -> Any:
    """The polars module, or the command that installs it."""
    try:
        import polars
    except ImportError as error:
        raise need_extra("The evaluation of estimators", "polars", "lab") from error
    return polars


def beside_truth(campaigns: Iterable[Campaign], confidence: float = 0.95) -> pl.DataFrame:
    """Every estimate at every point with a truth, one row each.

    Points whose truth is known to be exactly 0 (a simulated urn that holds nothing new any more)
    are left out: no estimator can know that, and none is to be judged by it.
    """
    polars = load_polars()
    rows = [
        row
        for number, campaign in enumerate(campaigns)
        for observation in campaign.observations
        for row in _rows(campaign.subject, f"{number}:{campaign.name}", observation, confidence)
    ]
    if not rows:
        raise BadInput(
            "No observation has a measured discovery probability (field truth), so there is "
            "nothing to judge estimators against."
        )
    text, whole, real = polars.String, polars.Int64, polars.Float64
    schema = {
        "subject": text,
        "campaign": text,
        "n": whole,
        "estimator": text,
        **dict.fromkeys(("value", "low", "high", "truth", "truth_low", "truth_high"), real),
    }
    table: pl.DataFrame = polars.DataFrame(rows, schema=schema, orient="row")
    return table


def _rows(
    subject: str, campaign: str, observation: Observation, confidence: float
) -> Iterator[tuple[object, ...]]:
    """What every estimator says that can, beside the truth; nothing where that is not known."""
    truth = observation.truth
    if truth is None or truth == NOTHING_LEFT:
        return
    low, high = truth_interval(truth)
    for estimator, estimate in estimate_all(observation, confidence).items():
        if not isinstance(estimate, NotEstimable):
            said = (estimator, estimate.value, estimate.low, estimate.high)
            yield (subject, campaign, observation.n, *said, truth.probability, low, high)


def truth_interval(truth: Truth) -> tuple[float, float]:
    """The interval of a measured truth; a point for an exact one."""
    if truth.discoveries is None or truth.inputs is None:
        return truth.probability, truth.probability
    return intervals.binomial(truth.discoveries, truth.inputs, TRUTH_CONFIDENCE)


def score(estimates: pl.DataFrame) -> pl.DataFrame:
    """The measures per subject, estimator and n.

    ``bias``: mean of log10 Δ̂ - log10 Δ (33), points without a logarithm left out and counted in
    ``left_out``; ``variance``: sample variance of log10 Δ̂; ``under``: share of estimates below
    the truth; ``coverage``: share of intervals that the truth agrees with; ``beyond``: share of
    intervals that end below it, the dangerous way to miss.
    """
    polars = load_polars()
    col = polars.col
    usable = (col("value") > 0) & (col("truth") > 0)
    error = col("value").log10() - col("truth").log10()
    agrees = (col("low") <= col("truth_high")) & (col("high") >= col("truth_low"))
    scores: pl.DataFrame = (
        estimates.group_by("subject", "estimator", "n", maintain_order=True)
        .agg(
            runs=polars.len(),
            left_out=(~usable).sum(),
            bias=error.filter(usable).mean(),
            variance=col("value").filter(usable).log10().var(),
            under=(col("value") < col("truth")).mean(),
            coverage=agrees.mean(),
            beyond=(col("high") < col("truth_low")).mean(),
        )
        .sort("subject", "n", maintain_order=True)
    )
    return scores


def summarise(scores: pl.DataFrame, beyond: int = BEYOND) -> pl.DataFrame:
    """The measures per subject and estimator, each the mean over the points n > ``beyond``."""
    polars = load_polars()
    col = polars.col
    late = scores.filter(col("n") > beyond)
    if late.is_empty():
        raise BadInput(f"There is no data point beyond {beyond:,} inputs to average over.")
    measures = ("bias", "variance", "under", "coverage", "beyond")
    summary: pl.DataFrame = late.group_by("subject", "estimator", maintain_order=True).agg(
        points=polars.len(),
        left_out=col("left_out").sum(),
        **{name: col(name).mean() for name in measures},
    )
    return summary
