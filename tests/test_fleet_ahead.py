"""A fleet looks ahead: the next turn is ready when a core is left, and nobody waits for storing."""

from __future__ import annotations

import threading
import time

from fuzzwise.campaign.executor import Turn
from fuzzwise.campaign.fleet.costs import Costs
from fuzzwise.campaign.fleet.gate import HUNG, Gate, Place
from fuzzwise.campaign.fleet.messages import Answer, Order
from fuzzwise.campaign.fleet.station import Station
from fuzzwise.campaign.fleet.timetable import Timetable
from fuzzwise.engines.contract import Session, Totals
from fuzzwise.testing.simulated import PaperSession
from waiting import wait_until

LONG = 600.0


class Slow:
    """Sessions on paper that are stored only when they may be."""

    def __init__(self) -> None:
        self.sessions = {name: PaperSession() for name in "abc"}
        self.opened: list[str] = []
        self.dropped: list[str] = []
        self.may_be_stored = threading.Event()

    def open(self, order: Order) -> Session:
        self.opened.append(order.turn.target)
        return self.sessions[order.turn.target]

    def keep(self, order: Order, totals: Totals | None) -> Answer:
        self.may_be_stored.wait()
        return Answer()

    def drop(self, order: Order) -> None:
        self.dropped.append(order.turn.target)

    def leave(self, run: str, target: str, seconds: float) -> None:
        pass


def order(target: str, epoch: int) -> Order:
    return Order("c", "r", Turn(target, epoch, LONG, 1), 1)


def test_the_next_turn_is_ready_and_begins_while_the_last_is_being_stored():
    source = Slow()
    station = Station(source, 1)
    first, second = station.run(order("a", 1)), station.run(order("b", 2))
    wait_until(lambda: len(source.opened) == 2, "both to be opened")
    wait_until(lambda: source.sessions["a"].asked or source.sessions["b"].asked, "a turn")
    assert len(station.look("r")) == 1  # the other waits, and nothing is told of it
    one, other = ("a", "b") if source.sessions["a"].asked else ("b", "a")
    station.interrupt("r", [1 if one == "a" else 2])
    wait_until(lambda: source.sessions[other].asked, "the next turn, before anything is stored")
    assert source.sessions[one].ended == 1
    assert not first.done()
    assert not second.done()
    third = station.run(order("c", 3))
    wait_until(lambda: len(source.opened) == 3, "the third to be opened")
    station.interrupt("r", [3])  # it does not come about
    assert third.result() == Answer()
    assert source.dropped == ["c"]
    assert not source.sessions["c"].asked
    station.interrupt("r", [1, 2])
    source.may_be_stored.set()
    answers = {name: answer.result() for name, answer in (("a", first), ("b", second))}
    assert answers[one].idle is None
    assert answers[other].idle is not None
    assert all(0 < answer.took < LONG for answer in answers.values())


def test_who_hangs_keeps_nobody_waiting_for_ever():
    gate = Gate(1)
    gate.enter("r", 1, -HUNG, lambda: False)  # its time was over long ago
    place = gate.enter("r", 1, LONG, lambda: False)
    assert isinstance(place, Place)
    gate.leave(place)


def test_who_came_first_goes_first_however_many_cores_it_needs():
    gate, came = Gate(2), []
    inside = gate.enter("r", 1, LONG, lambda: False)
    assert inside

    def enter(name: str, cores: int) -> None:
        place = gate.enter("r", cores, LONG, lambda: False)
        came.append(name)
        assert place
        gate.leave(place)

    threads = []
    for waiting, (name, cores) in enumerate((("both", 2), ("one", 1)), start=1):
        threads.append(threading.Thread(target=enter, args=(name, cores)))
        threads[-1].start()
        wait_until(lambda count=waiting: len(gate._waiting) == count, f"{name} to wait")
    time.sleep(0.05)
    assert not came  # a core is free, and the first one needs two
    gate.leave(inside)
    for thread in threads:
        thread.join()
    assert came == ["both", "one"]


