"""What totals add to a store: each input, second and bug once, however often it is told."""

from __future__ import annotations

from dataclasses import replace

from fuzzwise.store.contract import Added
from fuzzwise.testing.campaigns import A_STORE, Given, epoch, shown_of
from fuzzwise.testing.samples import WHY, A, B, counted_again, sample_bug, sample_turn

need = A_STORE.need


def check_absolute(given: Given) -> None:
    """That totals which are told twice or late add nothing, and that an epoch ends once."""
    with given.begun("absolute") as (store, reader):
        number = store.start_epoch(0.0, A, WHY)
        first = sample_turn(100, sample_bug("x", 3))
        _need_added(store.finish_epoch(number, 1.0, first), Added(100, 10.0, 10, ("x",), ("x",)))
        again = store.finish_epoch(number, 2.0, sample_turn(300, sample_bug("y")))
        _need_added(again, Added(), "an epoch that had ended already")
        store.fail_epoch(number, 2.0)
        _need_added(epoch(store, 3.0, A, first), Added(), "totals that were told twice")
        late = epoch(store, 4.0, A, sample_turn(60, sample_bug("x", 2)))
        _need_added(late, Added(), "totals that came late")
        more = epoch(store, 5.0, A, sample_turn(150, sample_bug("x", 3)))
        _need_added(more, Added(50, 5.0, 5))
        failed = store.start_epoch(5.0, A, WHY)
        store.fail_epoch(failed, 6.0)
        _need_added(store.finish_epoch(failed, 7.0, sample_turn(900)), Added(), "a failed epoch")
        shown = shown_of(reader)
        seen = (shown.inputs, shown.discoveries, shown.species, shown.epochs)
        said = f"the target has (inputs, discoveries, species, epochs) {seen}, of which 150, 15, "
        need(seen == (150, 15, 157, 5), "absolute", f"{said}157 and 5 were told.")
        crashes = [bug.crashes for bug in reader.state().bugs]
        need(crashes == [3], "absolute", f"a bug that crashed 3 times has {crashes}.")


def _need_added(found: Added, right: Added, after: str = "new totals") -> None:
    need(found == right, "absolute", f"{after} added {found}, and not {right}.")


def check_many(given: Given) -> None:
    """That several epochs in one call are the same as one by one, in that order."""
    with given.begun("many") as (store, reader):
        ended, failed, first, second, later = store.start_epochs(
            1.0, [(A, WHY), (B, WHY), (B, WHY), (A, WHY), (A, WHY)]
        )
        grow = ended < failed < first < second < later
        need(grow, "start_epochs", "the numbers of epochs that begin together do not grow.")
        store.finish_epoch(ended, 2.0, sample_turn(10))
        again = replace(sample_turn(70, sample_bug("x"), sample_bug("y")), looked=(64, 0.5))
        turns = {
            ended: sample_turn(900),
            failed: None,
            first: sample_turn(30, sample_bug("x")),
            second: sample_turn(50, sample_bug("x")),
            later: again,
        }
        found = store.finish_epochs(3.0, turns)
        right = {
            ended: Added(),
            failed: Added(),
            first: Added(30, 3.0, 3, ("x",), ("x",)),
            second: Added(40, 4.0, 4, ("x",)),
            later: Added(20, 2.0, 2, ("y",), ("y",)),
        }
        for epoch_number, added in right.items():
            _need_added(found[epoch_number], added, "an epoch among several")
        seen = [(shown_of(reader, n).epochs, shown_of(reader, n).inputs) for n in (A, B)]
        said = f"of (epochs, inputs) (3, 70) and (2, 30), the reader has {seen}."
        need(seen == [(3, 70), (2, 30)], "finish_epochs", said)
        looked = (store.memory()[A].looked, store.memory()[A].looked_high)
        need(looked == (64, 0.5), "finish_epochs", f"a look told with a turn is kept as {looked}.")
        nothing = (store.start_epochs(4.0, []), store.finish_epochs(4.0, {}))
        need(nothing == ((), {}), "start_epochs", f"no epochs at all came to {nothing}.")


def check_generations(given: Given) -> None:
    """That totals of another generation are counted from 0, beside those before."""
    with given.begun("generations") as (store, reader):
        epoch(store, 1.0, A, sample_turn(200))
        other = sample_turn(50, generation="second")
        _need_added(epoch(store, 2.0, A, other), Added(50, 5.0, 5), "another generation")
        again = epoch(store, 3.0, A, sample_turn(200))
        _need_added(again, Added(), "an earlier generation, told once more,")
        epoch(store, 4.0, A, sample_turn(70, generation="second"))
        shown, kept = shown_of(reader), store.memory()[A]
    seen = (shown.inputs, shown.discoveries, kept.generation, kept.inputs, kept.discoveries)
    right = (270, 7, "second", 270, 7)
    said = f"after generations of 200 and 70 inputs, {seen} is known, and not {right}."
    need(seen == right, "absolute", said)


def check_recover(given: Given) -> None:
    """That what a killed run has left is taken up once."""
    with given.begun("recover") as (store, reader):
        known = sample_turn(100, sample_bug("x"))
        epoch(store, 1.0, A, known)
        _need_added(store.recover(2.0, A, known), Added(), "recovered totals that were known")
        need(shown_of(reader).epochs == 1, "absolute", "to recover what is known made an epoch.")
        more = sample_turn(150, counted_again(sample_bug("x"), 2), sample_bug("y"))
        right = Added(50, 5.0, 5, ("y",), ("y",))
        _need_added(store.recover(3.0, A, more), right, "recovered totals")
        _need_added(store.recover(4.0, A, more), Added(), "totals that were recovered twice")
        shown = shown_of(reader)
        said = f"recovered totals made {shown.epochs - 1} epochs of {shown.inputs} inputs in all."
        need((shown.epochs, shown.inputs) == (2, 150), "recover", said)


def check_bugs(given: Given) -> None:
    """That a bug of two targets is one bug of the campaign, and belongs to who showed it first."""
    with given.begun("bugs") as (store, reader):
        first = epoch(store, 1.0, B, sample_turn(100, sample_bug("x", 2)))
        _need_added(first, Added(100, 10.0, 10, ("x",), ("x",)))
        second = epoch(store, 2.0, A, sample_turn(100, sample_bug("x", 3), sample_bug("z")))
        right = Added(100, 10.0, 10, ("x", "z"), ("z",))
        _need_added(second, right, "a bug that another target had shown")
        bugs = [(bug.id, bug.target, bug.targets, bug.crashes) for bug in reader.state().bugs]
        right_bugs = [("x", B, (B, A), 5), ("z", A, (A,), 1)]
        need(bugs == right_bugs, "readers", f"the bugs are {bugs}, and not {right_bugs}.")
        times = [(time.target, time.bug, time.at) for time in reader.bug_times()]
        right_times = [(B, "x", 1.0), (A, "x", 2.0), (A, "z", 2.0)]
        need(times == right_times, "readers", f"bug_times tells {times}, and not {right_times}.")
