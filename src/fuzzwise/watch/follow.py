"""Looking at campaigns again and again, until they may stop or have ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fuzzwise.errors import BadInput
from fuzzwise.estimators.waiting import are_many
from fuzzwise.judge import Terms
from fuzzwise.text import many
from fuzzwise.watch.end_cleanly import Ending, end_cleanly
from fuzzwise.watch.judged import Judged, judge_reading
from fuzzwise.watch.reading import Reading
from fuzzwise.watch.source import Source

GONE_AFTER = 5.0
"""Seconds after which a fuzzer that was at work, or has said its last words, and is no more has
ended; scripts restart some."""
SILENT_AFTER = 120.0
"""The same, where its process was never seen: AFL++ writes every minute at the latest."""
STILL_AFTER = 90.0
"""Seconds without a new count after which it is worth a warning."""
MANY_INPUTS = 10_000
"""Inputs after which a target that never showed anything new looks as if it did not read them."""


@dataclass(frozen=True)
class Warn:
    """Something odd; ``kind`` stays the same while the numbers in ``text`` change."""

    kind: str
    text: str


@dataclass(frozen=True)
class Standing:
    """A campaign at one look."""

    judged: Judged
    ended: bool = False
    warnings: tuple[Warn, ...] = ()


@dataclass(frozen=True)
class Stopped:
    """Why the looking ended: accepted-risk, time-budget, ended or interrupted."""

    reason: str
    detail: str


@dataclass(frozen=True)
class Look:
    """All campaigns at one moment; ``news``: whether it differs from the look before."""

    seconds: float
    campaigns: tuple[Standing, ...]
    news: bool = True
    stopped: Stopped | None = None


def warnings(reading: Reading) -> tuple[Warn, ...]:
    """What is odd about a campaign at a single look."""
    o = reading.observation
    if o.n == 0:
        return (Warn("no-inputs", "No input was made yet, as far as the files tell."),)
    if o.n >= MANY_INPUTS and o.discoveries is not None and len(o.discoveries) == 0:
        return (
            Warn(
                "no-discovery",
                f"{o.n:,} inputs and not one discovery: does the target read its input, and is "
                "it instrumented? A low risk means nothing if it does not.",
            ),
        )
    if reading.untried is not None and are_many(reading.untried.share):
        return (
            Warn(
                "untried",
                f"{reading.untried}: for what they may show, the estimate is higher than what was "
                "found of late (docs/afl-study.md).",
            ),
        )
    return ()


def look_once(
    sources: Sequence[Source], accepted_risk: float | None = None, confidence: float = 0.95
) -> Look:
    """All campaigns as they stand."""
    readings = [source.read() for source in sources]
    return Look(
        0.0,
        tuple(
            Standing(judge_reading(r, Terms(accepted_risk, confidence)), warnings=warnings(r))
            for r in readings
        ),
    )


class Follower:
    """Reads the sources at each ``look`` and says when there is no reason to look again.

    It ends when all campaigns are below the accepted risk, when ``seconds`` are over, or when all
    fuzzers have ended. A file that cannot be read for a while keeps its last reading. A campaign in
    ``settled`` was stopped on purpose, and counts as below the accepted risk for good.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        accepted_risk: float | None = None,
        confidence: float = 0.95,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.sources = sources
        self.settled: set[int] = set()
        self._terms = Terms(accepted_risk, confidence)
        self._limit = seconds
        self._clock = clock
        self._began = clock()
        self._paths = [_Path(self._began) for _ in sources]
        self._news = True

    def look(self) -> Look:
        """Read everything once."""
        self._news = False
        campaigns = tuple(map(self._standing, range(len(self.sources))))
        look = Look(self._clock() - self._began, campaigns, self._news)
        stopped = self._stopped(look)
        return replace(look, stopped=stopped, news=look.news or stopped is not None)

    def stop_reached(self, look: Look) -> list[tuple[Judged, Ending]]:
        """End the fuzzers of the campaigns that are below the accepted risk, each once.

        A process that also works for a campaign that is not there yet is left for later.
        """
        needed = {
            process.pid
            for c in look.campaigns
            if not c.judged.reached
            for process in c.judged.reading.processes
        }
        endings = []
        for number, campaign in enumerate(look.campaigns):
            pids = {process.pid for process in campaign.judged.reading.processes}
            if number in self.settled or not campaign.judged.reached or pids & needed:
                continue
            self.settled.add(number)
            endings.append((campaign.judged, end_cleanly(self.sources[number], needed)))
        return endings

    def _standing(self, number: int) -> Standing:
        path, now = self._paths[number], self._clock()
        if number in self.settled and path.judged:
            return Standing(path.judged, ended=True)
        problem = ""
        try:
            reading = self.sources[number].read()
        except BadInput as error:
            if path.judged is None:
                raise
            reading, problem = replace(path.judged.reading, processes=()), str(error)
        judged = path.judged
        if judged is None or _differs(reading, judged.reading):
            judged = path.judged = judge_reading(reading, self._terms)
            self._news = True
        path.take(reading, now)
        told = self._odd(path, reading, now, problem)
        if {w.kind for w in told} != path.told:
            path.told = {w.kind for w in told}
            self._news = True
        return Standing(judged, path.ended(now), told)

    def _odd(self, path: _Path, reading: Reading, now: float, problem: str) -> tuple[Warn, ...]:
        found = [*warnings(reading)]
        n, still = reading.observation.n, now - path.counted
        if problem:
            found.insert(0, Warn("unreadable", problem))
        if not reading.processes:
            found.insert(
                0,
                Warn(
                    "no-process",
                    "No process is writing these files: the count stands still at "
                    f"{many(n, 'input')}."
                    if still > 0 or path.seen
                    else "No process that writes these files was found.",
                ),
            )
        elif still >= STILL_AFTER:
            why = (
                " libFuzzer writes when it finds something or the count has doubled."
                if reading.kind == "libFuzzer"
                else ""
            )
            minutes = f"{still / 60:.0f} min" if still >= 120 else f"{still:.0f} s"
            text = f"The count has stood still at {many(n, 'input')} for {minutes}.{why}"
            found.insert(0, Warn("still", text))
        return tuple(found)

    def _stopped(self, look: Look) -> Stopped | None:
        risk, campaigns = self._terms.accepted_risk, look.campaigns
        reached = [c.judged.reached or i in self.settled for i, c in enumerate(campaigns)]
        if risk is not None and all(reached):
            decision = campaigns[0].judged.judgement.decision
            if len(campaigns) == 1 and decision is not None:
                return Stopped("accepted-risk", decision.detail)
            all_of_them = f"All {len(campaigns)} campaigns are below the accepted risk {risk:g}."
            return Stopped("accepted-risk", all_of_them)
        above = "" if risk is None else f" {_above(reached)} not below the accepted risk {risk:g}."
        if all(c.ended or done for c, done in zip(campaigns, reached, strict=True)):
            fuzzers = "The fuzzer has" if len(campaigns) == 1 else "All fuzzers have"
            return Stopped("ended", f"{fuzzers} ended.{above}")
        if self._limit is not None and look.seconds >= self._limit:
            return Stopped("time-budget", f"The time to watch is over.{above}")
        return None


