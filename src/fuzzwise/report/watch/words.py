"""What there is to say about a campaign of another fuzzer, in words; nothing a terminal obeys."""

from __future__ import annotations

import re

from fuzzwise.errors import NotEstimable
from fuzzwise.model import Estimate
from fuzzwise.report import bug_bound, judgement_words, short, words
from fuzzwise.watch.judged import Judged

NEEDS = {
    "discoveries": "which inputs found something",
    "f": "how many species were shown by one, two, three and four inputs",
    "k": "how many inputs show a species that no other input shows",
    "seeds": "counts for each seed, of the inputs made from it and of what they showed",
    "resets": "counts that begin again when seeds are added",
    "truth": "true probabilities that were measured on the way",
}
"""What estimators ask of an observation, by field, for readers who never heard of them."""
PER_SEED = "fuzzwise fuzz --per-seed"
KEEPS = {"truth": "fuzzwise fuzz --measure", "seeds": PER_SEED, "resets": PER_SEED}
"""The commands that keep it; for all else `fuzzwise fuzz` does."""
STEADY = 0.1
"""A change of the risk, over a doubling of the inputs, by less than this is none."""


def name(judged: Judged) -> str:
    """The campaign's name, as one harmless line."""
    return short.name(judged.reading.name)


def fuzzer(judged: Judged) -> str:
    """AFL++ 4.04c."""
    return f"{judged.reading.kind} {version(judged)}".strip()


def version(judged: Judged) -> str:
    """The version without the plus signs of AFL++'s own name for it, ++4.04c."""
    return short.name(judged.reading.version).removeprefix("++")


def conclusion(judged: Judged) -> list[str]:
    """The decision if there is one, the risk, and what is left."""
    a = judged.judgement
    decision, *left = judgement_words.decision(a) or [""]
    return [line for line in (decision, judgement_words.risk(a), *left, next_look(judged)) if line]


def next_look(judged: Judged) -> str:
    """When the stop rule looks again; nothing where it said stop, or there is none."""
    a = judged.judgement
    if a.next_look is None or a.decision is None or a.decision.stop:
        return ""
    due, wait = a.next_look, a.seconds_to_next_look
    when = "" if wait is None or wait > words.YEAR else f", in {words.ahead(wait)}"
    return f"The rule looks again after {words.many(due, 'input')}{when}."


def facts(judged: Judged) -> list[tuple[str, str]]:
    """What was read, as pairs of a name and a value."""
    reading, o = judged.reading, judged.reading.observation
    pids = ", ".join(str(process.pid) for process in reading.processes)
    alive = f"running, process {pids}" if pids else "no process that writes it was found"
    shown = [("fuzzer", f"{fuzzer(judged)} ({alive})"), ("inputs", inputs(judged))]
    if o.discoveries is not None:
        shown.append(("found", found(judged)))
    kept = [] if reading.corpus is None else [words.many(reading.corpus, "seed")]
    kept += [] if o.species is None else [f"{o.species:,} species"]
    if kept:
        shown.append(("corpus", ", ".join(kept)))
    bad = crashes(judged)
    return [*shown, ("crashes", bad)] if bad else shown


def inputs(judged: Judged) -> str:
    """Inputs, speed and time."""
    o = judged.reading.observation
    if not o.seconds:
        return f"{o.n:,}"
    return f"{o.n:,}   {short.count(o.n / o.seconds)}/s   {words.duration(o.seconds)}"


def found(judged: Judged) -> str:
    """Discoveries, and how long ago the latest was."""
    o = judged.reading.observation
    if o.discoveries is None:
        return short.NONE
    if len(o.discoveries) == 0:
        return "no discovery"
    ago = words.many(o.n - int(o.discoveries[-1]), "input")
    return f"{words.many(len(o.discoveries), 'discovery')}, the latest {ago} ago"


def crashes(judged: Judged) -> str:
    """Crashes and hangs as the fuzzer counts them, which is not by bug."""
    reading = judged.reading
    if reading.crashes is None:
        return ""
    if reading.crashes == 0 and not reading.hangs and reading.observation.n:
        bound = bug_bound.in_short(reading.observation.n, judged.judgement.terms.confidence)
        return f"0; {bound}"
    hangs = f", and {words.many(reading.hangs, 'hang')}" if reading.hangs else ""
    return f"{reading.crashes:,}{hangs}"


def growth(judged: Judged) -> list[str]:
    """The power law, and what it promises."""
    b = judged.judgement.exponent
    if b is None or b.low is None or b.high is None:
        return []
    law = f"Discoveries grow as n^{b.value:.2f} ({b.low:.2f} to {b.high:.2f})"
    if b.value >= 1:
        meaning = "they do not slow down yet"
    else:
        meaning = f"ten times the inputs find {10**b.value:.1f} times as much"
    lines = [f"{law}: {meaning}, if that power law goes on."]
    return lines + judgement_words.richness(judged.judgement)


def possible(judged: Judged) -> dict[str, Estimate]:
    """What the estimators say that the files allow."""
    found = judged.judgement.estimates.items()
    return {method: e for method, e in found if isinstance(e, Estimate)}


def impossible(judged: Judged) -> list[str]:
    """Which estimators the files do not allow, and why, a line for each reason."""
    reasons: dict[str, list[str]] = {}
    for method, e in judged.judgement.estimates.items():
        if isinstance(e, NotEstimable):
            reasons.setdefault(_field(str(e)), []).append(method)
    who = judged.reading.kind
    return [f"{', '.join(methods)}: {_why(field, who)}" for field, methods in reasons.items()]


def _field(reason: str) -> str:
    """The field that a reason names, or the reason itself."""
    if "measured discovery probabilities" in reason:
        return "truth"
    named = re.search(r"\(field (\w+)", reason)
    return named[1] if named else reason


def _why(field: str, who: str) -> str:
    if field not in NEEDS:
        return field if field.endswith(".") else f"{field}."
    if who == "go test":
        return f"needs {NEEDS[field]}, which Go's fuzzer does not tell."
    keeper = KEEPS.get(field, "fuzzwise fuzz")
    lacking = "These files do not have that" if who == "fuzzwise" else f"{who} does not write that"
    return f"needs {NEEDS[field]}. {lacking}; `{keeper}` does."
