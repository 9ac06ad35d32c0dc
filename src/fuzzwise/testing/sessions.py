"""Does a session keep to ``fuzzwise.engines.contract``? A real target is fuzzed for a few turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path

from fuzzwise.engines.contract import NothingYet, Session, Totals
from fuzzwise.engines.leftovers import end_all
from fuzzwise.errors import FuzzwiseError
from fuzzwise.testing.aside import Aside
from fuzzwise.testing.broken import Broken, Contract
from fuzzwise.testing.totals import check_growth, check_same, check_totals
from fuzzwise.testing.traces import damage, files_in, processes_in
from fuzzwise.triage.examine import Verdict

A_SESSION = Contract("A session")
LOOK = 0.02
"""Seconds between two looks at a turn that is under way."""

LAST_BREATH = 2.0
"""Seconds after ``close`` in which processes that were ended may still be seen."""

MOST_UNCOUNTED = 1.0, 0.25
"""Seconds of a turn, and which share of it, that may be missing in the totals, or too many."""

Open = Callable[[Path], Session]
"""From the folder of a target, which need not exist, to a session of it."""

Turn = Future[tuple[Totals, float]]
"""A turn under way: its totals, and the seconds that it took."""


def check_session(
    open_session: Open,
    folder: Path,
    *,
    crashing_input: bytes | None = None,
    open_broken: Open | None = None,
    seconds: float = 0.3,
    slack: float = 30.0,
) -> None:
    """Hold the sessions that ``open_session`` makes to their contract; ``Broken`` where they fail.

    The target must be one that can be fuzzed, with no limit to its inputs, and its folders are made
    in ``folder``. ``crashing_input`` is one that it crashes on, ``open_broken`` opens sessions of a
    target that cannot be fuzzed, be it that its program is missing.

    ``seconds`` is the length of a turn: in one, the target has to make inputs. ``slack`` is how
    long anything may take besides on a busy machine; nothing here measures speed. A process that is
    killed in the midst of a turn and targets that hang cannot be had from here: try these as well.
    """
    try:
        with Aside() as aside:
            given = _Given(open_session, seconds, slack, aside)
            given.check_making(folder / "target")
            _check_at_work(_AtWork(given, folder / "target"), crashing_input)
            given.check_refusal(folder / "taken", open_session, _take)
            if open_broken:
                given.check_refusal(folder / "broken", open_broken)
    finally:
        end_all(folder)  # who does not keep to the contract may leave something


def _check_at_work(target: _AtWork, crashing_input: bytes | None) -> None:
    """All that is seen of one target, in order."""
    target.check_interrupt_before_everything()
    target.check_turns()
    target.check_interrupt_in_a_turn()
    target.check_interrupt_between_turns()
    target.check_close()
    target.check_another_session()
    target.check_reproduce(crashing_input)
    target.check_damage()


class _Given:
    """What is checked, and how patiently."""

    def __init__(self, open_session: Open, seconds: float, slack: float, aside: Aside) -> None:
        self._open = open_session
        self._aside = aside
        self.seconds = seconds
        self.slack = slack
        self.long = 2 * slack + 1
        """Seconds of a turn that is to be interrupted: more than it may take to end then."""

    def open(self, home: Path, by: Open | None = None) -> Session:
        """A session."""
        with A_SESSION.without_error("errors", "making a session"):
            return (by or self._open)(home)

    def start(self, session: Session, seconds: float) -> Turn:
        """Begin a turn on one core."""
        return self._aside.start(partial(_timed, session, seconds))

    def result(self, turn: Turn, seconds: float, clause: str, name: str) -> tuple[Totals, float]:
        """What came of a turn, which has so many seconds, and the slack."""
        try:
            return turn.result(seconds + self.slack)
        except TimeoutError as error:
            if turn.done():
                raise
            said = f"{name} had not returned within {seconds + self.slack:g} seconds."
            raise A_SESSION.broken(clause, said) from error

    def check_making(self, home: Path) -> None:
        """That a session is made, and asked, without side effects."""
        home.parent.mkdir(parents=True, exist_ok=True)
        before = files_in(home.parent)
        session = self.open(home)
        with A_SESSION.without_error("errors", "totals of a new folder"):
            known = session.totals()
        A_SESSION.need(known is None, "totals", f"before the first turn they are {known}.")
        made = sorted(map(str, files_in(home.parent) - before))
        A_SESSION.need(not made, "errors", f"making a session, or asking it, made {made}.")

    def check_refusal(
        self, home: Path, open_session: Open, prepare: Callable[[Path], None] | None = None
    ) -> None:
        """That it is told in a sentence why there is no fuzzing; not before the first turn."""
        if prepare:
            prepare(home)
        session = self.open(home, open_session)
        with (
            A_SESSION.without_error("errors", "totals where there can be none"),
            suppress(FuzzwiseError),
        ):
            session.totals()
        what = "a file is in the place of its folder" if prepare else "the target is broken"
        turn = self.start(session, self.seconds)
        with A_SESSION.refused("errors", f"turn, where {what},"):
            self.result(turn, self.seconds, "on time", f"a turn, where {what},")
        with suppress(FuzzwiseError):
            session.close()


class _AtWork:
    """One target, through all its sessions; ``told`` is what was last told of it."""

    def __init__(self, given: _Given, home: Path) -> None:
        self._given = given
        self._home = home
        self._session = given.open(home)
        self._told = Totals.nothing()

    def check_interrupt_before_everything(self) -> None:
        """That an interrupt before the first turn ends it, be it that nothing was done yet."""
        self._session.interrupt()
        turn = self._given.start(self._session, self._given.long)
        name = "the first turn, interrupted before it began,"
        with suppress(NothingYet):
            self._end(turn, 0.0, "interrupt", name)

    def check_turns(self) -> None:
        """That turns end on time, and that their totals are absolute and in the folder.

        The first is the longest: who tells of one turn alone then tells of less the second time.
        """
        self._turn(2 * self._given.seconds, "the first turn")
        waiting = time.monotonic() + self._given.slack
        while not self._told.observation.n and time.monotonic() < waiting:
            self._turn(2 * self._given.seconds, "the first turn")
        said = "no input was made, or none is told; take a target that can be fuzzed, or more time."
        A_SESSION.need(self._told.observation.n > 0, "turn", said)
        self._turn(self._given.seconds, "the second turn")

    def check_interrupt_in_a_turn(self) -> None:
        """That a turn is followed from another thread, and ends when it is asked to."""
        given, session = self._given, self._session
        turn = given.start(session, given.long)
        seen = [self._told]
        deadline = time.monotonic() + given.slack
        while seen[-1].observation.n <= self._told.observation.n and time.monotonic() < deadline:
            if turn.done():
                break
            time.sleep(LOOK)
            with A_SESSION.without_error("threads", "totals, during a turn,"):
                now = session.totals()
            A_SESSION.need(now is not None, "threads", "during a turn, totals told nothing.")
            assert now is not None
            check_growth(A_SESSION, seen[-1], now, "during a turn")
            seen.append(now)
        if turn.done():
            self._end(turn, 0.0, "on time", "a turn")
            raise A_SESSION.broken("on time", "a turn ended before its time was over.")
        is_followed = seen[-1].observation.n > self._told.observation.n
        said = f"during a turn of {given.slack:g} seconds, totals never told of new inputs."
        A_SESSION.need(is_followed, "threads", said)
        with A_SESSION.without_error("threads", "interrupt, during a turn,"):
            session.interrupt()
        self._end(turn, 0.0, "on time", "an interrupted turn")
        check_growth(A_SESSION, seen[-1], self._told, "at the end of an interrupted turn")

    def check_interrupt_between_turns(self) -> None:
        """That an interrupt outside a turn ends the next one, and only that."""
        given = self._given
        self._session.interrupt()
        turn = given.start(self._session, given.long)
        self._end(turn, 0.0, "interrupt", "a turn that was interrupted before it began")
        took = self._turn(given.seconds, "the turn after an interrupted one")
        said = f"it ended the turn after the next one as well, after {took:.2f} seconds."
        A_SESSION.need(took >= given.seconds / 2, "interrupt", said)

    def check_close(self) -> None:
        """That no process is left, and that a later turn goes on."""
        for _ in range(2):
            with A_SESSION.without_error("close", "close"):
                self._session.close()
        deadline = time.monotonic() + min(LAST_BREATH, self._given.slack)
        while (left := processes_in(self._home)) and time.monotonic() < deadline:
            time.sleep(LOOK)
        A_SESSION.need(not left, "close", f"the processes {left} were left behind.")
        self._catch_up("after close")
        self._turn(self._given.seconds, "a turn after close")

    def check_another_session(self) -> None:
        """That a later session of the folder goes on where this one was."""
        self._session.close()
        self._catch_up("after close")
        self._session = self._given.open(self._home)
        self._turn(self._given.seconds, "a turn of a later session")

    def check_reproduce(self, crashing_input: bytes | None) -> None:
        """That an input can be tried, without being counted."""
        for data in (b"", crashing_input):
            if data is None:
                continue
            with A_SESSION.without_error("reproduce", f"reproduce({data[:20]!r})"):
                verdict = self._session.reproduce(data)
            said = f"reproduce({data[:20]!r}) told {verdict!r}"
            A_SESSION.need(isinstance(verdict, Verdict), "reproduce", f"{said}, no Verdict.")
            known = verdict.ending in ("crash", "timeout", "none")
            A_SESSION.need(known, "reproduce", f"{said}, which is no known ending.")
            shown = data is not crashing_input or verdict.bug is not None
            A_SESSION.need(shown, "reproduce", f"{said}, though the input is to show a bug.")
        now = self._session.totals()
        check_same(A_SESSION, "reproduce", self._told, now, "after reproduce", "the session")

    def check_damage(self) -> None:
        """That damaged counts are not gone on with: others begin, under another name."""
        self._session.close()
        before = self._told
        damage(self._home)
        session = self._given.open(self._home)
        with (
            A_SESSION.without_error("generations", "totals of a damaged folder"),
            suppress(FuzzwiseError),
        ):
            session.totals()
        turn = self._given.start(session, self._given.seconds)
        with A_SESSION.without_error("generations", "turn, in a damaged folder,"):
            told, _ = self._given.result(turn, self._given.seconds, "on time", "it")
        went_on = told.observation.n >= before.observation.n
        is_other = told.generation != before.generation or went_on
        said = f"after damage, the counts of {told.generation!r} began again under the same name."
        A_SESSION.need(is_other, "generations", said)
        session.close()

    def _turn(self, seconds: float, name: str) -> float:
        """A whole turn; how long it took."""
        turn = self._given.start(self._session, seconds)
        before = self._told
        took = self._end(turn, seconds, "on time", f"{name} of {seconds:g} seconds")
        counted = self._told.seconds - before.seconds
        least, share = MOST_UNCOUNTED
        said = f"{name}, which took {took:.2f} seconds, counts as {counted:.2f}."
        A_SESSION.need(abs(took - counted) <= max(least, share * took), "on time", said)
        return took

    def _end(self, turn: Turn, seconds: float, clause: str, name: str) -> float:
        """The end of a turn: what it tells is more than before, and in the folder."""
        try:
            told, took = self._given.result(turn, seconds, clause, name)
        except (Broken, NothingYet):
            raise
        except Exception as error:
            said = f"{name} raised {type(error).__name__}: {error}"
            raise A_SESSION.broken("errors", said) from error
        check_totals(A_SESSION, told, name)
        check_growth(A_SESSION, self._told, told, f"after {name}")
        self._told = told
        if told.generation:
            new = self._given.open(self._home)
            for session, whose in ((self._session, "the session"), (new, "a new session")):
                with A_SESSION.without_error("durable", f"totals after {name}"):
                    known = session.totals()
                check_same(A_SESSION, "durable", told, known, f"after {name}", whose)
        return took

    def _catch_up(self, when: str) -> None:
        """To end a process may take a moment, in which it still counts; nothing is lost."""
        with A_SESSION.without_error("durable", f"totals {when}"):
            known = self._session.totals()
        A_SESSION.need(known is not None, "durable", f"{when}, totals told nothing.")
        assert known is not None
        check_growth(A_SESSION, self._told, known, when)
        self._told = known


def _timed(session: Session, seconds: float) -> tuple[Totals, float]:
    start = time.monotonic()
    told = session.turn(seconds, 1)
    return told, time.monotonic() - start


def _take(home: Path) -> None:
    home.write_bytes(b"a file\n")
