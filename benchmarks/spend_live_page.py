"""The tables of live campaigns, for the page of the study on spending time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import stats

from fuzzwise.lab.growth.foretold import Foretold, foretell
from fuzzwise.lab.growth.recording import GrowthRecording
from fuzzwise.model import Floats
from spend_live import SCHEDULERS, SECONDS
from spend_targets import GROUPS, HALVES

Run = dict[str, Any]
Pair = tuple[Run, Run]

LIVE = """
## Live

The targets of each half that have shown no bug, and some of other libraries, in one campaign of {seconds} s on one core, with `risk-rate` and at the
same time, on the other core, with `round-robin`; the cores change from pair to pair, so whatever else the machine does
concerns both. A pair in which one got a tenth more of its core than the other was run again. Epochs are as long as they are by default, {epoch:g} s. "On cores" is what a campaign got of its core, in
seconds; of the two groups of columns, the first is `risk-rate`. Species of all targets together: at the end, and the
ratio of the two at every full second after Round-Robin's first round, its mean and its lowest. Within a turn they are
taken to grow evenly."""

OVER_TIME = """
All pairs together: the mean ratio with its 95 % interval over pairs (Student's, of the logarithms), at parts of the time
after the first round, and the lowest that the mean ratio is at any second."""

FORETOLD = """
### Replay equals live

Discoveries of each live campaign by half of its time and by its end, and what the recordings have for the schedule that
it had: for the time that each target had been given, or for the inputs that it had made, whatever the time. The
interval is the spread of repeats. The two differ where the machine is not as fast as it was for the recordings.{part}

| campaign | by | live | foretold by the time | 95 % | by the inputs | 95 % |
|---|---|---|---|---|---|---|"""

PARTS = (0.25, 0.5, 0.75, 1.0)


def live_tables(recording: GrowthRecording, runs: list[Run]) -> Iterator[str]:
    """All of it; nothing where no campaign was run."""
    if not runs:
        return
    yield LIVE.format(seconds=SECONDS, epoch=runs[0]["epoch"])
    for half in GROUPS:
        pairs = _pairs(runs, half)
        if pairs:
            yield from _half(half, pairs)
    runs = [run for run in runs if run["half"] in HALVES]
    missing = {turn[0] for run in runs for turn in run["turns"]} - set(recording.targets)
    part = (
        f" {len(missing)} targets that are not recorded yet are left out on both sides."
        if missing
        else ""
    )
    yield FORETOLD.format(part=part)
    yield from _foretold(recording, runs)


def _pairs(runs: list[Run], half: str) -> list[Pair]:
    found = {(run["pair"], run["scheduler"]): run for run in runs if run["half"] == half}
    numbers = sorted({pair for pair, _ in found})
    both = [tuple(found.get((number, name)) for name in SCHEDULERS) for number in numbers]
    return [(ours, base) for ours, base in both if ours and base]


def _half(half: str, pairs: list[Pair]) -> Iterator[str]:
    names = {turn[0] for turn in pairs[0][1]["turns"]}
    title = f"The half for {half}" if half in HALVES else "Libraries that had no part in choosing"
    yield f"\n### {title}: {len(names)} targets, {len(pairs)} pairs\n"
    if half not in HALVES:
        yield f"{', '.join(sorted(names))}. Nothing was chosen by what they show; one fault was seen on them ([limits](#limits)).\n"
    yield "| pair | on cores | turns | species | on cores | turns | species | at the end | mean ratio | lowest |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    first = max(_first_round(base) for _, base in pairs)
    ratios = []
    for ours, base in pairs:
        one, other = _curve(ours), _curve(base)
        ratios.append(one[first:] / other[first:])
        cells = " | ".join(
            f"{run['cpu']:.0f} | {len(run['turns'])} | {curve[-1]:,.0f}"
            for run, curve in ((ours, one), (base, other))
        )
        last = ratios[-1]
        yield (
            f"| {ours['pair']} | {cells} | {last[-1]:.3f} | {last.mean():.3f} | {last.min():.3f} |"
        )
    if len(pairs) > 1:
        yield OVER_TIME + f" The first round took {first} s.\n"
        yield from _over_time(np.log(np.array(ratios)))


def _over_time(logs: Floats) -> Iterator[str]:
    yield "| " + " | ".join(f"{part:.0%}" for part in PARTS) + " | mean over the time | lowest |"
    yield "|---" * (len(PARTS) + 2) + "|"
    last = logs.shape[1] - 1
    columns = [logs[:, round(part * last)] for part in PARTS]
    cells = [_interval(column) for column in (*columns, logs.mean(axis=1))]
    lowest = float(np.exp(logs.mean(axis=0)).min())
    yield "| " + " | ".join(cells) + f" | {lowest:.3f} |"


def _interval(logs: Floats) -> str:
    wide = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / np.sqrt(len(logs))
    value, low, high = np.exp([logs.mean(), logs.mean() - wide, logs.mean() + wide])
    return f"{value:.3f} ({low:.3f}–{high:.3f})"


def _by_target(run: Run) -> dict[str, list[list[Any]]]:
    turns: dict[str, list[list[Any]]] = {}
    for turn in run["turns"]:
        turns.setdefault(turn[0], []).append(turn)
    return turns


def _first_round(run: Run) -> int:
    """Seconds until every target has had a turn."""
    return int(np.ceil(max(turns[0][2] for turns in _by_target(run).values())))


def _curve(run: Run) -> Floats:
    """Species of all targets at every second."""
    moments = np.arange(1, SECONDS + 1, dtype=float)
    total = np.zeros(len(moments))
    for turns in _by_target(run).values():
        when, seen, known = [], [], 0.0
        for _, began, ended, *_, species in turns:
            when += [began, ended]
            seen += [known, float(species)]
            known = float(species)
        total += np.interp(moments, when, seen, left=0.0)
    return total


def _spread(told: Foretold, found: float) -> str:
    """The interval and whether it holds; none where each target was recorded once."""
    if told.low == told.high:
        return "–"
    held = "holds" if told.low <= found <= told.high else "does not hold"
    return f"{told.low:,.0f}–{told.high:,.0f}, {held}"


def _foretold(recording: GrowthRecording, runs: list[Run]) -> Iterator[str]:
    ratios: dict[str, list[float]] = {"time": [], "inputs": []}
    for run in runs:
        for moment in (SECONDS / 2, float("inf")):
            turns = {
                name: [turn for turn in many if turn[2] <= moment]
                for name, many in _by_target(run).items()
                if name in recording.targets
            }
            found = sum(turn[5] for many in turns.values() for turn in many)
            cells = []
            for column, unit in ((3, "time"), (4, "inputs")):
                given = {name: sum(turn[column] for turn in many) for name, many in turns.items()}
                told = foretell(recording, given, in_inputs=unit == "inputs")
                ratios[unit].append(found / told.value)
                cells.append(f"{told.value:,.0f} | {_spread(told, found)}")
            by = f"{moment:.0f} s" if moment < SECONDS else "the end"
            name = f"{run['half']} {run['pair']}, `{run['scheduler']}`"
            yield f"| {name} | {by} | {found:,.0f} | {' | '.join(cells)} |"
    told_by = (f"by the {unit} {min(of):.2f} to {max(of):.2f}" for unit, of in ratios.items())
    yield f"\nLive over foretold: {', '.join(told_by)}."
