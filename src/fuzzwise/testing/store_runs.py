"""From one run of a campaign to the next: what a store keeps, and that it has one writer."""

from __future__ import annotations

from fuzzwise.errors import BadInput
from fuzzwise.store.contract import Added, Store
from fuzzwise.store.states import RETIRED
from fuzzwise.testing.campaigns import A_STORE, OVER, Given, epoch
from fuzzwise.testing.samples import WHY, A, B, sample_bug, sample_run, sample_turn

need = A_STORE.need


def check_killed(given: Given) -> None:
    """That what a run left under way when it was killed is lost, and is known to be."""
    home = given.campaign("killed")
    with given.open(home) as store:
        fresh = (store.has_runs(), store.has_ended())
        said = f"a new campaign says (has_runs, has_ended) {fresh}."
        need(fresh == (False, False), "has_ended", said)
        store.begin_run(sample_run())
        left = store.start_epoch(1.0, A, WHY)
    stopped = given.reader(home).state().stopped
    said = f"where the last run ended without a word, the reader says {stopped}."
    need(stopped is not None and stopped.reason == "killed", "readers", said)
    with given.open(home) as store:
        need(store.has_runs(), "durable", "has_runs forgets a run that was killed.")
        need(not store.has_ended(), "has_ended", "a run that was killed counts as ended.")
        need(store.memory()[A].in_flight, "memory", "it forgets what a killed run was at.")
        store.begin_run(sample_run())
        need(store.memory()[A].in_flight, "memory", "begin_run forgets what was under way.")
        need(not store.memory()[B].in_flight, "memory", "a target that waited is in flight.")
        added = store.finish_epoch(left, 2.0, sample_turn(500))
        said = f"an epoch of a killed run, which is lost, was finished and added {added}."
        need(added == Added(), "begin_run", said)
        store.recover(2.0, A, sample_turn(40))
        need(not store.memory()[A].in_flight, "memory", "what was recovered is still in flight.")
        store.end_run(3.0, OVER)
        need(store.has_ended(), "has_ended", "a run that said why it ended has not ended.")


def check_clock(given: Given) -> None:
    """That the campaign's clock never goes back, and goes on over runs."""
    home = given.campaign("clock")
    with given.begun("clock") as (store, reader):
        store.tick(5.0)
        store.tick(3.0)
        _need_clock(store, 5.0, "after tick(5) and tick(3)")
        epoch(store, 6.0, A, sample_turn(10))
        _need_clock(store, 6.0, "after an epoch that ended at 6")
        store.end_run(4.0, OVER)
        _need_clock(store, 6.0, "after end_run(4)")
    with given.open(home) as store:
        _need_clock(store, 6.0, "in a new store")
        store.begin_run(sample_run())
        _need_clock(store, 6.0, "in a new run")
        need(reader.state().seconds == 6.0, "tick", "the clock of the reader is another.")


def _need_clock(store: Store, right: float, when: str) -> None:
    said = f"{when}, the clock says {store.seconds():g}, and not {right:g}."
    need(store.seconds() == right, "tick", said)


def check_memory(given: Given) -> None:
    """That a later run is told all that it needs of a target."""
    with given.begun("memory") as (store, _):
        epoch(store, 2.0, B, sample_turn(100, sample_bug("x")))
        epoch(store, 3.0, A, sample_turn(200, sample_bug("x", 2), sample_bug("y")))
        store.set_looked(A, 128, 0.03)
        store.set_signature(A, "1f2e")
        store.set_state(A, RETIRED, "accepted-risk", "Low enough.")
        store.end_run(7.0, OVER)
    with given.open(given.campaign("memory")) as store:
        for begun in (False, True):
            if begun:
                store.begin_run(sample_run("another"))
            kept = store.memory()[A]
            found = {name: getattr(kept, name) for name in _REMEMBERED}
            for name, right in _REMEMBERED.items():
                said = f"a later run is told {name} = {found[name]!r}, and not {right!r}."
                need(found[name] == right, "memory", said)


_REMEMBERED: dict[str, object] = {
    "state": RETIRED,
    "reason": "accepted-risk",
    "detail": "Low enough.",
    "generation": "first",
    "inputs": 200,
    "seconds": 20.0,
    "species": 207,
    "discoveries": 20,
    "looked": 128,
    "looked_high": 0.03,
    "bugs": 2,
    "new_bugs": 1,
    "singletons": 1,
    "discovery_rate": 0.125,
    "in_flight": False,
    "finds_coverage": True,
    "engine": "libfuzzer",
    "corpus": 3,
    "signature": "1f2e",
}
"""What is to be told of target A at the end of ``check_memory``."""


def check_one_writer(given: Given) -> None:
    """That who opens a store that another has is refused, or that other is."""
    home = given.campaign("one-writer")
    with given.begun("one-writer") as (store, _):
        try:
            with given.open(home) as other:
                other.begin_run(sample_run("another"))
                with A_STORE.refused("one writer", "a write of a store that another has taken"):
                    store.tick(1.0)
        except BadInput:
            with A_STORE.without_error("one writer", "tick, after another was refused,"):
                store.tick(1.0)
    with A_STORE.without_error("one writer", "to open a store that nobody has"), given.open(home):
        pass