def test_who_is_given_up_while_it_waits_keeps_nobody_back():
    gate, came, given_up = Gate(1), [], threading.Event()
    inside = gate.enter("r", 1, LONG, lambda: False)
    assert inside

    def enter(name: str, given_up: threading.Event) -> None:
        came.append((name, gate.enter("r", 1, LONG, given_up.is_set)))

    threads = []
    for waiting, (name, event) in enumerate((("a", given_up), ("b", threading.Event())), start=1):
        threads.append(threading.Thread(target=enter, args=(name, event)))
        threads[-1].start()
        wait_until(lambda count=waiting: len(gate._waiting) == count, f"{name} to wait")
    given_up.set()
    gate.stir()
    threads[0].join()
    assert came == [("a", None)]
    gate.leave(inside)
    threads[1].join()
    assert came[1][1] is not None


def test_cores_are_given_out_again_shortly_before_they_are_left():
    times = Timetable()
    times.there({"one": 1}, 0.0)
    assert times.free(0.0) == 1
    times.add("one", 1, 1, 10.0, 0.0)
    assert (times.free(8.9), times.next_change(8.9)) == (0, 9.0)
    assert times.free(9.0) == 1
    times.add("one", 2, 1, 10.0, 9.2)  # it waits, until 20
    assert times.free(9.2) == times.free(12.0) == 0  # the first one takes longer, or is stored
    times.remove("one", 1, 10.5, 12.0)  # it was left at 10.5: the second one ends at 20.5
    assert (times.free(19.4), times.free(19.5)) == (0, 1)
    times.add("one", 3, 1, 0.4, 19.6)
    assert times.free(30.0) == 0  # two are there already, whatever they are at
    times.remove("one", 2, 21.0, 30.0)
    times.remove("one", 3, 22.0, 30.0)
    assert times.free(30.0) == 1
    times.there({}, 31.0)
    assert times.free(31.0) == 0
    times.remove("one", 3, 31.0, 31.0)  # it was lost with its machine


def test_a_turn_that_waits_for_a_late_one_gives_nothing_out_before_it_has_begun():
    times = Timetable()
    times.there({"two": 2}, 0.0)
    times.add("two", 1, 1, 10.0, 0.0)
    times.add("two", 2, 1, 4.0, 0.0)
    assert times.ready("two", 1.0) == 4.0
    times.add("two", 3, 1, 2.0, 3.5)  # it waits for the second one, and is expected to end at 6
    assert times.ready("two", 3.5) == 10.0  # nobody waits for the first one yet
    assert times.free(5.0) == times.free(8.0) == 0  # the second one takes longer
    times.remove("two", 2, 8.5, 8.5)
    assert (times.free(8.9), times.free(9.5)) == (
        0,
        2,
    )  # of the first one at 9, of the third at 9.5
    times.remove("two", 1, 9.6, 9.6)  # sooner than expected
    assert times.free(9.6) == 2
    times.add("two", 4, 2, 1.0, 9.6)
    times.remove("two", 4, 9.7, 9.7)  # it never began
    assert times.free(9.7) == 2


def test_a_timetable_keeps_in_mind_no_more_than_there_is():
    times, now = Timetable(), 0.0
    times.there({"many": 50}, now)
    for epoch in range(2000):
        now += 0.02
        assert times.free(now) > 0
        times.add("many", epoch, 1, 1.0, now)
        if epoch >= 50:
            times.remove("many", epoch - 50, now, now)
        times.next_change(now)
    assert len(times._looks) < 200
    assert times.free(now + 60) == 50


def test_what_turns_cost_is_told():
    tally = Costs()
    assert tally.told() == ""
    tally.add(Answer(moved=(3000, 0)))
    assert tally.told() == (
        "1 turn on machines of the fleet, 3.0 KB stored and 0.0 KB fetched for each."
    )
    for idle in (0.01, 0.02, 0.03):
        tally.add(Answer(moved=(0, 0), idle=idle))
    assert "between two on a core lay 20 ms in the median, and 28 ms or less" in tally.told()
