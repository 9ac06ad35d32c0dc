"""The page of the study on spending time: tables of what was recorded, replayed and run live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from fuzzwise.lab.growth.comparison import compare
from fuzzwise.lab.growth.recording import FOUND, RUNS, SPECIES, GrowthRecording
from fuzzwise.lab.growth.replay import OUTCOME_NAMES, GrowthReplay, Settings, replay_growth
from fuzzwise.lab.growth.retirement import summarise
from fuzzwise.schedulers.registry import policies
from spend_live_page import Run, live_tables
from spend_targets import EPOCH, WHAT, is_for_choosing

REPLAYS = 100
REPEATS = 3
"""Recordings of each target that are wanted."""
SHARE = 4
"""The budget is this part of all recorded time, so that a target can get as many times its share."""
RIVALS = (
    "risk-rate",
    "risk-rate/proportion",
    "round-robin",
    "clusterfuzz",
    "coverage-rate",
    "boian/coverage",
    "hypofuzz/coverage",
    "thompson",
)
HEAD = """# Where time goes best: real targets without bugs

*Made by `make spend-study`; nothing here is written by hand but the words.*

{count} targets of real libraries, Debian's and PyPI's, each recorded alone for {seconds} s, {repeats}, in turns
of {epoch:g} s ({kept}). What a target finds depends on its own time only, so any schedule of them
can be [replayed](growth.md). The [default scheduler](schedulers.md) was designed on every other target in
alphabetical order, "for choosing"; the others only check it. Budgets are a quarter of all recorded time, and epochs
as long as those turns, the default for such budgets.

| target | what | half | inputs | species | discoveries | bugs |
|---|---|---|---|---|---|---|"""

REPLAYED = """
## Replayed: coverage of all targets together

The mean over the budget ("area") over that of Round-Robin, with the 95 % interval over targets (drawn with
replacement) and repeats; the lowest ratio of the mean curves at any time after Round-Robin's first round; the
area as a share of what no schedule can exceed; the ratio at the end; and the ratio of areas and the lowest for the sum of the logarithms of
species ("in proportion"), in which a small target counts as much as a large one; and the ratio of areas for [bugs and
coverage together](growth.md#replay) ("worth"), and for bugs alone, where there are any. Equal split, as ClusterFuzzLite
has it, is `round-robin`."""

SHARES = """
## Who gets the time

Multiples of an equal share, all targets, one core.

| target | new species a second, at the end of its recording | `risk-rate` | `risk-rate/proportion` |
|---|---|---|---|"""

RETIRING = """
## With an accepted risk

Targets that are retired, mean over the budget and at its end, as a share of what no schedule can exceed, and the
species of all targets together over those of Round-Robin, which retires, too: the ratio of areas, and the lowest after the
first round. Whoever retires a target sooner covers less of it. All targets, one core.

| accepted risk | scheduler | retired, mean | at the end | of the optimum | species | lowest |
|---|---|---|---|---|---|---|"""

MISSED = """
What it saves and what it misses to retire a target, whatever the scheduler: a recording goes on where a campaign
would have retired its target. Recordings that reach the risk; the share of their time that is left then, in the mean;
the share of their species that came in that time, in the mean and at most; and their bugs.

| accepted risk | recordings retired | time left | species missed | at most | bugs missed |
|---|---|---|---|---|---|"""

LIMITS = """
## Limits

- {minutes:g} minutes a target are the beginning of a campaign: what grows then is large. Later all grow less, and there
  is less to be won.
- {speed} A target that was slow in its recording is slow in every replay of it, so schedulers are compared fairly, but
  shares of time are not those of an idle machine.
- `risk-rate` begins with short looks, and its rivals with whole epochs, as in live campaigns: part of the ratio of areas
  comes from the first round, none of that at the end does.
{live}
- The part of the credit that all targets get alike was chosen by replays on the first three targets for choosing that were
  recorded (a half had 1.068, a tenth 1.090, none 1.092); the half for checking was looked at once, after that.
- What a retirement is worth was chosen by replays on the first six targets for choosing, at the three accepted risks: with
  half of a bug the lowest ratio of species was 0.970, with a quarter 0.990, with a tenth 0.990 and 13 % fewer targets
  retired at 1e-5. On the first six for checking, looked at once, a half had 0.953 and a quarter 0.972.
- From how many expected bugs on a target's own bugs say what its coverage is worth was chosen by replays on the half for
  choosing, two recordings of each: with a quarter of one 1.042 in coverage and 1.036 in worth, with one 1.062 and 1.071,
  with four 1.065 and 1.077. The half for checking has shown no bug, so it cannot check that.
- That a discovery of a first turn counts as 2.5 species was chosen by replays on the half for choosing, at budgets of 16 and 35
  times less than all recorded time: with one species the lowest ratio was 1.049 and 1.045, with 2.5 1.067 and 1.060, with six 1.064
  and 1.059; on the half for checking 1.098 and 1.067 became 1.094 and 1.088. It was looked for because live campaigns on the
  fresh libraries had shown targets that waited; these had been run before, and were run again after it.
- By bugs alone `risk-rate` is behind on the half for choosing, where three targets have shown four in all: they are in targets
  that grow slowly, and before a bug is known, nothing but coverage tells where one may be. "Worth" measures both together. Equal
  shares know these four soonest: a campaign for bugs alone can have `scheduler = "round-robin"`.
- Species are features of libFuzzer's kind. What they are worth in bugs is not known; the targets here have hardly any."""


LIVE_LIMITS = """- What each live campaign got of its core is in the tables. Their folders were in memory: on a disk, ext4 takes a millisecond for a new file where thousands were removed within the last minute, as
  between two campaigns of a study, and short turns pay most of that."""
NO_LIVE = "- Live campaigns with the present default are not run yet."


def page(recordings: Mapping[float | None, GrowthRecording], runs: list[Run], seconds: int) -> str:
    """All of it."""
    recording = recordings[None]
    lines = [
        HEAD.format(
            count=len(recording.targets),
            kept=_kept(recording),
            seconds=seconds,
            repeats=_times(recording),
            epoch=EPOCH,
        ),
        *_targets(recording),
        REPLAYED,
        *_replayed(recording),
        SHARES,
        *_shares(recording),
        RETIRING,
        *_retiring(recordings),
        MISSED,
        *_missed(recordings),
    ]
    lines += live_tables(recording, runs)
    live = LIVE_LIMITS if runs else NO_LIVE
    lines.append(LIMITS.format(speed=_speeds(recording), minutes=seconds / 60, live=live))
    return "\n".join(lines) + "\n"


def _times(recording: GrowthRecording) -> str:
    counts = sorted({len(many) for many in recording.repeats})
    if counts == [1]:
        return "once"
    return f"{counts[0]} times" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} times"


