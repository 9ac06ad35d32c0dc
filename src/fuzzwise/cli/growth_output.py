"""Recordings of how targets grow, on the command line: made by ``record``, used by ``replay``."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzwise.errors import BadInput
from fuzzwise.pressure import BUSY, Pressure
from fuzzwise.report import grid, lines
from fuzzwise.text import many

if TYPE_CHECKING:
    from fuzzwise.lab.growth.comparison import GrowthScore
    from fuzzwise.lab.growth.recorder import Grown, GrowthPlan
    from fuzzwise.lab.growth.recording import GrowthRecording
    from fuzzwise.lab.growth.replay import GrowthReplay, Settings
    from fuzzwise.lab.growth.retirement import RetirementSummary
    from fuzzwise.lab.growth.worth import Prices

DEFAULT_SECONDS = 600.0
TENTHS = (1, 2, 5, 10)
FINE, MOST_STEPS = 1.0, 100_000
"""Seconds of a step of a recording's clock at most, unless it had more steps than that."""


def is_campaign_file(path: Path) -> bool:
    """Whether a file names targets of campaigns rather than configurations to record."""
    from fuzzwise.config.table import read_toml

    content = read_toml(path)
    return "target" in content and "configuration" not in content


def plan_growth(
    file: Path, out: Path, seconds: float | None, cores: int | None, repeats: int
) -> GrowthPlan:
    """What to record of a campaign file; its programs are built below the recording's folder."""
    from fuzzwise.campaign.build import build_all
    from fuzzwise.campaign.file import read_plan
    from fuzzwise.lab.growth.recorder import GrowthPlan

    plan = read_plan(file, out)
    failed = build_all(plan, lambda sentence: lines.say(sentence, err=True))
    if failed:
        raise BadInput("\n".join(f"{name}: {why}" for name, why in failed.items()))
    parts = (part for target in plan.targets for part in target.parts)
    return GrowthPlan(
        tuple(replace(part, jobs=1) for part in parts),
        seconds or plan.budget or DEFAULT_SECONDS,
        repeats,
        cores or plan.cores,
        plan.epoch,
        plan.seed,
    )


def record_growth(plan: GrowthPlan, out: Path, stop: threading.Event) -> list[Grown]:
    """Record, with a line for each repeat that is done."""
    from fuzzwise.lab.growth.recorder import record

    said: set[str] = set()
    pressures: dict[str, Pressure] = {}
    busiest = 0.0
    lock = threading.Lock()

    def progress(done: Grown) -> None:
        nonlocal busiest
        with lock:
            pressure = pressures.setdefault(done.name, Pressure())
            if (done.finished or done.problem) and done.name not in said:
                said.add(done.name)
                of = len(plan.targets) * plan.repeats
                share = pressure.share() or 0.0
                busiest = max(busiest, share)
                busy = f" (machine busy: {share:.0%})" if share >= BUSY else ""
                lines.say(f"{len(said)} of {of}: {_sentence(done)}{busy}", err=True)

    total = len(plan.targets) * plan.repeats * plan.seconds / plan.cores
    from fuzzwise.report.words import duration

    lines.say(
        f"{many(len(plan.targets), 'target')}, {many(plan.repeats, 'repeat')} of "
        f"{duration(plan.seconds)} each: about {duration(total)}. Ctrl-C ends it; the same "
        "command goes on.",
        err=True,
    )
    results = record(plan, out, progress, stop)
    if busiest >= BUSY:
        lines.say(f"fuzzwise record: {busy_sentence(busiest, 'of a recording')}", err=True)
    return results


def busy_sentence(share: float, time: str) -> str:
    """What is to be told of a machine that did other things meanwhile."""
    return (
        f"For up to {share:.0%} of the time {time} something on this machine waited for a core: "
        "what is recorded may be slower than it is alone."
    )


