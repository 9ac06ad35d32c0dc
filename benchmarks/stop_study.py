"""When to stop and how long still, beside truth and rivals, on recorded campaigns: docs/stop-study.md.

Run ``make stop-study``: it judges the campaigns with their truth that ``datasets/real-libraries.jsonl.gz`` keeps
and those that ``make real-study`` has recorded since. That takes some minutes; it says what it is at.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from forecasts import FORECASTS, HORIZONS, Case, cases, score
from fuzzwise.snapshot import Campaign
from kept_campaigns import KEPT, known
from real import DEFAULT_WORK
from real_campaigns import is_for_choosing
from stop_rules import (
    BOUNDS,
    StopCase,
    Stops,
    Truth,
    accepted_risk,
    at_data_points,
    at_looks,
    ever_stops,
    fixed,
    last,
    moment,
    nothing_new,
    saturation,
    stop_cases,
    truth_of,
)
from subjects import SUBJECTS

FOR_CHOOSING = frozenset(s.name for s in SUBJECTS if is_for_choosing(s.name))
CHOSEN_ON = sorted({"freetype", "libpng", "lz4", "zlib"} | FOR_CHOOSING)
"""The libraries on which numbers of the bent power law were chosen: the first four all but how the
slope follows from the share of late discoveries, which all for choosing tell. The others check it."""
RISKS = tuple(10 ** -(1 + k / 4) for k in range(21))
"""Four to each order of magnitude, from 0.1 to 10^-6."""
BURSTS = ((0.0, 0.0), (0.0, 0.5), (0.0, 1.0), (0.0, 2.0), (-0.1, 0.5))
"""Slopes of simulated campaigns, and how many discoveries follow each on average."""
SIMULATED = 500
PROMISES = ((0.0, 0.8), (0.0, 0.95), (0.0, 0.99), (-0.3, 0.95))
"""Slopes and confidences; a steeper slope than the last leaves no wrong stop to count."""
AHEAD = (1, 2, 4, 8, 16, 32, 64)
STOP_MEASURES: dict[str, Callable[[list[StopCase]], str]] = {
    "cases": lambda found: f"{len(found)}",
    "median": lambda found: f"{np.median([c.error for c in found]):+.2f}",
    "absolute": lambda found: f"{np.median([abs(c.error) for c in found]):.2f}",
    "holds": lambda found: f"{np.mean([c.held for c in found]):.0%}",
    "Δ low enough: median": lambda found: f"{np.median([c.risk_error for c in found]):+.2f}",
}
PLAIN = "looking all the time"
WHY_NOT_SOONER = (
    "Whoever looks all the time sees the interval clear at its luckiest moment. Who decides by the interval of the moment",
    "stops within a tenth of that, and stops most campaigns whose rate never falls; who waits for it to clear at a second",
    "look is a tenth later already, and still stops many of them. Ten times the error at each look of our rule is about",
    "what constant rates allow, since its looks overlap; it does not bring the stop within a tenth either, and bursts break it.",
)
RULES: dict[str, Stops] = {
    "accepted risk 10⁻² (fuzzwise)": accepted_risk(1e-2),
    "accepted risk 10⁻³ (fuzzwise)": accepted_risk(1e-3),
    "accepted risk 10⁻⁴ (fuzzwise)": accepted_risk(1e-4),
    "nothing new in 1,000 inputs": nothing_new(1000),
    "nothing new in 10,000 inputs": nothing_new(10_000),
    "nothing new in 100,000 inputs": nothing_new(100_000),
    "saturation, 10 % (after ISSTA 2023)": saturation(0.10),
    "saturation, 1 % (after ISSTA 2023)": saturation(0.01),
    "fixed, 20,000 inputs": fixed(20_000),
    "fixed, 200,000 inputs": fixed(200_000),
}


def main() -> None:
    """Judge what was recorded, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=DEFAULT_WORK)
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    options = parser.parse_args()
    began = time.monotonic()
    campaigns = known(options.work, options.kept)
    if not campaigns:
        sys.exit(
            f"{options.work} has no campaign with a measured truth: run `make real-study` first."
        )
    parts = (_head, _forecasts, _stop_forecasts, _stops, _promise, _rivals)
    lines = [line for part in parts for line in part(campaigns)]
    (options.out / "stop-study.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(campaigns)} campaigns judged in {time.monotonic() - began:.0f} s")


