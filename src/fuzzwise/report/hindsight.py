"""The bugs of a campaign over the time spent, beside the best schedule in hindsight.

The campaign is read as a recording (FS §4): each target's bugs on the target's own clock. The best
schedule on it gives every target just the time that its bugs need. It knows only what this campaign
saw: a target that got little time may have had more to show. So it bounds what another schedule
could have made of the *same* findings, and says nothing about other findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fuzzwise.lab.optimum import best_schedules
from fuzzwise.lab.recording.recording import MARK, ConfigurationLog, Recording
from fuzzwise.model import Floats, Ints
from fuzzwise.store.contract import BugTime
from fuzzwise.store.states import CampaignState


@dataclass(frozen=True, eq=False)
class Hindsight:
    """Seconds on cores until 0, 1, 2 … distinct bugs: of the campaign, and at best.

    ``spent`` is all the time of the campaign. ``exact`` is false where targets share bugs, so that
    a still better schedule may exist than the one found.
    """

    campaign: Floats
    best: Floats
    spent: float
    exact: bool


def hindsight(state: CampaignState, times: Sequence[BugTime]) -> Hindsight | None:
    """Both curves; None where no bug was found."""
    names = [target.name for target in state.targets]
    times = [time for time in times if time.target in names]
    if not times:
        return None
    spent = max(
        sum(target.seconds for target in state.targets),
        sum(_latest(times).values()),
    )
    campaign = _campaign(times, state.seconds, spent)
    best = best_schedules(_recording(state, times))
    # The campaign itself is a schedule: where bugs are shared it may beat the lower curve.
    reached = np.minimum(best.lower.times / 1e6, campaign)
    return Hindsight(campaign, reached, max(spent, float(campaign[-1])), best.exact)


def _campaign(times: Sequence[BugTime], seconds: float, spent: float) -> Floats:
    """When the campaign had 0, 1, 2 … bugs, in seconds on cores.

    Cores are taken to be busy all the time. But when a bug is shown, each target has had at least
    the time after which it showed its latest bug, and these add up.
    """
    rate = spent / seconds if seconds else 0.0
    first: dict[str, float] = {}
    had: dict[str, float] = {}
    now = 0.0
    for time in sorted(times, key=lambda t: t.at):
        had[time.target] = max(had.get(time.target, 0.0), time.after_seconds)
        now = max(now, time.at * rate, sum(had.values()))
        first.setdefault(time.bug, now)
    return np.array([0.0, *first.values()])


def _recording(state: CampaignState, times: Iterable[BugTime]) -> Recording:
    bugs = tuple(dict.fromkeys(time.bug for time in times))
    number = {bug: i for i, bug in enumerate(bugs)}
    own: dict[str, list[BugTime]] = {target.name: [] for target in state.targets}
    for time in times:
        own[time.target].append(time)
    logs = []
    for target in state.targets:
        shown = sorted(own[target.name], key=lambda t: t.after_seconds)
        clock = [*(t.after_seconds for t in shown), target.seconds]
        runs = [*(t.after_inputs for t in shown), target.inputs]
        logs.append(
            ConfigurationLog(
                target.name,
                _rising(np.array(runs, dtype=np.int64)),
                _rising(np.round(np.array(clock) * 1e6).astype(np.int64)),
                np.array([*(number[t.bug] for t in shown), MARK], dtype=np.int64),
            )
        )
    return Recording(tuple(logs), bugs)


def _rising(clock: Ints) -> Ints:
    """A clock that never falls: a target built anew begins its counts again."""
    return np.maximum.accumulate(np.maximum(clock, 0))


def _latest(times: Iterable[BugTime]) -> dict[str, float]:
    latest: dict[str, float] = {}
    for time in times:
        latest[time.target] = max(latest.get(time.target, 0.0), time.after_seconds)
    return latest