def _kept(recording: GrowthRecording) -> str:
    """How much of all that is to be recorded there is."""
    repeats = sum(map(len, recording.repeats))
    wanted = REPEATS * len(WHAT)
    if repeats >= wanted:
        return f"all {wanted} recordings"
    return (
        f"{repeats} of {wanted} recordings so far, {len(recording.targets)} of {len(WHAT)} targets"
    )


def _speeds(recording: GrowthRecording) -> str:
    """How evenly the machine worked, by targets that were recorded more than once."""
    inputs = [[one.table[RUNS, -1] for one in many] for many in recording.repeats if len(many) > 1]
    if not inputs:
        return "Each target was recorded once, so how evenly the machine worked is not known."
    ratios = [max(many) / min(many) for many in inputs]
    return (
        f"The repeats of a target differ in their inputs by a factor of {np.median(ratios):.2f} (median), up to "
        f"{max(ratios):.2f}: by chance, and by what else the machine did."
    )


def _targets(recording: GrowthRecording) -> Iterator[str]:
    for name, many in zip(recording.targets, recording.repeats, strict=True):
        ends = {
            column: np.mean([one.table[column, -1] for one in many])
            for column in (RUNS, SPECIES, FOUND)
        }
        bugs = len({bug for one in many for bug in one.bugs})
        half = "choosing" if is_for_choosing(name) else "checking"
        numbers = " | ".join(f"{value:,.0f}" for value in ends.values())
        yield f"| {name} | {WHAT[name]} | {half} | {numbers} | {bugs} |"


def _part(recording: GrowthRecording, names: list[str]) -> GrowthRecording:
    """Some targets of it, of which one may be there twice."""
    by_name = dict(zip(recording.targets, recording.repeats, strict=True))
    unique = tuple(f"{name} {number}" for number, name in enumerate(names))
    return GrowthRecording(unique, tuple(by_name[n] for n in names), recording.bugs, recording.step)


def _settings(recording: GrowthRecording, cores: int, *, retires: bool = False) -> Settings:
    whole = recording.shortest_seconds * len(recording.targets)
    return Settings(whole / SHARE / cores, EPOCH, cores, retires)


def _play(
    recording: GrowthRecording, settings: Settings, repeats: int, seed: int = 1
) -> list[GrowthReplay]:
    chosen = [policies()[name] for name in RIVALS]
    return replay_growth(recording, chosen, settings, repeats=repeats, seed=seed, jobs=2)