def _sentence(done: Grown) -> str:
    if done.problem:
        return f"{done.name}: {done.problem}"
    return (
        f"{done.name}: {many(done.runs, 'input')}, {many(done.discoveries, 'discovery')}, "
        f"{many(done.bugs, 'bug')} in {done.seconds:.0f} s"
    )


def show_recorded(results: Sequence[Grown], out: Path) -> None:
    """The table of what was recorded."""
    head = ("recorded", "inputs", "coverage", "discoveries", "bugs", "time")
    rows = [
        (
            one.name,
            f"{one.runs:,}",
            f"{one.species:,}",
            f"{one.discoveries:,}",
            f"{one.bugs:,}",
            f"{one.seconds:.0f} s",
        )
        for one in results
    ]
    lines.table("Recorded", grid.of_rows(head, rows, ranks=(0, 2, 5, 3, 4, 1)))
    for one in results:
        if one.problem:
            lines.say(f"{one.name}: {one.problem}", err=True)
    if any(one.finished for one in results):
        lines.say(f"Next, compare schedulers on it: fuzzwise replay {out}")


def recorded_json(out: Path, results: Sequence[Grown]) -> dict[str, object]:
    """The same for programs."""
    return {"out": str(out), "targets": [asdict(one) for one in results]}


@dataclass(frozen=True)
class Asked:
    """What the user of ``replay`` asked for."""

    files: list[Path]
    names: tuple[str, ...]
    repeats: int
    budget: float | None
    epoch: float | None
    cores: int
    accepted_risk: float | None
    outcome: str
    seed: int
    jobs: int


@dataclass(frozen=True)
class Compared:
    """What a replay came to; ``retirement`` is None where no risk is accepted.

    ``prices`` are those that the outcome ``worth`` rests on.
    """

    settings: Settings
    prices: Prices
    recording: GrowthRecording
    replays: list[GrowthReplay]
    scores: list[GrowthScore]
    retirement: RetirementSummary | None


def compare_growth(asked: Asked) -> Compared:
    """Every scheduler on the recording."""
    from fuzzwise.campaign.file import default_epoch
    from fuzzwise.lab.growth.comparison import compare
    from fuzzwise.lab.growth.recording import lay_out, read_campaigns
    from fuzzwise.lab.growth.replay import OUTCOME_NAMES, Settings, replay_growth
    from fuzzwise.lab.growth.retirement import summarise
    from fuzzwise.lab.growth.worth import prices
    from fuzzwise.schedulers.registry import find, policies

    known = policies()
    chosen = [word for word in asked.names if word not in ("all", "paper", "newer")]
    wanted = [find(name).policy for name in chosen] or list(known.values())
    campaigns = read_campaigns(asked.files)
    for warning in campaigns.warnings:
        lines.say(f"fuzzwise replay: {warning}", err=True)
    seconds, targets = campaigns.shortest_seconds, len(campaigns.by_target)
    budget = asked.budget or seconds * targets / asked.cores / 2
    epoch = asked.epoch or default_epoch(budget, asked.cores, targets)
    step = min(max(FINE, seconds / MOST_STEPS), epoch / 8)
    recording = lay_out(campaigns, accepted_risk=asked.accepted_risk, step=step)
    retires = asked.accepted_risk is not None
    settings = Settings(budget, epoch, asked.cores, retires)
    if "round-robin" not in {policy.name for policy in wanted}:
        wanted.append(known["round-robin"])
    replays = replay_growth(
        recording, wanted, settings, repeats=asked.repeats, seed=asked.seed, jobs=asked.jobs
    )
    outcome = OUTCOME_NAMES[asked.outcome]
    scores = compare(replays, recording, outcome, [tenth / 10 for tenth in TENTHS], asked.seed)
    retirement = summarise(recording) if retires else None
    return Compared(settings, prices(recording), recording, replays, scores, retirement)


