"""A campaign as one HTML page that opens offline: conclusions, bugs, then figures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzwise import __version__
from fuzzwise.errors import MissingExtra
from fuzzwise.report import words
from fuzzwise.report.campaign import charts as campaign_charts
from fuzzwise.report.campaign import words as say
from fuzzwise.report.campaign.bug_articles import articles
from fuzzwise.report.campaign.conclusions import conclusions
from fuzzwise.report.campaign.elsewhere import Elsewhere
from fuzzwise.report.hindsight import Hindsight, hindsight
from fuzzwise.store.contract import BugTime
from fuzzwise.store.states import RETIRED, CampaignState, TargetHistory, TargetState
from fuzzwise.text import clean, printable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).parents[1] / "templates"
MOST_EVENTS = 200
MOST_SHARES = 30
ARROWS = {"falling": "↓", "level": "→", "rising": "↑"}


@dataclass(frozen=True)
class Chart:
    """A drawing with its words: for those who do not see it, and beneath it."""

    svg: Markup
    label: str
    caption: str = ""
    target: TargetState | None = None


@dataclass(frozen=True)
class Share:
    """A bar of the time chart, its width in percent of the longest."""

    name: str
    share: float
    seconds: float
    state: str
    width: float


def page(
    kept: CampaignState,
    history: Sequence[TargetHistory],
    bug_times: Sequence[BugTime],
    new_ids: Collection[str] | None = None,
    *,
    share: bool = False,
) -> str:
    """The page; ``new_ids`` are the bugs that a baseline does not know, None without a baseline.

    It needs no network and no scripts. Everything that a target may have written is cleaned of
    control characters and escaped. With ``share``, nothing tells of the machine.
    """
    environment = environment_of(TEMPLATES)
    elsewhere = Elsewhere(kept, share=share)
    state = elsewhere.state()
    order = say.bugs_worst_first(state.bugs, new_ids)
    drawn = campaign_charts.chosen(state, elsewhere.history(history))
    shares = _shares(state)
    missing = missing_charts_words()
    seen = hindsight(kept, bug_times)
    return environment.get_template("campaign.html").render(
        state=state,
        verdict=say.verdict(state, new_ids),
        progress=say.progress(state),
        tiles=tiles(state, new_ids),
        conclusions=conclusions(state, new_ids),
        targets=say.worst_first(state.targets),
        arrows=ARROWS,
        charts=[] if missing else _charts(drawn),
        missing_charts=missing if drawn or seen else "",
        left_out=_left_out(len(drawn), len(state.targets)),
        shares=shares,
        shares_left_out=_shares_left_out(state),
        bugs_chart=None if missing else bugs_chart(seen),
        bugs=order,
        articles=articles(kept, say.bugs_worst_first(kept.bugs, new_ids), share=share),
        baseline=new_ids is not None,
        new_ids=new_ids or (),
        events=list(reversed(state.events[-MOST_EVENTS:])),
        method=_method(state),
        folder="" if share else state.folder.absolute().name,
        version=__version__,
    )


def environment_of(*folders: Path) -> Environment:
    """Templates in folders; whatever they print is cleaned of control characters and escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_cleaned,
    )
    environment.filters |= {
        "chance": say.chance,
        "count": words.count,
        "duration": words.duration,
        "percent": words.percent,
        "lines": _lines,
        "bytes": lambda size: words.many(size, "byte"),
        "at_most": say.at_most,
        "builds": say.builds,
        "left": say.left,
        "place": say.place,
        "fate": say.fate,
    }
    return environment


def _cleaned(value: Any) -> Any:
    """Whatever the page prints, without control characters; markup of our own stays."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _lines(text: str) -> Markup:
    """A text of several lines, which are kept."""
    from markupsafe import escape

    return escape(clean(text))


def markup_of(text: str) -> Markup:
    """What is our own, and so not escaped; never anything that others have written."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  # drawn by the chart library


def tiles(state: CampaignState, new_ids: Collection[str] | None = None) -> list[tuple[str, str]]:
    """The numbers at the top of a page: what each is, and how large."""
    retired, active, broken = say.by_fate(state)
    shown = [("bugs", f"{len(state.bugs):,}")]
    if new_ids is not None:
        shown.append(("new bugs", f"{sum(bug.id in new_ids for bug in state.bugs):,}"))
    shown += [
        ("safe to stop", f"{len(retired):,} of {len(state.targets):,}"),
        ("not safe yet" if state.running else "not safe", f"{len(active):,}"),
        ("broken", f"{len(broken):,}"),
        ("inputs", words.count(sum(target.inputs for target in state.targets))),
        ("time on cores", words.duration(sum(target.seconds for target in state.targets))),
    ]
    return [tile for tile in shown if tile != ("broken", "0")]


