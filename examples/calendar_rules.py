"""Rules for things that happen again, such as ``FREQ=WEEKLY;BYDAY=MO,3FR;INTERVAL=2``.

A small parser with two planted bugs, and a harness for it: fuzzwise fuzz examples/calendar_rules.py
"""

from __future__ import annotations

from dataclasses import dataclass, field

LENGTHS = (("DAILY", 1), ("WEEKLY", 7), ("MONTHLY", 30), ("YEARLY", 365))
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


class BadRule(Exception):
    """The text is no rule."""


@dataclass
class Rule:
    """How often, how many steps at a time, and on which days."""

    length: int = 1
    interval: int = 1
    days: list[tuple[int, int]] = field(default_factory=list)


def parse(text: str) -> Rule:
    """The rule that a text says."""
    rule = Rule()
    for part in text.split(";"):
        name, equals, value = part.partition("=")
        if not equals:
            raise BadRule(f"{part!r} is no NAME=VALUE")
        if name == "FREQ":
            rule.length = frequency(value)
        elif name == "INTERVAL":
            if not value.isdecimal():
                raise BadRule(f"{value!r} is no number")
            rule.interval = int(value)
        elif name == "BYDAY":
            rule.days = [day(word) for word in value.split(",")]
        else:
            raise BadRule(f"{name!r} is not known")
    return rule


def frequency(word: str) -> int:
    """The length of a step in days."""
    for name, length in LENGTHS:
        if word == name:
            return length
    raise BadRule(f"{word!r} is no frequency")


def day(word: str) -> tuple[int, int]:
    """Which day of the week, and the how many-th of it: 3FR is the third Friday."""
    for number, name in enumerate(DAYS):
        if word == name:
            return 0, number
        if word[-2:] == name:
            return int(word[:-2]), number  # bug: what comes before the name may be no number
    raise BadRule(f"{word!r} is no day")


def times_in_a_year(rule: Rule) -> int:
    """How many times it happens in 365 days."""
    steps = 365 // (rule.length * rule.interval)  # bug: every 0 weeks
    return steps * max(1, len(rule.days))


def TestOneInput(data: bytes) -> None:  # noqa: N802 - the name that fuzzers ask for
    """Any input is a rule, or none."""
    try:
        times_in_a_year(parse(data.decode("ascii", "replace")))
    except BadRule:
        return
