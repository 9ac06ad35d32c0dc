"""The pages as pieces: what each shows of a campaign, in the words of the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fuzzwise import __version__
from fuzzwise.report import short, words
from fuzzwise.report.campaign import charts
from fuzzwise.report.campaign import page as report_page
from fuzzwise.report.campaign import words as say
from fuzzwise.report.campaign.bug_articles import articles
from fuzzwise.report.campaign.conclusions import conclusions
from fuzzwise.report.campaign.news import news
from fuzzwise.report.hindsight import hindsight
from fuzzwise.serve.campaigns import Campaign, Moment
from fuzzwise.serve.drawings import Drawings, missing
from fuzzwise.serve.pieces import Page
from fuzzwise.serve.targets import Rows, address
from fuzzwise.serve.timeline import Span, lanes_of
from fuzzwise.store.states import BugState, CampaignState, TargetState

FILES = Path(__file__).parent
MOST_NEWS = 15
MOST_BUGS = 100
MOST_DECISIONS = 30
MOST_SINCE = 30


class NotThere(LookupError):
    """There is no such target or bug; the message says so."""


class Pages:
    """Draws pages; one for all campaigns, and for all threads."""

    def __init__(self) -> None:
        self._environment = report_page.environment_of(FILES / "templates", report_page.TEMPLATES)
        self._environment.globals |= {
            "arrows": report_page.ARROWS,
            "version": __version__,
        }
        self._environment.filters |= {
            "clock": short.clock,
            "safe_svg": report_page.markup_of,
            "bug_address": bug_address,
        }
        self._parts: Any = self._environment.get_template("parts.html").module
        self._drawings = Drawings()
        self._rows: dict[str, Rows] = {}

    def whole(self, template: str, page: Page, **values: object) -> str:
        """A page for a browser that has nothing yet."""
        markup = {name: report_page.markup_of(piece) for name, piece in page.pieces.items()}
        file = self._environment.get_template(template)
        return file.render(pieces=markup, lists=page.lists, **values)

    def part(self, name: str, *values: object) -> str:
        """A piece of a page."""
        return str(getattr(self._parts, name)(*values)).strip()

    def login(self, to: str, wrong: bool) -> str:
        """The page that asks for the token."""
        return self._environment.get_template("login.html").render(next=to, wrong=wrong)

    def message(self, sentence: str, back: str) -> str:
        """A page that says one thing, and where to go from there."""
        values = {"live": "", "mark": "", "key": "", "title": "Not to be found", "here": "-"}
        word = "To the campaign" if back != "/" else "To the beginning"
        file = self._environment.get_template("message.html")
        return file.render(sentence=sentence, back=back, back_word=word, **values)

    def index(self, campaigns: list[tuple[str, Moment]]) -> Page:
        """All campaigns, a card each."""
        cards = {
            f"campaign-{i}": self.part(
                "campaign_card",
                *(f"campaign-{i}", key, moment, moment.state),
                say.verdict(moment.state) if moment.state else "",
                say.progress(moment.state) if moment.state else "",
            )
            for i, (key, moment) in enumerate(campaigns)
        }
        return Page(cards, {"campaigns": tuple(cards)})

    def overview(self, campaign: Campaign, moment: Moment) -> Page:
        """The answer first, then targets, bugs and what happened."""
        state = moment.state
        made = {"problem": self.part("problem", moment.problem)}
        if state is None:
            return Page(made)
        made |= {
            "head": self.part("head", state, say.verdict(state), say.progress(state)),
            "tiles": self.part("tiles", report_page.tiles(state)),
            "conclusions": self.part("conclusions", conclusions(state)),
            "bugs": self.part("bugs", say.bugs_worst_first(state.bugs)[:MOST_BUGS], state),
            "news": self.part("news", list(reversed(news(state, MOST_NEWS)))),
        }
        draw = partial(self.part, "target_row")
        rows = self._rows.setdefault(campaign.key, Rows(draw)).of(moment)
        return Page(made | rows, {"targets": tuple(rows)})

    def target(self, campaign: Campaign, moment: Moment, name: str, *, draw: bool) -> Page:
        """All about one target."""
        state = _known(moment)
        target = next((each for each in state.targets if each.name == name), None)
        if target is None:
            raise NotThere(f"The campaign has no target {name!r}.")
        bugs = [bug for bug in say.bugs_worst_first(state.bugs) if name in bug.targets]
        decisions = campaign.reader.decisions(name, MOST_DECISIONS)
        risk, speed = self._target_charts(campaign, state, target, draw=draw)
        label = report_page.described(target)
        return Page(
            {
                "problem": self.part("problem", moment.problem),
                "target-head": self.part("target_head", target, state),
                "target-tiles": self.part("tiles", _target_tiles(target, state)),
                "warnings": self.part("warnings", target),
                "risk": self.part("chart", "risk", risk, label, _waiting(target)),
                "speed": self.part("chart", "speed", speed, "Inputs a second", _waiting(target)),
                "decisions": self.part("decisions", list(reversed(decisions))),
                "bugs": self.part("bugs", bugs[:MOST_BUGS], state),
            }
        )

    def bug(self, moment: Moment, identity: str) -> Page:
        """All about one bug; the article is that of the report, with the input by an address."""
        state = _known(moment)
        bug = next((each for each in state.bugs if each.id == identity), None)
        if bug is None:
            raise NotThere(f"The campaign has no bug {identity!r}.")
        (article,) = articles(state, [bug])
        if article.dump:
            article = replace(article, link=input_address(bug, 0))
        targets = [(t, address(t)) for t in state.targets if t.name in bug.targets]
        return Page(
            {
                "problem": self.part("problem", moment.problem),
                "bug": self.part("bug", article, bug),
                "seen": self.part("seen", bug, targets, [input_address(bug, i) for i in range(9)]),
            }
        )

    def timeline(
        self, campaign: Campaign, moment: Moment, part: tuple[float, float] | None, *, draw: bool
    ) -> Page:
        """What was fuzzed when, and the best schedule in hindsight."""
        state = _known(moment)
        whole = max(state.seconds, 1.0)
        span = Span(*part) if part else Span(0.0, whole)
        lanes = lanes_of(state, campaign.reader.stretch(span.start, span.end), span)
        return Page(
            {
                "problem": self.part("problem", moment.problem),
                "lanes": self.part("lanes", lanes, span, _steps(span, whole), part is None),
                "legend": self.part(
                    "legend", lanes.legend, [(t.name, address(t)) for t in state.targets]
                ),
                "hindsight": self._hindsight(campaign, state, draw=draw),
            }
        )

    def since(self, moment: Moment, at: float) -> str:
        """What happened after a moment of the campaign, newest first; "" for nothing."""
        state = _known(moment)
        happened = [item for item in news(state) if item.at > at]
        if not happened:
            return ""
        shown = list(reversed(happened))[:MOST_SINCE]
        return self.part("since", shown, len(happened), at)

    def _target_charts(
        self, campaign: Campaign, state: CampaignState, target: TargetState, *, draw: bool
    ) -> tuple[str, str]:
        if missing():
            return "", ""

        def drawn(which: Callable[[], str], name: str) -> str:
            of = (target.inputs, target.accepted_risk, state.running)
            return self._drawings.get((campaign.key, target.name, name), of, which, wait=draw)

        def risk() -> str:
            past = campaign.reader.history(target=target.name)
            able = [p for p in past if (p.inputs > 0).any()]
            if not able:
                return ""
            return charts.TargetCharts([(target, able[0])]).draw(target, able[0], "risk")

        def speed() -> str:
            past = campaign.reader.history(target=target.name)
            return charts.speed_chart(past[0], "speed") if past and len(past[0].at) else ""

        return drawn(risk, "risk"), drawn(speed, "speed")

    def _hindsight(self, campaign: Campaign, state: CampaignState, *, draw: bool) -> str:
        if missing() or not state.bugs:
            return self.part("hindsight", "", missing(), bool(state.bugs))

        def drawn() -> str:
            chart = report_page.bugs_chart(hindsight(state, campaign.reader.bug_times()))
            return self.part("hindsight_chart", chart) if chart else ""

        of = (len(state.bugs), state.epochs, state.running)
        made = self._drawings.get((campaign.key, "hindsight"), of, drawn, wait=draw)
        return self.part("hindsight", report_page.markup_of(made), "", True)


def bug_address(bug: BugState | str) -> str:
    """The page of a bug, beside that of its campaign."""
    identity = bug if isinstance(bug, str) else bug.id
    return f"bug?{urlencode({'id': identity}, errors='backslashreplace')}"


def input_address(bug: BugState, number: int) -> str:
    """Where an input of a bug can be saved from."""
    return f"input?{urlencode({'bug': bug.id, 'number': number}, errors='backslashreplace')}"


def _known(moment: Moment) -> CampaignState:
    if moment.state is None:
        raise NotThere(moment.problem or "The campaign has not begun yet.")
    return moment.state


def _waiting(target: TargetState) -> str:
    """What stands in the place of a chart that is not drawn."""
    if why := missing():
        return why
    return "Being drawn …" if target.inputs else "Nothing to draw: it has run no input yet."


def _target_tiles(target: TargetState, state: CampaignState) -> list[tuple[str, str]]:
    kind = "species" if target.finds_coverage else "bugs seen"
    return [
        ("risk", say.chance(target.risk.risk if target.risk else None)),
        ("at least", say.chance(target.risk.low if target.risk else None)),
        (f"at most, {state.confidence:.0%}", say.at_most(target)),
        ("accepted", say.chance(target.accepted_risk)),
        ("time left", say.left(target)),
        ("inputs", words.count(target.inputs)),
        ("inputs a second", words.count(target.inputs_per_second)),
        (kind, words.count(target.species)),
        ("discoveries", words.count(target.discoveries)),
        ("corpus", words.count(target.corpus)),
        ("share of time", words.percent(target.share_of_time)),
    ]


def _steps(span: Span, whole: float) -> list[tuple[str, str]]:
    """The links that zoom and move, as words and addresses."""
    made = [
        ("zoom in", span.zoomed(0.5, whole)),
        ("zoom out", span.zoomed(2.0, whole)),
        ("earlier", span.moved(-0.5, whole)),
        ("later", span.moved(0.5, whole)),
    ]
    links = [(told, f"timeline?from={part.start:g}&to={part.end:g}") for told, part in made]
    return [*links, ("all of it", "timeline")]