def _charts(drawn: Sequence[tuple[TargetState, TargetHistory]]) -> list[Chart]:
    if not drawn:
        return []
    charts = campaign_charts.TargetCharts(drawn)
    return [
        Chart(markup_of(charts.draw(target, past, f"target-{i}")), described(target), "", target)
        for i, (target, past) in enumerate(drawn)
    ]


def described(target: TargetState) -> str:
    """A target's chart for those who do not see it."""
    risk = f"risk {words.probability(target.risk)}" if target.risk else "risk not known"
    kind = "species" if target.finds_coverage else "bugs"
    return (
        f"{target.name}: risk and {kind} over inputs. After {words.many(target.inputs, 'input')}: "
        f"{risk}, {target.species:,} {kind}."
    )


def _left_out(drawn: int, total: int) -> str:
    if drawn == total:
        return ""
    return (
        f"Shown are {drawn} of {total} targets: those that are not retired and have the highest "
        "risk, then those with most time. Targets that have run no input have no chart."
    )


def _shares(state: CampaignState) -> list[Share]:
    used = _used(state)
    longest = max((target.share_of_time for target in used), default=0.0) or 1.0
    return [
        Share(
            target.name,
            target.share_of_time,
            target.seconds,
            RETIRED if target.state == RETIRED else "",
            round(60 * target.share_of_time / longest, 2),
        )
        for target in used[:MOST_SHARES]
    ]


def _used(state: CampaignState) -> list[TargetState]:
    return sorted((t for t in state.targets if t.seconds), key=lambda t: -t.seconds)


def _shares_left_out(state: CampaignState) -> str:
    rest = _used(state)[MOST_SHARES:]
    if not rest:
        return ""
    share = words.percent(sum(target.share_of_time for target in rest))
    return f"Left out: {words.many(len(rest), 'target')} with the least time, {share} together."


def bugs_chart(seen: Hindsight | None) -> Chart | None:
    """Bugs over the time on cores, beside the best schedule in hindsight."""
    if seen is None:
        return None
    total = len(seen.campaign) - 1
    half = [int((curve <= seen.spent / 2).sum()) - 1 for curve in (seen.campaign, seen.best)]
    best = f"{words.duration(float(seen.best[-1]))} of {words.duration(seen.spent)}"
    label = (
        f"Bugs over the time on cores: {words.many(total, 'bug')} in {words.duration(seen.spent)}; "
        f"in half of that time {half[0]}, and {half[1]} by the best schedule in hindsight."
    )
    caption = (
        "The best schedule in hindsight gives each target just the time that its bugs needed: "
        f"{best} for all of them. It knows only what this campaign saw; a target that got little "
        "time may have had more to show."
    )
    if not seen.exact:
        caption += " Some bugs occur in several targets, so that a still better one may exist."
    return Chart(markup_of(campaign_charts.bugs_chart(seen)), label, caption)


def missing_charts_words() -> str:
    """What to install before charts can be drawn; "" where they can."""
    try:
        campaign_charts.check_installed()
    except MissingExtra as missing:
        return str(missing)
    return ""


def _method(state: CampaignState) -> list[str]:
    methods = sorted({target.risk.method for target in state.targets if target.risk})
    estimated = f" It is estimated by {', '.join(methods)}." if methods else ""
    budget = words.duration(state.budget) if state.budget else "no limit"
    return [
        f"{words.many(state.cores, 'core')}, budget {budget}, "
        f"{words.many(state.epochs, 'epoch')} of about {words.duration(state.epoch)}, "
        f"given to targets by the scheduler {state.scheduler}. Times in this page are "
        "running times of the campaign, over all its runs, or times on cores where it says so.",
        "The risk is the probability that the next input shows a species that was not seen before: "
        f"a coverage feature, or a bug for a black box.{estimated} Intervals have "
        f"{state.confidence:.0%} confidence, for each target on its own.",
        "A target is retired when the upper end of the interval is below its accepted risk. It is "
        "looked at whenever its inputs are a tenth more, with an error shared out over the looks, "
        "so that looking often does not add to the chance of stopping too early. A low risk says "
        "that this fuzzer, from this corpus, would find little more; not that there are no bugs.",
    ]
