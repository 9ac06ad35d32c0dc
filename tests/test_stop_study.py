"""The study of stops and forecasts, on a campaign whose truth is a power law that is known."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import forecasts
import stop_rules
import stop_study
from fuzzwise.model import Observation, Truth
from fuzzwise.snapshot import Campaign, write

POINTS = [100 * 2**k for k in range(14)]


def delta(n: float) -> float:
    return min(1.0, 30 / n)


@pytest.fixture
def campaign() -> Campaign:
    """Δ(n) = 30/n, discoveries where that expects the next one, truth of as many inputs as n."""
    times = np.unique(np.ceil(np.exp(np.arange(600) / 30))).astype(np.int64)
    seen = [
        Observation(
            n=n,
            discoveries=times[times <= n],
            truth=Truth(delta(n), round(delta(n) * n), n),
            measured=tuple((m, delta(m)) for m in POINTS if m < n),
        )
        for n in POINTS
    ]
    return Campaign("known", tuple(seen), "known")


def test_the_cases_are_where_the_truth_says(campaign: Campaign) -> None:
    found = list(forecasts.cases(campaign))
    assert {case.horizon for case in found} == set(forecasts.HORIZONS)
    for case in found:
        assert case.reached == pytest.approx(case.observation.n * case.horizon)


@pytest.mark.parametrize("name", forecasts.FORECASTS)
def test_forecasts_follow_a_law_that_goes_on(campaign: Campaign, name: str) -> None:
    """All but that of one power law through all discoveries, which knows no n^0.

    Ours expects that a target falls faster where few of its discoveries are of late, as here.
    """
    for case in forecasts.cases(campaign):
        if case.horizon > 4:
            continue
        span = forecasts.FORECASTS[name][1](case.observation, case.risk)
        assert span is not None
        if name.startswith("one power law"):
            assert span[0] > np.log(case.horizon)
        else:
            assert span[0] == pytest.approx(np.log(case.horizon), abs=0.35)


def test_stops_are_at_the_inputs_at_which_their_rule_holds(campaign: Campaign) -> None:
    truth = stop_rules.truth_of(campaign)
    assert truth.first_below(1e-3) == pytest.approx(30_000, rel=0.01)
    assert truth.at(30_000) == pytest.approx(1e-3, rel=0.01)
    assert stop_rules.fixed(5000)(campaign) == 5000
    assert stop_rules.fixed(10**9)(campaign) is None
    quiet = stop_rules.nothing_new(2000)(campaign)
    assert quiet is not None
    assert delta(quiet) == pytest.approx(1 / 2000, rel=0.1)
    saturated = stop_rules.saturation(0.1)(campaign)
    times = campaign.observations[-1].discoveries
    assert saturated is not None
    assert times is not None
    assert np.mean(times[times <= saturated] > saturated / 2) < 0.1
    ours, naive = (stops(1e-3)(campaign) for stops in (stop_rules.accepted_risk, stop_rules.moment))
    assert ours is not None
    assert naive is not None
    assert 30_000 < naive < ours < 4 * 30_000


def test_a_campaign_that_never_falls_below_is_stopped_more_often_by_looser_ways() -> None:
    """Every stop is wrong: few by our rule, many by the interval of the moment."""
    names = ("our rule", "the interval of the moment")
    shares = []
    for follow in (0.0, 2.0):
        rng = np.random.default_rng(3)
        made = [stop_rules.ever_stops(rng, 0.0, 0.8, names, follow) for _ in range(40)]
        shares.append(np.mean(made, axis=0))
    (rule, moment), bursts = shares
    assert rule[0] <= 0.2 < moment[0]
    assert list(rule) == [rule[0], rule[0]]  # the chance is the rate where nothing follows
    assert bursts[1][0] > moment[0]
    assert all(wrong <= ever for ever, wrong in bursts)


def test_the_page_has_all_tables(campaign: Campaign, tmp_path: Path, monkeypatch) -> None:
    log = tmp_path / "campaigns" / "known-1" / "state" / "observations.jsonl"
    log.parent.mkdir(parents=True)
    write(log, [campaign])
    places = ["--work", str(tmp_path), "--out", str(tmp_path), "--kept", str(tmp_path / "none")]
    monkeypatch.setattr(sys, "argv", ["stop_study", *places])
    monkeypatch.setattr(stop_study, "SIMULATED", 20)
    stop_study.main()
    page = (tmp_path / "stop-study.md").read_text(encoding="utf-8")
    assert "1 campaigns on 1 libraries (known)" in page
    assert "| bent power law (fuzzwise) | holds | 100% | 100% |" in page
    assert "| 0.001 | 1 | 0 | " in page
    assert re.search(r"^\| known \| \S+ \| \d+ \| 0 \| 0.0% \|", page, re.MULTILINE)
    assert "| the interval of the moment | 1." in page
    assert "| fixed, 20,000 inputs | 1 of 1 | 20,000 | 0.002, 0.002, 0.002 | " in page


def test_what_is_said_of_the_promise_is_what_the_study_found() -> None:
    """The numbers of stopping.md, which are written by hand, are those of the page."""
    docs = Path(__file__).parents[1] / "docs"
    page, said = ((docs / name).read_text("utf-8") for name in ("stop-study.md", "stopping.md"))
    said = " ".join(said.split())
    row = re.search(r"^\| our rule \|(.*)\|$", page, re.MULTILINE)
    assert row is not None
    *_, wrong, constant, small, middle, large, _ = (cell.strip() for cell in row[1].split("|"))
    ever, then = zip(*(re.findall(r"[\d.]+", cell) for cell in (small, middle, large)), strict=True)
    assert f"ours stopped {constant.split('%')[0]} %" in said
    assert f"{ever[0]} % were stopped" in said
    assert f"it was {ever[1]} % and {ever[2]} %, more than" in said
    assert f"at {then[0]}, {then[1]} and {then[2]} %" in said
    assert f"[{wrong} stops]" in said


def test_without_campaigns_it_says_how_to_record_some(tmp_path: Path, monkeypatch) -> None:
    places = ["--work", str(tmp_path), "--kept", str(tmp_path / "none")]
    monkeypatch.setattr(sys, "argv", ["stop_study", *places])
    with pytest.raises(SystemExit, match="run `make real-study` first"):
        stop_study.main()