def _head(campaigns: list[Campaign]) -> list[str]:
    names = sorted({campaign.subject for campaign in campaigns})
    deepest = max(last(campaign).n for campaign in campaigns)
    return [
        "# When to stop, and how long still: beside truth and rivals",
        "",
        f"{len(campaigns)} campaigns on {len(names)} libraries ({', '.join(names)}),",
        f"up to {deepest:,} inputs ([how deep each](real-study.md#how-deep)), with lengths that are drawn and the",
        "truth measured from the frozen corpus at 100, 200, 400, … inputs. None of them had a part in choosing the estimate",
        "or how the stop rule counts beside the interval (the 35 % of the inputs, the allowance for bursts, the",
        "error of each look): that was done on simulated campaigns and on earlier ones, made before seeds got a share of the",
        f"time, on every other library: {', '.join(sorted(FOR_CHOOSING))}.",
        "That the interval is wider where the risk is small was set with all of these campaigns in view, and what slope the",
        "forecast expects of a target that has shown most of what it has was fitted to those of the libraries just named.",
        "The others check all but the former, and [six more libraries](unseen.md) that, too. This page is written by",
        "`make stop-study`; do not edit it.",
        "",
    ]


def _forecasts(campaigns: list[Campaign]) -> list[str]:
    lines = [
        "## How long still",
        "",
        "Asked after n ≥ 3,000 inputs when Δ reaches a value that it did reach after 2 to 64 times as many:",
        "median of log10(predicted inputs / true inputs), of its absolute value, and the share of 95 %",
        "intervals that hold, the error of the measured truth allowed for. RR's extrapolation is shown the",
        "measured Δ so far, which no user has; the coverage-rate extrapolation is a regression of the rate in",
        "logarithms, without the shuffled black-box campaigns of its authors, for which more would have to be",
        "kept than a campaign keeps. Where a forecast gives no number, the case does not count for it.",
        "",
    ]
    found = [case for campaign in campaigns for case in cases(campaign)]
    groups = {
        "Libraries on which nothing was chosen": False,
        f"Those on which it was chosen ({', '.join(CHOSEN_ON)})": True,
    }
    for title, is_chosen_on in groups.items():
        some = [case for case in found if (case.subject in CHOSEN_ON) == is_chosen_on]
        lines += [f"### {title}", "", *forecast_table(some), ""]
    return lines


def forecast_table(found: list[Case]) -> list[str]:
    """All forecasts by horizon."""
    by_horizon = defaultdict(list)
    for case in found:
        by_horizon[case.horizon].append(case)
    shown = [h for h in HORIZONS if by_horizon[h]]
    counts = " | ".join(f"{h} times ({len(by_horizon[h])})" for h in shown)
    lines = [f"| forecast | | {counts} |", "|---|---|" + "---|" * len(shown)]
    for name, (interval, forecast) in FORECASTS.items():
        scores = [score(by_horizon[h], forecast) for h in shown]
        rows = {"median": "median:+.2f", "absolute": "absolute:.2f"}
        rows |= {"holds": "held:.0%", "width": "width:.1f"} if interval else {}
        for title, measure in rows.items():
            field, _, form = measure.partition(":")
            cells = ["–" if s is None else format(getattr(s, field), form) for s in scores]
            lines.append(f"| {name} | {title} | {' | '.join(cells)} |")
    return lines


def _stop_forecasts(campaigns: list[Campaign]) -> list[str]:
    """How well the stop itself is foretold, which is what is shown as left."""
    lines = [
        "### The stop itself",
        "",
        "What is shown as *left* is when the rule will say stop, which is later than Δ is low enough, by what",
        "the rule needs to be sure. Asked at each 1.5 times the inputs for every other of the accepted risks below",
        "at which it did stop: log10(predicted inputs at the stop / true ones), and the same of when Δ is low enough.",
        "",
        "| libraries | | " + " | ".join(f"{a} to {b} times" for a, b in pairwise(AHEAD)) + " |",
        "|---|---|" + "---|" * (len(AHEAD) - 1),
    ]
    found = [case for campaign in campaigns for case in stop_cases(campaign, RISKS[::2])]
    for title, chosen in (("not chosen on", False), ("chosen on", True)):
        some = [case for case in found if (case.subject in CHOSEN_ON) == chosen]
        groups = [[c for c in some if a <= c.ahead < b] for a, b in pairwise(AHEAD)]
        for name, measure in STOP_MEASURES.items():
            cells = [measure(group) if group else "–" for group in groups]
            lines.append(f"| {title} | {name} | {' | '.join(cells)} |")
    return [*lines, ""]