class _Path:
    """What is remembered of one source between two looks."""

    def __init__(self, now: float) -> None:
        self.judged: Judged | None = None
        self.moved = self.counted = now
        self.n = -1
        self.seen = self.over = False
        self.told: set[str] = set()

    def take(self, reading: Reading, now: float) -> None:
        if reading.observation.n != self.n:
            self.n, self.moved, self.counted = reading.observation.n, now, now
        self.over = reading.said_the_end
        if reading.processes:
            self.seen, self.moved = True, now

    def ended(self, now: float) -> bool:
        return now - self.moved >= (GONE_AFTER if self.seen or self.over else SILENT_AFTER)


def _above(reached: Sequence[bool]) -> str:
    above = len(reached) - sum(reached)
    if len(reached) == 1:
        return "The campaign is"
    return f"{above} of {len(reached)} campaigns {'is' if above == 1 else 'are'}"


def _differs(new: Reading, old: Reading) -> bool:
    """Whether there is anything new to say; arrays have no equality of their own."""
    now, then = new.observation, old.observation

    def found(times: object) -> int:
        return -1 if times is None else len(times)  # type: ignore[arg-type]

    return (now.n, now.species, found(now.discoveries)) != (
        then.n,
        then.species,
        found(then.discoveries),
    ) or (new.corpus, new.crashes, new.hangs, new.processes, new.exact, new.notes) != (
        old.corpus,
        old.crashes,
        old.hangs,
        old.processes,
        old.exact,
        old.notes,
    )