def growth_json(asked: Asked, compared: Compared) -> dict[str, object]:
    """All of it for programs."""
    settings, retirement = compared.settings, compared.retirement
    return {
        "outcome": asked.outcome,
        "targets": list(compared.recording.targets),
        "budget": settings.budget,
        "epoch_seconds": settings.epoch,
        "cores": settings.cores,
        "accepted_risk": asked.accepted_risk,
        "repeats": asked.repeats,
        "seed": asked.seed,
        "retirement": None if retirement is None else asdict(retirement),
        "prices": compared.prices._asdict(),
        "schedulers": [asdict(score) for score in compared.scores],
    }


def growth_chart(asked: Asked, compared: Compared) -> Any:
    """The outcome over time, for each scheduler."""
    from fuzzwise.lab.growth.comparison import BASELINE, optimum
    from fuzzwise.lab.growth.replay import OUTCOME_NAMES
    from fuzzwise.report.charts import growth as chart

    number = OUTCOME_NAMES[asked.outcome]
    base = next(one for one in compared.replays if one.name == BASELINE)
    bound = optimum(base, compared.recording, number, asked.seed)
    named = (asked.outcome, number)
    return chart.draw(
        compared.replays, compared.scores, bound, named, [chart.what(compared.replays)]
    )


def show_growth(asked: Asked, compared: Compared) -> None:
    """The table of schedulers, the best first."""
    from fuzzwise.report.words import duration

    settings = compared.settings
    lines.say(
        f"{asked.outcome.capitalize()} in a budget of {duration(settings.budget)} on "
        f"{many(settings.cores, 'core')}, epochs of {duration(settings.epoch)}, "
        f"{many(asked.repeats, 'repeat')}."
    )
    times = [f"at {duration(settings.budget * tenth / 10)}" for tenth in TENTHS]
    head = ("scheduler", "area", "vs round-robin", "interval", "lowest", "optimum", *times)
    rows = [
        (
            score.name,
            f"{score.area.value:,.1f}",
            f"{score.ratio.value:.3f}",
            f"{score.ratio.low:.3f}–{score.ratio.high:.3f}",
            f"{score.lowest:.3f}",
            "–" if score.share_of_optimum is None else f"{score.share_of_optimum:.0%}",
            *(f"{m.value:,.1f}" for m in score.at),
        )
        for score in compared.scores
    ]
    ranks = (0, 2, 1, 3, 5, 4, *[6] * len(times))
    lines.table("Best area first", grid.of_rows(head, rows, ranks))
    lines.say(
        "area: mean over the budget. vs round-robin: ratio of the areas on the same recordings, "
        "with the 95% interval of its mean; lowest: the least ratio at any time after the first "
        "round, of the means. optimum: share of what no schedule can exceed."
    )
    if asked.outcome == "worth":
        lines.say(_worth_sentence(compared.prices, retires=settings.retires))
    if compared.retirement is not None:
        lines.say(_retirement_sentence(compared.retirement, asked.accepted_risk))


def _worth_sentence(price: Prices, *, retires: bool) -> str:
    """What is counted, at which price."""
    species = "nothing" if price.species == 0.0 else f"1/{1 / price.species:,.0f} of one"
    retired = f", a retired target {price.retired:g} of one" if retires else ""
    return (
        f"worth: counted in bugs, each bug as one; a new species is worth {species}{retired}. The "
        "price is that of this recording."
    )


def _retirement_sentence(of: RetirementSummary, risk: float | None) -> str:
    """What retiring saved and missed on the recordings, whatever the scheduler."""
    if of.saved_share is None or of.missed_share is None or of.most_missed_share is None:
        return f"None of {many(of.repeats, 'recording')} reaches the accepted risk {risk:g}."
    return (
        f"Retired at the accepted risk {risk:g}: {of.retired} of "
        f"{many(of.repeats, 'recording')}, with {of.saved_share:.0%} of their time left, in which "
        f"they would have shown {of.missed_share:.1%} of their species (at most "
        f"{of.most_missed_share:.1%}) and {many(of.missed_bugs, 'bug')}."
    )
