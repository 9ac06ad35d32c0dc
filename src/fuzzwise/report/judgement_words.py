"""What a judgement says, in sentences: for ``estimate`` and ``watch``."""

from __future__ import annotations

from collections.abc import Mapping

from fuzzwise.errors import NotEstimable
from fuzzwise.estimators.registry import DEFAULT
from fuzzwise.judge import Judgement
from fuzzwise.model import Estimate
from fuzzwise.report import left, words
from fuzzwise.report.grid import Column


def risk(a: Judgement) -> str:
    """The default estimate, or why there is none."""
    if a.risk is None:
        return f"No default estimate: {DEFAULT} {a.estimates[DEFAULT]}."
    return (
        f"The next input shows something new with probability {words.probability(a.risk)}; "
        "a new bug at most as often, if each bug first shows together with something new."
    )


def decision(a: Judgement) -> list[str]:
    """Whether to stop and why; if not, what is left."""
    if a.decision is None:
        return []
    if a.decision.stop:
        return [f"Stop: {a.decision.detail}"]
    return [f"Go on: {a.decision.detail}", *_left(a)]


def _left(a: Judgement) -> list[str]:
    """How long still, in a sentence; nothing where that is not known."""
    inputs = left.inputs_in_words(a)
    if not inputs:
        return []
    time = left.in_words(a)
    if time.endswith(left.IF_QUIET):
        inputs = inputs.removesuffix(left.IF_QUIET)
    line = f"Left to an accepted risk of {a.accepted_risk:g}: {inputs}"
    return [f"{line}, at the present speed {time}." if time else f"{line}."]


def richness(a: Judgement) -> list[str]:
    """How much there is in all, and how much more as many inputs again would find."""
    lines = []
    if a.richness:
        lines.append(
            f"Species in all, as far as the present corpus reaches: {about(a.richness)} "
            "(Chao2, a lower bound)."
        )
    if a.reach_discoveries:
        then = about(a.reach_discoveries)
        lines.append(f"Discoveries in all if the campaign is run as long again: {then}.")
    return lines


def columns(estimates: Mapping[str, Estimate | NotEstimable]) -> list[Column]:
    """What estimators say, each in a row of a table."""
    titles = ("estimator", "Δ", "low", "high", "note")
    rows = [_row(method, e) for method, e in estimates.items()]
    cells = [[row[i] for row in rows] for i in range(len(titles))]
    return [
        Column(titles[0], cells[0]),
        *(Column(titles[i], cells[i], rank=i - 1, right=True) for i in (1, 2, 3)),
        Column(titles[4], cells[4], least=32, folds=True),
    ]


def _row(method: str, e: Estimate | NotEstimable) -> tuple[str, ...]:
    name = f"{method} (default)" if method == DEFAULT else method
    if isinstance(e, NotEstimable):
        return name, "–", "–", "–", str(e)
    above = "above 1: it counts species, not inputs" if e.value > 1 else ""
    note = "; ".join(filter(None, [e.note, above]))
    return name, words.number(e.value), words.number(e.low), words.number(e.high), note


def about(e: Estimate) -> str:
    """A whole number with its interval."""
    return words.span(e, lambda x: f"{x:,.0f}")