def _replayed(recording: GrowthRecording) -> Iterator[str]:
    halves = {"choosing": True, "checking": False}
    for half, is_chosen in halves.items():
        names = [name for name in recording.targets if is_for_choosing(name) == is_chosen]
        for cores in (1, 2):
            yield f"\n### The half for {half}: {len(names)} targets, {'one core' if cores == 1 else 'two cores'}\n"
            yield "| scheduler | area | interval | lowest | of the optimum | at the end | in proportion | lowest | worth | bugs |"
            yield "|---|---|---|---|---|---|---|---|---|---|"
            yield from _half(recording, names, cores)


def _half(recording: GrowthRecording, names: list[str], cores: int) -> Iterator[str]:
    part = _part(recording, names)
    replays = _play(part, _settings(part, cores), REPLAYS)
    species, shares, worths, bugs = (
        {score.name: score for score in compare(replays, part, OUTCOME_NAMES[o], [1.0], 1)}
        for o in ("coverage", "proportion", "worth", "bugs")
    )
    has_bugs = any(one.bugs for many in part.repeats for one in many)
    drawn = _drawn(recording, names, cores)
    base = species["round-robin"].at[0].value
    for score in species.values():
        low, high = np.quantile(drawn[score.name], (0.025, 0.975))
        other = shares[score.name]
        found = f"{bugs[score.name].ratio.value:.3f}" if has_bugs else "–"
        yield (
            f"| `{score.name}` | {score.ratio.value:.3f} | {low:.3f}–{high:.3f} | {score.lowest:.3f} "
            f"| {score.share_of_optimum:.1%} | {score.at[0].value / base:.3f} | {other.ratio.value:.3f} "
            f"| {other.lowest:.3f} | {worths[score.name].ratio.value:.3f} | {found} |"
        )


def _drawn(recording: GrowthRecording, names: list[str], cores: int) -> dict[str, list[float]]:
    """Ratios of areas on targets drawn with replacement, one repeat of each."""
    rng = np.random.default_rng(1)
    outcome = OUTCOME_NAMES["coverage"]
    found: dict[str, list[float]] = {name: [] for name in RIVALS}
    for seed in range(REPLAYS):
        part = _part(recording, [str(name) for name in rng.choice(names, len(names))])
        replays = {one.name: one for one in _play(part, _settings(part, cores), 1, seed)}
        base = replays["round-robin"].area(outcome)[0]
        for name, one in replays.items():
            found[name].append(float(one.area(outcome)[0] / base))
    return found


def _shares(recording: GrowthRecording) -> Iterator[str]:
    replays = {one.name: one for one in _play(recording, _settings(recording, 1), REPLAYS)}
    given = {
        name: replays[name].spent.mean(axis=0) / replays[name].spent.mean()
        for name in ("risk-rate", "risk-rate/proportion")
    }
    rates = []
    for many in recording.repeats:
        quarter = many[0].table.shape[1] // 4
        ends = [one.table[SPECIES, -1] - one.table[SPECIES, -quarter - 1] for one in many]
        rates.append(np.mean(ends) / (quarter * recording.step))
    for number in np.argsort(-np.array(rates)):
        cells = " | ".join(f"{share[number]:.2f}" for share in given.values())
        yield f"| {recording.targets[number]} | {rates[number]:.1f} | {cells} |"


def _retiring(recordings: Mapping[float | None, GrowthRecording]) -> Iterator[str]:
    names = ("risk-rate", "risk-rate/retirement", "round-robin")
    for risk, recording in recordings.items():
        if risk is None:
            continue
        settings = _settings(recording, 1, retires=True)
        chosen = [policies()[name] for name in names]
        replays = replay_growth(recording, chosen, settings, repeats=REPLAYS, seed=1, jobs=2)
        retired, species = (
            {score.name: score for score in compare(replays, recording, OUTCOME_NAMES[o], [1.0], 1)}
            for o in ("retired", "coverage")
        )
        for name in names:
            one = retired[name]
            best = "–" if one.share_of_optimum is None else f"{one.share_of_optimum:.0%}"
            yield (
                f"| {risk:g} | `{name}` | {one.area.value:.1f} | {one.at[0].value:.1f} | {best} "
                f"| {species[name].ratio.value:.3f} | {species[name].lowest:.3f} |"
            )


def _missed(recordings: Mapping[float | None, GrowthRecording]) -> Iterator[str]:
    for risk, recording in recordings.items():
        if risk is None:
            continue
        told = summarise(recording)
        shares = (told.saved_share, told.missed_share, told.most_missed_share)
        cells = " | ".join("–" if share is None else f"{share:.1%}" for share in shares)
        yield f"| {risk:g} | {told.retired} of {told.repeats} | {cells} | {told.missed_bugs} |"
