"""The rows of the table of targets, drawn anew only where something shown has changed."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from fuzzwise.report import left, words
from fuzzwise.report.campaign import words as say
from fuzzwise.serve.campaigns import Moment
from fuzzwise.store.states import BROKEN, RETIRED, CampaignState, TargetState

Draw = Callable[..., str]

_LAST, _FIRST = -1e300, 1e300


class Rows:
    """The rows of one campaign's targets; ``draw`` makes the HTML of one."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._made: dict[str, tuple[object, str]] = {}

    def of(self, moment: Moment) -> dict[str, str]:
        """The rows by the names of their pieces, the worst target first."""
        state = moment.state
        if state is None:
            return {}
        number = {target.name: i for i, target in enumerate(state.targets)}
        return {
            f"target-{number[target.name]}": self._row(
                f"target-{number[target.name]}", target, state, moment.sparks.get(target.name, "")
            )
            for target in say.worst_first(state.targets)
        }

    def _row(self, piece: str, target: TargetState, state: CampaignState, spark: str) -> str:
        share = words.percent(target.share_of_time)
        seen = (
            *(target.name, target.state, target.inputs, target.seconds, target.risk, target.bugs),
            *(target.accepted_risk, target.warnings, target.detail, state.running, share, spark),
        )
        kept = self._made.get(piece)
        if kept and kept[0] == seen:
            return kept[1]
        made = self._draw(piece, target, state.running, spark, sorting(target), address(target))
        self._made[piece] = (seen, made)
        return made


def address(target: TargetState) -> str:
    """The page of a target, beside that of its campaign; its name may be anything."""
    return f"target?{urlencode({'name': target.name}, errors='backslashreplace')}"


def sorting(target: TargetState) -> dict[str, float]:
    """By what a row can be sorted; what is not known comes behind everything else."""
    seconds = left.of_target(target)
    return {
        "worst": _worst(target),
        "risk": target.risk.risk if target.risk else _LAST,
        "most": say.upper_risk(target) or _LAST,
        "left": _LAST if seconds is None else min(seconds, _FIRST),
        "inputs": target.inputs,
        "speed": round(target.inputs_per_second, 1),
        "species": target.species,
        "bugs": len(target.bugs),
        "share": round(target.share_of_time, 3),
    }


def _worst(target: TargetState) -> float:
    """A number for the order of ``say.worst_first``."""
    if target.state == BROKEN:
        return _FIRST
    excess = min(say.excess(target), 1e200)
    return excess - 1e250 if target.state == RETIRED else excess
