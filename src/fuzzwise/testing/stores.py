"""Does a store keep to ``fuzzwise.store.contract``? Small campaigns are written and read again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fuzzwise.store.contract import Added, Reader
from fuzzwise.store.states import FUZZING, RETIRED, WAITING, EventState
from fuzzwise.testing import store_counts, store_runs
from fuzzwise.testing.aside import Aside
from fuzzwise.testing.campaigns import (
    A_STORE,
    OVER,
    Given,
    OpenReader,
    OpenStore,
    epoch,
    shown_of,
)
from fuzzwise.testing.samples import WHY, A, B, sample_bug, sample_run, sample_turn
from fuzzwise.testing.traces import JUNK, damage, files_in

need = A_STORE.need

EPOCHS = 30
"""Epochs that are written while a reader looks on."""


def check_store(
    open_store: OpenStore,
    open_reader: OpenReader,
    folder: Path,
    *,
    files: tuple[str, ...] = (),
    slack: float = 30.0,
) -> None:
    """Hold a store and its reader to their contract; ``Broken`` where they fail.

    Campaigns are made in ``folder``, each in one of its own. ``files`` are the names of those that
    hold a campaign, where there are such: they are damaged, to see what becomes of that. ``slack``
    is how long the writing of a few epochs may take; nothing here measures speed. A machine that
    goes down and a disk that is full cannot be had from here: try these as well.
    """
    given = Given(open_store, open_reader, folder)
    _check_durable(given)
    store_counts.check_absolute(given)
    store_counts.check_many(given)
    store_counts.check_generations(given)
    store_counts.check_recover(given)
    store_runs.check_killed(given)
    store_runs.check_clock(given)
    store_runs.check_memory(given)
    store_counts.check_bugs(given)
    _check_events(given)
    _check_views(given)
    _check_refusal(given)
    store_runs.check_one_writer(given)
    _check_readers(given, slack)
    if files:
        _check_damage(given, files)


def _check_durable(given: Given) -> None:
    """That a reader sees what was written as soon as the call has returned, and still later."""
    with given.begun("durable") as (store, reader):
        names = tuple(target.name for target in reader.state().targets)
        need(names == (A, B), "durable", f"after begin_run, the reader has the targets {names}.")
        number = store.start_epoch(1.0, A, WHY)
        state = shown_of(reader).state
        need(state == FUZZING, "durable", f"after start_epoch, the reader shows it {state}.")
        store.finish_epoch(number, 2.0, sample_turn(100))
        seen = (shown_of(reader).inputs, shown_of(reader).state, reader.state().epochs)
        said = f"after finish_epoch, the reader has {seen}, and not 100 inputs in one epoch."
        need(seen == (100, WAITING, 1), "durable", said)
        store.event(2.0, "warning", A, "It is slow.")
        events = reader.state().events
        told = (EventState(2.0, "warning", A, "It is slow."),)
        need(events == told, "durable", f"after event, the reader has {events}.")
        store.set_state(A, RETIRED, "accepted-risk", "Low enough.")
        shown = shown_of(reader)
        same = (shown.state, shown.reason, shown.detail) == (
            RETIRED,
            "accepted-risk",
            "Low enough.",
        )
        need(same, "durable", f"after set_state, the reader has {shown}.")
        store.tick(7.0)
        need(reader.state().seconds == 7.0, "durable", "after tick, the reader's clock is another.")
        need(reader.is_running(), "readers", "in the midst of a run, is_running says no.")
        store.end_run(8.0, OVER)
    state_now = reader.state()
    said = f"after the end of a run, the reader has {state_now.stopped}, and not {OVER}."
    need(state_now.stopped == OVER, "durable", said)
    need(not reader.is_running(), "readers", "after the end, is_running says that it runs.")


def _check_events(given: Given) -> None:
    """That events come in the order in which they were told, over runs."""
    told = [EventState(at, "warning", "", f"Number {at}.") for at in (3.0, 1.0, 2.0, 2.0)]
    for part in (told[:2], told[2:]):
        with given.begun("events") as (store, reader):
            for event in part:
                store.event(event.at, event.kind, event.target, event.detail)
    found = list(reader.state().events)
    need(found == told, "event", f"the events are {found}, and not {told}.")


def _check_views(given: Given) -> None:
    """That the history, the decisions and the observations are those that were told."""
    with given.begun("views") as (store, reader):
        for number in range(1, 21):
            epoch(store, float(number), A, sample_turn(10 * number))
        store.start_epoch(30.0, B, WHY)
        whole, few = reader.history()[0], reader.history(points=5)[0]
        inputs = list(range(10, 201, 10))
        need(whole.inputs.tolist() == inputs, "history", f"of {inputs}, it tells {whole.inputs}.")
        kept = few.inputs.tolist()
        is_few = len(kept) <= 5 and [kept[0], kept[-1]] == [10, 200]
        need(is_few, "history", f"of 20 epochs, 5 are asked for, and {kept} are told.")
        one = [past.name for past in reader.history(target=B)]
        need(one == [B], "history", f"of {B!r} alone, it tells of {one}.")
        last = reader.decisions(last=2)
        seen = [(decision.target, decision.inputs, decision.reason) for decision in last]
        right = [(A, 10, WHY.reason), (B, None, WHY.reason)]
        need(seen == right, "decisions", f"the last two are {seen}, and not {right}.")
        of_a = {decision.target for decision in reader.decisions(A)}
        need(of_a == {A}, "decisions", f"those of {A!r} are of {of_a}.")
        _check_stretches(reader)
        observations = reader.observations()
        known = {name: observation.n for name, observation in observations.items()}
        need(
            known == {A: 200}, "observations", f"the inputs in them are {known}, not 200 of {A!r}."
        )


def _check_stretches(reader: Reader) -> None:
    """That parts of the time line hold what ran in them; epochs ended at 1, 2, … 20."""
    part, all_of_it = reader.stretch(4.5, 6.5), reader.stretch(0.0, 40.0)
    ends = [epoch.ended for epoch in part.epochs]
    need(part.whole, "stretch", "three epochs are said to be too many.")
    need({5.0, 6.0} <= {*ends} <= {5.0, 6.0, 7.0}, "stretch", f"between 4.5 and 6.5 ended {ends}.")
    seen = [(epoch.target, epoch.ended is None) for epoch in all_of_it.epochs]
    right = [(A, False)] * 20 + [(B, True)]
    need(seen == right, "stretch", f"in all, it tells {seen}, and not 20 of {A!r} before {B!r}.")


def _check_refusal(given: Given) -> None:
    """That a method which raises has changed nothing."""
    with given.begun("refusal") as (store, reader):
        epoch(store, 1.0, A, sample_turn(10))
        before = reader.state()
        calls: dict[str, Callable[[], object]] = {
            "start_epoch": lambda: store.start_epoch(9.0, "nobody", WHY),
            "start_epochs": lambda: store.start_epochs(9.0, [(B, WHY), ("nobody", WHY)]),
            "recover": lambda: store.recover(9.0, "nobody", sample_turn(20)),
        }
        for name, call in calls.items():
            with suppress(Exception):
                call()
                continue  # where it knows what to do about it, it may
            said = f"{name} of a target that is not there has raised, and changed something."
            need(reader.state() == before, "durable", said)


def _check_readers(given: Given, slack: float) -> None:
    """That what a reader tells belongs to one moment, no earlier than the latest write."""
    home = given.campaign("readers")
    written: list[int] = []

    def write() -> None:
        with given.open(home) as store:
            store.begin_run(sample_run())
            for number in range(1, EPOCHS + 1):
                bugs = (sample_bug(str(i)) for i in range(number))
                epoch(store, float(number), A, sample_turn(10 * number, *bugs))
                written.append(number)

    with Aside() as aside:
        writing = aside.start(write)
        deadline = time.monotonic() + slack
        while not written and not writing.done() and time.monotonic() < deadline:
            time.sleep(0.005)
        reader, latest = given.reader(home), 0
        while written and latest < EPOCHS and time.monotonic() < deadline:
            before = len(written)
            latest = _check_moment(reader, before, latest)
        with A_STORE.without_error("readers", f"to write {EPOCHS} epochs, with a reader,"):
            writing.result(slack)


def _check_moment(reader: Reader, written: int, latest: int) -> int:
    """One look of a reader, after so many epochs were written and seen; how many there are."""
    with A_STORE.without_error("readers", "state, during writes,"):
        state = reader.state()
    shown = next(target for target in state.targets if target.name == A)
    seen = (shown.inputs, len(shown.bugs), len(state.bugs))
    right = (10 * shown.epochs, shown.epochs, shown.epochs)
    said = f"of {shown.epochs} epochs it tells {seen} inputs and bugs, and not {right}."
    need(seen == right, "readers", said)
    least = max(written, latest)
    said = f"when {least} epochs had been written, it told of {shown.epochs}."
    need(shown.epochs >= least, "readers", said)
    return shown.epochs


def _check_damage(given: Given, files: tuple[str, ...]) -> None:
    """That damage is put aside and said, and that everything can be told anew."""
    home = given.campaign("damage")
    with given.begun("damage") as (store, _):
        epoch(store, 1.0, A, sample_turn(100, sample_bug("x")))
    damage(home, *files)
    with A_STORE.without_error("damage", "to open a damaged store"), given.open(home) as store:
        need(bool(store.notes), "damage", "there are no notes about it.")
        kept = any(JUNK in path.read_bytes() for path in files_in(home) if path.is_file())
        need(kept, "damage", "what was damaged is gone, and not put aside.")
        store.begin_run(sample_run())
        added = store.recover(2.0, A, sample_turn(100, sample_bug("x")))
        right = Added(100, 10.0, 10, ("x",), ("x",))
        said = f"what the folders hold adds {added}, and not {right}."
        need(added == right, "damage", said)
    with given.open(home) as store:
        said = f"sound again, it still says {store.notes}."
        need(not store.notes, "damage", said)
