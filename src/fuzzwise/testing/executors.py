"""Does an executor keep to ``fuzzwise.campaign.executor``? It runs turns of sessions on paper."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count

from fuzzwise.campaign.executor import Executor, Result, Turn
from fuzzwise.engines.contract import Session
from fuzzwise.errors import BadInput
from fuzzwise.testing.broken import Contract
from fuzzwise.testing.simulated import PaperSession

AN_EXECUTOR = Contract("An executor")
need = AN_EXECUTOR.need

ONE_RESULT = "every turn has one result"
SHORT = 0.05
"""Seconds of a turn of which only the result matters."""

LOOK = 0.005
"""Seconds between two looks at what is waited for."""

Make = Callable[[Mapping[str, Session]], Executor]
"""From sessions by target to an executor of them, each time with as many cores."""


def check_executor(make: Make, *, slack: float = 30.0) -> None:
    """Hold the executors that ``make`` gives to their contract; ``Broken`` where they fail.

    One with several cores is checked more thoroughly. ``slack`` is how long anything may take on a
    busy machine besides what was asked for; nothing here measures speed.
    """
    maker = _Maker(make, slack)
    _check_wait(maker)
    _check_news(maker)
    _check_capacity(maker)
    _check_side_by_side(maker)
    _check_results(maker)
    _check_problems(maker)
    _check_interrupt(maker)
    _check_totals(maker)
    _check_close(maker)


class _Maker:
    """Makes executors, and asks them as the manager does."""

    def __init__(self, make: Make, slack: float) -> None:
        self._make = make
        self._epochs = count(1)
        self._handed_out: set[int] = set()
        self.slack = slack
        self.long = 2 * slack + 1
        """Seconds of a turn that is not to end by itself."""
        with self.of() as executor:
            self.cores = executor.cores
        need(self.cores >= 1, "capacity", f"it has {self.cores} cores.")

    @contextmanager
    def of(self, **sessions: PaperSession) -> Iterator[Executor]:
        """An executor of some sessions."""
        executor = self._make(dict(sessions))
        try:
            yield executor
        finally:
            executor.interrupt()
            executor.close(SHORT)

    def start(
        self, executor: Executor, target: str, seconds: float = SHORT, cores: int = 1
    ) -> Turn:
        """Begin a turn, with a new number."""
        turn = Turn(target, next(self._epochs), seconds, cores)
        with AN_EXECUTOR.without_error("capacity", "start, where cores are free,"):
            executor.start(turn)
        return turn

    def results(
        self, executor: Executor, turns: int, clause: str = ONE_RESULT, after: str = ""
    ) -> list[Result]:
        """The results of so many turns, in the order in which they come."""
        found: list[Result] = []
        deadline = time.monotonic() + self.slack
        while len(found) < turns and (left := deadline - time.monotonic()) > 0:
            found += self.wait(executor, left)
        said = f"{after}{len(found)} results came within {self.slack:g} seconds, and not {turns}."
        need(len(found) == turns, clause, said)
        return found

    def wait(self, executor: Executor, seconds: float) -> list[Result]:
        """The results that come, of which none was handed out before."""
        with AN_EXECUTOR.without_error(ONE_RESULT, "wait"):
            found = executor.wait(seconds)
        for result in found:
            said = f"the result of {result.turn} was handed out twice."
            need(result.turn.epoch not in self._handed_out, "tokens", said)
            self._handed_out.add(result.turn.epoch)
        return found

    def until(self, holds: Callable[[], bool]) -> bool:
        """Whether it holds, sooner or later."""
        deadline = time.monotonic() + self.slack
        while not holds() and time.monotonic() < deadline:
            time.sleep(LOOK)
        return holds()


def _check_capacity(maker: _Maker) -> None:
    """That a turn takes as many cores as it says, until it is about to end."""
    most = maker.cores
    sessions = {f"t{i}": PaperSession() for i in range(most)}
    with maker.of(**sessions) as executor:
        _need_free(executor, most, 0, "before the first turn")
        turns = []
        for taken, name in enumerate(sessions, start=1):
            turns.append(maker.start(executor, name, maker.long))
            _need_free(executor, most - taken, taken, f"with {taken} turns under way")
        same = sorted(turn.epoch for turn in executor.running) == [turn.epoch for turn in turns]
        need(same, "capacity", f"{executor.running} are running, and not {turns}.")
        began = maker.until(lambda: all(session.asked for session in sessions.values()))
        need(began, "capacity", f"on {most} cores, so many turns did not begin.")
        executor.interrupt()
        ended = maker.until(lambda: all(session.ended for session in sessions.values()))
        need(ended, "on time", "turns did not end after interrupt.")
        if not executor.ahead:
            _need_free(executor, 0, most, "before any result was handed out")
        maker.results(executor, most)
        _need_free(executor, most, 0, "when all results were handed out")
        _check_all_cores(maker, executor, sessions["t0"])


def _check_all_cores(maker: _Maker, executor: Executor, session: PaperSession) -> None:
    """That one turn can have all cores, and that it is told how long it had them."""
    most, before = maker.cores, len(session.asked)
    turn = maker.start(executor, "t0", maker.long, cores=most)
    _need_free(executor, 0, 1, f"with a turn on all {most} cores")
    need(maker.until(lambda: len(session.asked) > before), "on time", "a turn did not begin.")
    seconds, jobs = session.asked[-1]
    said = f"a turn of {turn.seconds} s on {most} cores was asked as {seconds}, {jobs}."
    need(jobs == most and 0 < seconds <= turn.seconds, "capacity", said)
    has_begun = maker.until(lambda: executor.under_way(turn) > 0)
    need(has_begun, "under_way", "of a turn that is under way, 0 seconds are told.")
    executor.interrupt()
    (result,) = maker.results(executor, 1, "on time", "after interrupt, ")
    said = f"a turn that ran has taken {result.took} seconds."
    need(0 < result.took < turn.seconds, "capacity", said)


def _need_free(executor: Executor, free: int, running: int, when: str) -> None:
    said = f"{when}, {executor.free} of {executor.cores} cores are free, and not {free}."
    need(executor.free == free, "capacity", said)
    said = f"{when}, {len(executor.running)} turns are running, and not {running}."
    need(len(executor.running) == running, "capacity", said)


def _check_side_by_side(maker: _Maker) -> None:
    """That as many turns are under way at once as there are cores."""
    meeting = threading.Barrier(maker.cores, timeout=maker.slack)
    sessions = {f"t{i}": PaperSession(meeting=meeting) for i in range(maker.cores)}
    with maker.of(**sessions) as executor:
        for name in sessions:
            maker.start(executor, name)
        met = maker.until(lambda: all(session.ended for session in sessions.values()))
        said = f"on {maker.cores} cores, so many turns were not under way at the same time."
        need(met and not meeting.broken, "capacity", said)
        maker.results(executor, maker.cores)


def _check_results(maker: _Maker) -> None:
    """That each turn has its own result, once, in whichever order they come."""
    sessions = {f"t{i}": PaperSession() for i in range(maker.cores)}
    with maker.of(**sessions) as executor:
        others = [maker.start(executor, f"t{i}", maker.long) for i in range(1, maker.cores)]
        for _ in range(3):
            turn = maker.start(executor, "t0")
            (result,) = maker.results(executor, 1, after="beside longer turns, ")
            _check_one(result, turn)
            said = f"a turn that went well has no totals: {result}."
            need(result.totals is not None, ONE_RESULT, said)
        executor.interrupt()
        for result in maker.results(executor, len(others), "on time", "after interrupt, "):
            need(result.turn in others, "tokens", f"{result.turn} has a second result.")
            others.remove(result.turn)
        again = maker.wait(executor, SHORT)
        need(not again, "tokens", f"when all results were handed out, {again} came as well.")


def _check_one(result: Result, turn: Turn) -> None:
    said = f"{result.turn} has a result, and {turn} was under way."
    need(result.turn == turn, "tokens", said)
    told = [result.totals is not None, bool(result.problem), result.lost]
    said = f"a result has either totals, or a problem, or is lost, and this is {result}."
    need(sum(told) == 1, ONE_RESULT, said)


def _check_problems(maker: _Maker) -> None:
    """That what goes wrong is told in a sentence, and costs no core."""
    problems: dict[str, Exception] = {
        "refused": BadInput("This target cannot be fuzzed, as the check has it."),
        "system": OSError(28, "No space left on device"),
        "mistake": RuntimeError("an error that nobody has thought of"),
    }
    sessions = {name: PaperSession(problem) for name, problem in problems.items()}
    with maker.of(**sessions, sound=PaperSession()) as executor:
        for name, problem in problems.items():
            for _ in range(maker.cores + 1):
                turn = maker.start(executor, name)
                (result,) = maker.results(executor, 1, after=f"where turn raised {problem!r}, ")
                _check_one(result, turn)
                words = str(problem.args[-1])
                said = f"where turn raised {problem!r}, the result is {result}."
                is_told = words in result.problem and " " in result.problem
                need(is_told, ONE_RESULT, said)
        maker.start(executor, "sound")
        (result,) = maker.results(executor, 1, after="after targets that failed, ")
        said = f"after targets that failed, another one has {result}."
        need(result.totals is not None, ONE_RESULT, said)


def _check_wait(maker: _Maker) -> None:
    """That ``wait`` takes no longer than it may, and no longer than to the first result."""
    with maker.of(t=PaperSession()) as executor:
        for seconds in (0.0, SHORT):
            start = time.monotonic()
            found = maker.wait(executor, seconds)
            took = time.monotonic() - start
            need(not found, "tokens", f"without any turn, {found} came.")
            said = f"wait({seconds}) took {took:.1f} seconds."
            need(took <= seconds + maker.slack, "wait", said)
        maker.start(executor, "t")
        start = time.monotonic()
        maker.wait(executor, maker.long)
        took = time.monotonic() - start
        said = f"wait({maker.long:g}) took {took:.1f} seconds, with a turn of {SHORT}."
        need(took <= SHORT + maker.slack, "wait", said)


def _check_news(maker: _Maker) -> None:
    """That what has happened is told in sentences, each once."""
    with maker.of(t=PaperSession()) as executor:
        for _ in range(2):
            told: object = executor.news()
            sound = isinstance(told, list) and all(isinstance(said, str) for said in told)
            need(sound, "news", f"they are {told!r}, and no list of sentences.")
        need(not told, "news", f"with nothing happening, {told} is told again.")


def _check_interrupt(maker: _Maker) -> None:
    """That all turns under way end when they are asked to, and no others."""
    sessions = {f"t{i}": PaperSession() for i in range(maker.cores)}
    with maker.of(**sessions) as executor:
        for name in sessions:
            maker.start(executor, name, maker.long)
        began = maker.until(lambda: all(session.seconds for session in sessions.values()))
        need(began, "on time", "turns did not begin.")
        executor.interrupt()
        for result in maker.results(executor, maker.cores, "on time", "after interrupt, "):
            said = f"an interrupted turn has no totals: {result}."
            need(result.totals is not None, "interrupt", said)
        executor.interrupt()
        before = sessions["t0"].seconds
        maker.start(executor, "t0", 4 * SHORT)
        maker.results(executor, 1)
        said = "an interrupt while nothing was under way ended the next turn."
        need(sessions["t0"].seconds - before >= SHORT, "interrupt", said)


def _check_totals(maker: _Maker) -> None:
    """That totals are told at any time, and that there is nothing to tell is no error."""
    session = PaperSession()
    with maker.of(t=session, new=PaperSession(), lost=PaperSession(unreadable=True)) as executor:
        for name in ("t", "new", "lost"):
            with AN_EXECUTOR.without_error("totals", "totals, where nothing is known,"):
                told = executor.totals(name)
            need(told is None, "totals", f"where nothing is known, they are {told}.")
        maker.start(executor, "t", maker.long)
        need(maker.until(lambda: session.seconds > 0), "on time", "a turn did not begin.")
        known = maker.until(lambda: executor.totals("t") is not None)
        need(known, "totals", "in the midst of a turn, nothing is known.")
        executor.interrupt()
        (result,) = maker.results(executor, 1, "on time", "after interrupt, ")
        known_now = executor.totals("t")
        same = known_now and result.totals and known_now.seconds == result.totals.seconds
        said = f"after a turn that told {result.totals}, they are {known_now}."
        need(bool(same), "totals", said)


def _check_close(maker: _Maker) -> None:
    """That sessions are closed, and that nobody is waited for longer than was said."""
    may_close = threading.Event()
    idle, slow, busy = PaperSession(), PaperSession(may_close=may_close), PaperSession()
    at_last = threading.Timer(maker.long, may_close.set)
    at_last.daemon = True
    with maker.of(idle=idle, slow=slow, busy=busy) as executor:
        maker.start(executor, "busy", maker.long)
        need(maker.until(lambda: busy.seconds > 0), "on time", "a turn did not begin.")
        at_last.start()
        start = time.monotonic()
        with AN_EXECUTOR.without_error("close", "close"):
            executor.close(SHORT)
        took = time.monotonic() - start
        at_last.cancel()
        may_close.set()
        said = f"close({SHORT}) took {took:.1f} seconds, to wait for a session or a turn."
        need(took <= SHORT + maker.slack, "close", said)
        need(maker.until(lambda: idle.closed > 0), "close", "a session was not closed.")
