"""The measures of the evaluation, worked by hand, and the authors' published measurements."""

from __future__ import annotations

import math
import statistics

import polars as pl
import pytest

from fuzzwise.errors import BadInput
from fuzzwise.lab.evaluate import published
from fuzzwise.lab.evaluate.measures import beside_truth, score, summarise, truth_interval
from fuzzwise.lab.evaluate.simulated import as_campaigns
from fuzzwise.lab.urn.urn import Urn, simulate
from fuzzwise.model import Observation, Truth
from fuzzwise.snapshot import Campaign
from observations import ints


def campaign(f1: int, truth: Truth, n: int = 2000) -> Campaign:
    o = Observation(
        n=n, species=500, f=(f1, 0, 0, 0), k=f1, discoveries=ints(range(1, 51)), truth=truth
    )
    return Campaign("c", (o,), subject="s")


def row_of(table: pl.DataFrame, estimator: str) -> dict[str, object]:
    return table.row(by_predicate=pl.col("estimator") == estimator, named=True)


def test_bias_and_variance_are_in_orders_of_magnitude():
    campaigns = [campaign(20, Truth(0.001)), campaign(200, Truth(0.001))]
    row = row_of(score(beside_truth(campaigns)), "good-turing")
    assert row["bias"] == pytest.approx((1 + 2) / 2)
    assert row["variance"] == pytest.approx(statistics.variance([-2, -1]))
    assert row["under"] == 0
    assert row["runs"] == 2


def test_points_without_a_logarithm_are_left_out_and_counted():
    nothing = Truth(0.0, 0, 100)
    campaigns = [campaign(0, Truth(0.01)), campaign(20, nothing), campaign(20, Truth(0.1))]
    row = row_of(score(beside_truth(campaigns)), "good-turing")
    assert row["left_out"] == 2
    assert row["bias"] == pytest.approx(-1)
    assert row["under"] == pytest.approx(2 / 3)


def test_an_urn_that_is_empty_judges_nobody():
    full, empty = campaign(20, Truth(0.01)), campaign(20, Truth(0.0), n=4000)
    assert beside_truth([full, empty])["n"].unique().to_list() == [2000]


def test_coverage_allows_for_the_error_of_a_measured_truth():
    estimate = 20 / 2000
    exact = row_of(score(beside_truth([campaign(20, Truth(estimate * 2.5))])), "good-turing")
    measured = row_of(score(beside_truth([campaign(20, Truth(0.025, 5, 200))])), "good-turing")
    assert (exact["coverage"], exact["beyond"]) == (0, 1)
    assert (measured["coverage"], measured["beyond"]) == (1, 0)


def test_estimators_without_interval_have_no_coverage():
    assert row_of(score(beside_truth([campaign(20, Truth(0.01))])), "laplace")["coverage"] is None


def test_measured_truth_has_an_exact_interval():
    low, high = truth_interval(Truth(0.0, 0, 300))
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / 300))
    assert truth_interval(Truth(0.3)) == (0.3, 0.3)


def test_summary_is_the_mean_over_late_points():
    early = campaign(900, Truth(0.001), n=1000)
    late = [campaign(20, Truth(0.001)), campaign(20, Truth(0.01), n=4000)]
    summary = summarise(score(beside_truth([early, *late])))
    row = row_of(summary, "good-turing")
    assert row["points"] == 2
    assert row["bias"] == pytest.approx((1 + math.log10(0.5)) / 2)


def test_nothing_to_judge_is_said():
    with pytest.raises(BadInput, match="field truth"):
        beside_truth([Campaign("c", (Observation(n=10),))])
    with pytest.raises(BadInput, match="beyond 1,000 inputs"):
        summarise(score(beside_truth([campaign(3, Truth(0.1), n=500)])))


def test_simulated_greybox_campaigns_show_what_the_study_says():
    """Good-Turing reads low, Mean Local reads high, the recent rate is near."""
    import numpy as np

    runs = simulate(Urn(), "greybox", np.array([1500, 3000, 5000]), 400, seed=3)
    summary = summarise(score(beside_truth(as_campaigns(runs))))
    bias = {row["estimator"]: row["bias"] for row in summary.to_dicts()}
    assert bias["good-turing"] < -0.25
    assert bias["laplace"] < -0.8
    assert bias["mean-local-good-turing"] > 1
    assert bias["mean-local-laplace"] > 0.5
    assert abs(bias["recent-rate"]) < 0.1
    assert abs(bias["recent-growth"]) < 0.15


# ── published measurements ────────────────────────────────────────────────────────────────────

EXPECTED_R2 = {
    "freetype": 0.9786,
    "json": 0.9683,
    "libcap": 0.8701,
    "libpng": 0.9712,
    "libxml": 0.7970,
    "zlib": 0.9755,
}


def test_r2_of_the_published_measurements(published_table):
    result = published.evaluate(published.read(published_table))
    assert {s.name: round(s.law.r2, 4) for s in result.subjects} == EXPECTED_R2
    assert round(result.mean_r2, 4) == 0.9268


def test_bias_of_the_published_measurements_recomputed_by_hand(published_table):
    """One subject, straight from the file with nothing but the standard library."""
    lines = [line.split(",") for line in published_table.read_text().splitlines()]
    names = [cell.strip() for cell in lines[0]]
    rows = [dict(zip(names, (c.strip() for c in line), strict=True)) for line in lines[1:] if line]
    zlib = [r for r in rows if r["subject"] == "zlib" and int(r["tests"]) > 1000]
    biases, variances = [], []
    for n in sorted({int(r["tests"]) for r in zlib}):
        group = [r for r in zlib if int(r["tests"]) == n]
        truth = statistics.mean(int(r["empirical"]) / n for r in group)
        logs = [math.log10(int(r["f1"]) / n or 1 / (n + 2)) for r in group]
        biases.append(statistics.mean(logs) - math.log10(truth))
        variances.append(statistics.variance(logs))
    (subject,) = [
        s for s in published.evaluate(published.read(published_table)).subjects if s.name == "zlib"
    ]
    assert subject.bias["good-turing"] == pytest.approx(statistics.mean(biases))
    assert subject.variance["good-turing"] == pytest.approx(statistics.mean(variances))


HEADER = "subject, run, tests, empirical, laplace, localgt, reset1, reset10, b1, f1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the column 'subject' is missing"),
        ("subject, run, tests\n", "the column 'empirical' is missing"),
        (HEADER + "\n", "only a header"),
        (HEADER + "\nzlib, 1, 100, 3\n", "line 2: 4 cells, but the header has 10"),
        (HEADER + "\nzlib, 1, many, 1, 1, 1, 1, 1, 1, 1\n", "line 2, column 'tests': 'many'"),
        (HEADER + "\nzlib, 1, 0, 1, 1, 1, 1, 1, 1, 1\n", "line 2, column 'tests': '0'"),
        (HEADER + "\nzlib, 1, 9, -1, 1, 1, 1, 1, 1, 1\n", "line 2, column 'empirical': '-1'"),
    ],
)
def test_a_table_that_is_not_the_published_one_is_refused(tmp_path, text, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(BadInput, match=message):
        published.read(path)


def test_too_few_points_for_a_power_law_are_named(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(HEADER + "\nzlib, 1, 2000, 3, 1, 1, 1, 1, 1, 1\n")
    with pytest.raises(BadInput, match="'zlib' has fewer than two points"):
        published.evaluate(published.read(path))
