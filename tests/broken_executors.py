"""Executors of which each breaks one clause of the contract, and is sound otherwise."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from fuzzwise.campaign.executor import Result
from fuzzwise.campaign.threads import Threads
from fuzzwise.engines.contract import Session, Totals

WAITED_FOR = 3.0
"""Seconds after which somebody is found out by what does not come."""


class Twice(Threads):
    """Hands out each result again the next time."""

    again: tuple[Result, ...] = ()

    def wait(self, seconds: float) -> list[Result]:
        found = super().wait(0.0 if self.again else seconds)
        before, self.again = self.again, tuple(found)
        return [*found, *before]


class Swallowing(Threads):
    """Loses what nobody has thought of."""

    slack = WAITED_FOR

    def wait(self, seconds: float) -> list[Result]:
        return [result for result in super().wait(seconds) if "Unexpected" not in result.problem]


class Speechless(Threads):
    """Says of what went wrong only what it is called."""

    def wait(self, seconds: float) -> list[Result]:
        found = super().wait(seconds)
        return [replace(r, problem="OSError") if r.problem else r for r in found]


class Generous(Threads):
    """Thinks that each turn takes one core."""

    @property
    def free(self) -> int:
        return self.cores - len(self._running)


class OneByOne(Threads):
    """Says that it has more cores than it uses."""

    slack = WAITED_FOR

    def __init__(self, sessions: Mapping[str, Session], cores: int) -> None:
        super().__init__(sessions, 1)
        self.cores = cores


class InOrder(Threads):
    """Hands out results in the order of the turns."""

    slack = WAITED_FOR

    def wait(self, seconds: float) -> list[Result]:
        self.kept = [*getattr(self, "kept", ()), *super().wait(seconds)]
        self.kept.sort(key=lambda result: result.turn.epoch)
        first = min([*(result.turn.epoch for result in self.kept), *self._running], default=0)
        found = [result for result in self.kept if result.turn.epoch == first]
        self.kept = [result for result in self.kept if result not in found]
        return found


class Unheeding(Threads):
    """Interrupts nobody."""

    slack = WAITED_FOR

    def interrupt(self) -> None:
        pass


class Overeager(Threads):
    """Interrupts also those who are not at work."""

    def interrupt(self) -> None:
        for session in self._sessions.values():
            session.interrupt()


class Passive(Threads):
    """Passes on that totals cannot be told."""

    def totals(self, target: str) -> Totals | None:
        return self._sessions[target].totals()


class Open(Threads):
    """Closes nothing."""

    slack = WAITED_FOR

    def close(self, seconds: float) -> None:
        pass


class Patient(Threads):
    """Waits for who closes slowly."""

    slack = WAITED_FOR

    def close(self, seconds: float) -> None:
        super().close(seconds + 3600)


class Talkative(Threads):
    """Tells the same again and again."""

    def news(self) -> list[str]:
        return ["There are cores."]


class Sleepy(Threads):
    """Waits until its time is over, whatever comes."""

    slack = WAITED_FOR

    def wait(self, seconds: float) -> list[Result]:
        time.sleep(seconds)
        return super().wait(0.0)


class Timeless(Threads):
    """Does not know how long turns take."""

    def wait(self, seconds: float) -> list[Result]:
        return [replace(result, took=0.0) for result in super().wait(seconds)]