def _stops(campaigns: list[Campaign]) -> list[str]:
    lines = [
        "## Stops for an accepted risk",
        "",
        "For each accepted risk: how many campaigns the rule stops, at how many of these stops the truth was",
        "above the risk (between two measurements by a power law), and the inputs at the stop over those at",
        "which the truth first was below (median). *Looking all the time* is the 95 % interval of the moment,",
        "whose promise is for one look; *over it*: inputs at our stop over those at which that clears.",
        "`singleton-inputs` is dependency-aware residual risk (Lee and Böhme, ICSE 2026), by our rule at data",
        "points, since its counts are kept there only.",
        "",
        "| accepted | stopped | wrong | inputs over truth's | over it | looking all the time: wrong "
        "| over truth's | singleton-inputs: stopped | wrong | over truth's |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    truths = [truth_of(campaign) for campaign in campaigns]
    made: dict[str, list[Made]] = defaultdict(list)
    for risk in RISKS:
        stopped = _stopped(campaigns, risk)
        rule, plain = stopped["our rule"], stopped[PLAIN]
        over = [a / b for a, b in zip(rule, plain, strict=True) if a and b]
        cells = [
            *_judged(rule, truths, risk),
            f"{np.median(over):.2f}" if over else "–",
            *_judged(plain, truths, risk)[1:],
            *_judged(stopped["singleton-inputs"], truths, risk),
        ]
        lines.append(f"| {risk:.2g} | {' | '.join(cells)} |")
        for name, stops in stopped.items():
            for c, truth, n, first in zip(campaigns, truths, stops, plain, strict=True):
                if n:
                    made[name].append(_made(c, truth, risk, n, first))
        print(f"accepted risk {risk:.2g}: done", flush=True)
    return [*lines, "", *_by_library(made["our rule"]), *_sooner(made)]


def _stopped(campaigns: list[Campaign], risk: float) -> dict[str, list[int | None]]:
    """Where each rule stops each campaign."""
    at = [at_looks(campaign, risk, BOUNDS) for campaign in campaigns]
    others = {PLAIN: moment(risk), "singleton-inputs": at_data_points(risk, "singleton-inputs")}
    return {name: [stops[name] for stops in at] for name in BOUNDS} | {
        name: [stops(campaign) for campaign in campaigns] for name, stops in others.items()
    }


@dataclass(frozen=True)
class Made:
    """A stop: whether the truth was above the risk, and its inputs over truth's and over the moment's.

    ``surely``: the truth was above it by more than the error of its measurement.
    """

    subject: str
    risk: float
    wrong: bool
    surely: bool
    late: float | None
    over: float | None


def _made(campaign: Campaign, truth: Truth, risk: float, n: int, plain: int | None) -> Made:
    first = truth.first_below(risk)
    return Made(
        campaign.subject,
        risk,
        truth.at(n) > risk,
        truth.least_at(n) > risk,
        n / first if first else None,
        n / plain if plain else None,
    )


def _by_library(made: list[Made]) -> list[str]:
    lines = [
        "The same by library, over all these risks, down to the lowest at which one of its campaigns was stopped:",
        "lower ones need more inputs than were measured. Stops of one campaign at neighbouring risks are not",
        "independent. *Surely*: the truth was above the risk by more than the 95 % error of its measurement.",
        "",
        "| library | lowest | stops | wrong | share | surely | inputs over truth's | over it |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = sorted({stop.subject for stop in made})
    groups = {name: [name] for name in names} | {
        "all for choosing": [name for name in names if name in FOR_CHOOSING],
        "all for checking": [name for name in names if name not in FOR_CHOOSING],
        "all": names,
    }
    for title, members in groups.items():
        own = [stop for stop in made if stop.subject in members]
        if not own:
            continue
        late, over = ([x for stop in own if (x := value(stop))] for value in (_late, _over))
        wrong = sum(stop.wrong for stop in own)
        cells = [f"{min(stop.risk for stop in own):.1e}", f"{len(own)}", f"{wrong}"]
        cells += [f"{wrong / len(own):.1%}", f"{sum(stop.surely for stop in own)}"]
        cells += [f"{np.median(x):.2f}" if x else "–" for x in (late, over)]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return [*lines, ""]


def _late(stop: Made) -> float | None:
    return stop.late


def _over(stop: Made) -> float | None:
    return stop.over


def _sooner(made: dict[str, list[Made]]) -> list[str]:
    """What it would cost to stop nearer to the moment at which the interval clears."""
    lines = [
        "### Could it stop sooner?",
        "",
        "Ways to decide at the looks of our rule. Inputs over those at which the 95 % interval of the moment first clears",
        "for whoever looks all the time, over all stops above (median, and nine of ten are no later), and over truth's",
        "(median); wrong stops among them; and how often a simulated campaign is ever stopped, whose rate is above the",
        "accepted risk to its end: constant, its discoveries alone, or in bursts, where 0.5, 1 or 2 discoveries follow",
        "each on average, or in bursts of the first size while it falls as n to the power of -0.1. In brackets: how many",
        "were stopped while the chance of the next discovery was above the risk. Between two bursts that is lower than the",
        "mean rate, in one it is higher; Δ is that chance, and for real libraries it is what is measured. The brackets were added",
        "after the shares before them had been seen to be above 5 %.",
        "",
        "| decides by | over the moment's | nine of ten | over truth's | wrong | constant | bursts of 1.5 | of 2 | of 3 | 1.5, falling |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    simulated = [_ever(slope, 0.95, tuple(BOUNDS), follow) for slope, follow in BURSTS]
    for i, name in enumerate(BOUNDS):
        over, late = ([x for s in made[name] if (x := value(s))] for value in (_over, _late))
        cells = [f"{np.median(over):.2f}", f"{np.quantile(over, 0.9):.2f}"] if over else ["–", "–"]
        cells.append(f"{np.median(late):.2f}" if late else "–")
        cells.append(f"{sum(stop.wrong for stop in made[name])} of {len(made[name])}")
        cells += [f"{shares[i][0]:.1%} ({shares[i][1]:.1%})" for shares in simulated]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, "", *WHY_NOT_SOONER, ""]


@cache
def _ever(
    slope: float, confidence: float, names: tuple[str, ...], follow: float = 0.0
) -> list[tuple[float, float]]:
    """The shares of simulated campaigns that each of these ways ever stops, and stops wrongly."""
    rng = np.random.default_rng(17)
    made = [ever_stops(rng, slope, confidence, names, follow) for _ in range(SIMULATED)]
    return [(float(ever), float(wrong)) for ever, wrong in np.mean(made, axis=0)]


def _promise(_: list[Campaign]) -> list[str]:
    """Wrong stops where every stop is one."""
    lines = [
        "## The promise",
        "",
        f"{SIMULATED:,} simulated campaigns each, whose Δ is above the accepted risk from the first input to the last,",
        "as n to the power of the slope: the share that is ever stopped, which is to be at most 1 - confidence.",
        "",
        "| slope | confidence | our rule | the interval of the moment, at the same looks |",
        "|---|---|---|---|",
    ]
    for slope, confidence in PROMISES:
        ours, plain = _ever(slope, confidence, ("our rule", "the interval of the moment"))
        lines.append(f"| {slope:g} | {confidence:.0%} | {ours[0]:.1%} | {plain[0]:.1%} |")
    return [*lines, ""]


def _judged(stops: list[int | None], truths: list[Truth], risk: float) -> tuple[str, str, str]:
    """How many stopped, how many of them wrongly, and how late the others."""
    made = [(n, truth) for n, truth in zip(stops, truths, strict=True) if n]
    if not made:
        return "0", "–", "–"
    wrong = [truth.at(n) > risk for n, truth in made]
    firsts = [(n, truth.first_below(risk)) for n, truth in made]
    late = [n / first for n, first in firsts if first]
    return f"{len(made)}", f"{sum(wrong)}", f"{np.median(late):.2f}" if late else "–"


def _rivals(campaigns: list[Campaign]) -> list[str]:
    truths = [truth_of(campaign) for campaign in campaigns]
    lines = [
        "## Rules without a risk",
        "",
        "What is spent and what is missed: inputs at the stop (median), the truth there (lowest, median and",
        "highest: what the rule does not control), and the discoveries that the rest of the recorded campaign",
        "still made, as a share of all of them (median). Inputs stand for time, which a machine that is",
        "shared does not measure. Saturation: the last half of the inputs added less than that share to all",
        "discoveries, after Green Fuzzing (Lipp et al., ISSTA 2023), with all coverage in the place of functions",
        "that a trained model calls vulnerable.",
        "",
        "| rule | stopped | inputs | Δ at the stop | missed |",
        "|---|---|---|---|---|",
    ]
    for name, stops in RULES.items():
        made = [(c, n, t) for c, t in zip(campaigns, truths, strict=True) if (n := stops(c))]
        if not made:
            lines.append(f"| {name} | 0 of {len(campaigns)} | – | – | – |")
            continue
        there = [truth.at(n) for _, n, truth in made]
        missed = [_missed(campaign, n) for campaign, n, _ in made]
        spread = ", ".join(f"{x:.1g}" for x in (min(there), np.median(there), max(there)))
        lines.append(
            f"| {name} | {len(made)} of {len(campaigns)} | {np.median([n for _, n, _ in made]):,.0f} "
            f"| {spread} | {np.median(missed):.0%} |"
        )
    return lines


def _missed(campaign: Campaign, n: int) -> float:
    times = last(campaign).discoveries
    if times is None or len(times) == 0:
        return 0.0
    return float(np.mean(times > n))


if __name__ == "__main__":
    main()
