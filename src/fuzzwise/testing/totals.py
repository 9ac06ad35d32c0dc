"""Totals of a target beside each other: what may change from one to the next, and what may not."""

from __future__ import annotations

from collections.abc import Iterator

from fuzzwise.engines.contract import Totals
from fuzzwise.testing.broken import Contract

ROUNDED = 0.01
"""Seconds by which two tellings of the same time may differ."""


def check_totals(contract: Contract, told: Totals, name: str) -> None:
    """That totals do not contradict themselves."""
    contract.need(isinstance(told, Totals), "turn", f"{name} returned {told!r}, no Totals.")
    n, found = told.observation.n, told.observation.discoveries
    whole = [] if found is None else [int(number) for number in found]
    is_sound = whole == sorted(set(whole)) and all(1 <= number <= n for number in whole)
    said = f"after {name}, the numbers of discoveries are not increasing, or not in 1 … {n}."
    contract.need(is_sound, "turn", said)


def check_growth(contract: Contract, before: Totals, after: Totals, when: str) -> None:
    """That counts are of the same generation, and none has fallen."""
    if before.generation:
        said = f"{when}, the counts are {after.generation!r}, no more {before.generation!r}."
        contract.need(after.generation == before.generation, "generations", said)
    for (name, old), (_, new) in zip(_counts(before), _counts(after), strict=True):
        fell = f"{when}, {name} fell from {old:,.10g} to {new:,.10g}."
        contract.need(new >= old, "absolute", fell)


def check_same(
    contract: Contract, clause: str, told: Totals, known: Totals | None, when: str, whose: str
) -> None:
    """That what is known is what was told."""
    contract.need(known is not None, clause, f"{when}, {whose} knows nothing.")
    assert known is not None
    names = (known.generation, told.generation)
    said = f"{when}, {whose} knows the counts {names[0]!r}, and was told {names[1]!r}."
    contract.need(names[0] == names[1], clause, said)
    for (name, one), (_, other) in zip(_counts(told), _counts(known), strict=True):
        allowed = ROUNDED if name == "seconds" else 0
        said = f"{when}, {whose} knows {name} = {other:,.10g}, and {one:,.10g} were told."
        contract.need(abs(one - other) <= allowed, clause, said)


def _counts(totals: Totals) -> Iterator[tuple[str, float]]:
    seen = totals.observation
    yield "n", seen.n
    yield "seconds", totals.seconds
    yield "the number of discoveries", 0 if seen.discoveries is None else len(seen.discoveries)
    yield "species", seen.species or 0
    yield "the number of bugs", len(totals.bugs)
    yield "crashes", totals.crashes
