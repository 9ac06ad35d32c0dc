"""Recorded campaigns in their compact form, and the study of estimators that is made from them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import kept_campaigns
import real_depth
import real_error
import real_truth
import unseen
from fuzzwise.model import Observation, SeedCounts, Truth
from fuzzwise.snapshot import Campaign, write

ROOT = Path(__file__).parents[1]
POINTS = [100 * 2**k for k in range(13)]
MARKS = f"before\n{real_truth.BEGIN}\nas it was\n{real_truth.END}\nafter\n"


def observation(n: int, times: np.ndarray) -> Observation:
    """Δ(n) = 30/n, from three seeds that are mutated by turns."""
    found = times[times <= n]
    third = np.array([n // 3, n // 3, n - 2 * (n // 3)], dtype=np.int64)
    return Observation(
        n=n,
        seconds=n / 1000,
        discoveries=found,
        ages=found // 3,
        seeds=SeedCounts(q=np.full(3, 1 / 3), n=third, f1=third, f2=third, k=third, g=third),
        truth=Truth(30 / max(n, 30), round(30 / max(n, 30) * n), n),
    )


@pytest.fixture
def campaign() -> Campaign:
    """Discoveries where the law expects the next one."""
    times = np.unique(np.ceil(np.exp(np.arange(600) / 30))).astype(np.int64)
    seen = tuple(observation(n, times) for n in POINTS)
    return Campaign("zlib seed 1", seen, "zlib")


def recorded(work: Path, campaign: Campaign) -> None:
    write(work / "campaigns" / "zlib-1" / "state" / "observations.jsonl", [campaign])


def test_what_is_kept_is_what_estimators_need_of_it(campaign: Campaign, tmp_path: Path) -> None:
    kept = tmp_path / "kept.gz"
    kept_campaigns.keep([campaign], kept)
    [back] = kept_campaigns.load(kept)
    assert (back.name, back.subject) == ("zlib seed 1", "zlib")
    for before, after in zip(campaign.observations, back.observations, strict=True):
        assert after.truth == before.truth
        assert np.array_equal(after.discoveries, before.discoveries)
        assert np.array_equal(after.ages, before.ages)
        assert np.array_equal(after.seeds.n, before.seeds.n)
        assert after.seeds.q == pytest.approx(before.seeds.q, abs=1e-9)
        assert after.seeds.g is None
    again = kept.read_bytes()
    kept_campaigns.keep([back], kept)
    assert kept.read_bytes() == again


def test_the_deeper_of_two_recordings_counts_without_its_last_unmeasured_point(
    campaign: Campaign, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.gz"
    unmeasured = replace(campaign.observations[-1], truth=None)
    recorded(tmp_path, replace(campaign, observations=(*campaign.observations[:-1], unmeasured)))
    assert [o.n for o in kept_campaigns.known(tmp_path, kept)[0].observations] == POINTS[:-1]
    kept_campaigns.keep([campaign], kept)
    [known] = kept_campaigns.known(tmp_path, kept)
    assert [o.n for o in known.observations] == POINTS
    short = replace(campaign, observations=campaign.observations[:5])
    kept_campaigns.keep([short], kept)
    assert [o.n for o in kept_campaigns.known(tmp_path, kept)[0].observations] == POINTS[:-1]


@pytest.mark.parametrize(("name", "error"), [("rate over (n/2, n]", 0.14), ("`recent-rate`", 0.0)])
def test_a_law_that_is_known_gives_the_bias_that_it_must(
    campaign: Campaign, name: str, error: float
) -> None:
    """The mean of 30/n over (n/2, n] is 2·ln 2 times what it is at n, 0.14 orders too high."""
    found = real_depth.points([campaign], real_depth.FORMS[name])
    assert len(found) == sum(n > 1000 for n in POINTS)
    assert np.mean([point.error for point in found]) == pytest.approx(error, abs=0.03)
    assert all(point.holds for point in found)


def test_the_hazard_by_age_is_the_rate_of_the_seeds_that_are_as_old(campaign: Campaign) -> None:
    """All three are of the same age, in a bin from 2^k on: a mean over at most a doubling."""
    found = real_depth.points([campaign], real_depth.FORMS["hazard by age of the seed"])
    assert len(found) == sum(n > 1000 for n in POINTS)
    assert all(-0.1 < point.error < 0.2 for point in found)
    assert all(np.isnan(point.width) for point in found)


def test_where_an_error_comes_from_on_a_law_that_is_known(campaign: Campaign) -> None:
    """In n/2 more inputs 30·ln 1.5 are found, where 15 would be if Δ stayed as it is at n."""
    found = [e for e in real_error.errors(campaign) if e.n > 1000]
    for error in found:
        assert error.of_truth == pytest.approx(1 / np.log(10) / 30**0.5)
        assert abs(error.error) < error.of_count
    ahead = [e.future for e in found if 1.5 * e.n <= POINTS[-1]]
    assert ahead == pytest.approx([np.log10(2 * np.log(1.5))] * len(ahead), abs=0.05)
    assert np.isnan(found[-1].future)
    assert [e.before for e in found[1:]] == [e.error for e in found[:-1]]


def test_the_study_writes_its_page_and_the_table_of_another(
    campaign: Campaign, tmp_path: Path, monkeypatch
) -> None:
    recorded(tmp_path, campaign)
    (tmp_path / "estimators.md").write_text(MARKS)
    places = ["--work", str(tmp_path), "--out", str(tmp_path), "--kept", str(tmp_path / "none")]
    monkeypatch.setattr(sys, "argv", ["real_truth", "--no-record", *places])
    real_truth.main()
    page = (tmp_path / "real-study.md").read_text(encoding="utf-8")
    assert "1 campaigns on 1 libraries" in page
    assert "| zlib | 1 | 409,600 | " in page
    assert "### n > 200,000" in page
    assert "\n| beyond 200,000 | 2 | " in page
    assert (tmp_path / "figures" / "real-scores.svg").exists()
    table = (tmp_path / "estimators.md").read_text(encoding="utf-8")
    assert table.startswith("before\n")
    assert table.endswith("\nafter\n")
    assert "as it was" not in table


def test_the_pages_are_of_the_campaigns_that_are_kept() -> None:
    kept = [c for c in kept_campaigns.load() if len(c.observations) > kept_campaigns.FEWEST]
    said = f"{len(kept)} campaigns on {len({c.subject for c in kept})} libraries"
    for name in ("real-study.md", "stop-study.md", "estimators.md"):
        assert said in (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_libraries_that_played_no_part_have_their_own_page(
    campaign: Campaign, tmp_path: Path, monkeypatch
) -> None:
    recorded(tmp_path, replace(campaign, name="bzip2 seed 1", subject="bzip2"))
    monkeypatch.setattr(unseen, "DATA_SET", tmp_path / "kept.jsonl.gz")
    places = ["--work", str(tmp_path), "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["unseen", "--no-record", "--keep", *places])
    unseen.main()
    page = (tmp_path / "unseen.md").read_text(encoding="utf-8")
    assert "These 1 campaigns on 1 other libraries" in page
    assert "| bzip2 | decompression of bzip2 streams | 1 | 409,600 |" in page
    assert "## n > 200,000" in page
    (kept,) = kept_campaigns.load(tmp_path / "kept.jsonl.gz")
    assert (kept.subject, kept.observations[-1].n) == ("bzip2", 409_600)


def test_no_library_that_played_a_part_is_among_those_that_did_not() -> None:
    assert not {s.name for s in unseen.UNSEEN} & {s.name for s in real_truth.chosen([])}
