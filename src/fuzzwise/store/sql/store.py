"""The store in SQL: one writer, one thread, every change one transaction.

Totals of a generation are absolute, so that what an epoch adds is their difference to the totals
told before: telling the same twice adds nothing, and a killed run loses nothing that its targets'
folders still know.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, or_, select, update

from fuzzwise import __version__
from fuzzwise.store.contract import (
    Added,
    BugFound,
    Choice,
    FinishedTurn,
    RunEntry,
    TargetEntry,
    TargetMemory,
)
from fuzzwise.store.sql.database import Database
from fuzzwise.store.sql.memory import memory_of
from fuzzwise.store.sql.schema import epochs, events, runs, targets
from fuzzwise.store.sql.states import state_of
from fuzzwise.store.sql.take import OF_TARGET, Taken, execute_all, take
from fuzzwise.store.states import WAITING, CampaignState, Stopped

RECOVERED = "recovered"
"""The reason of an epoch whose totals an earlier, killed run left behind."""


class SqlStore:
    """One campaign in a database, for the one process that runs it."""

    def __init__(self, folder: Path, database: Database, notes: tuple[str, ...] = ()) -> None:
        self.notes = notes
        self._folder = folder
        self._database = database
        self._run: int | None = None
        self._used_before = time.process_time()
        self._written: dict[tuple[int, str], BugFound] = {}
        self._ids: dict[str, int] = {}

    @classmethod
    def open(cls, folder: Path) -> SqlStore:
        """The store in a folder, in SQLite; ``notes`` says if a damaged one was put aside."""
        from fuzzwise.store.sqlite_folder import open_database

        return cls(folder, *open_database(folder))

    def close(self) -> None:
        """Let go of the campaign; everything is kept already."""
        self._database.close()

    def __enter__(self) -> SqlStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def begin_run(self, run: RunEntry) -> None:
        """A new run of the campaign; epochs that an earlier one left under way are lost."""
        self._run = self._database.write(lambda connection: self._begin(connection, run))
        self._ids = {}
        self._used_before = time.process_time()

    def _begin(self, connection: Connection, run: RunEntry) -> int:
        connection.execute(
            update(epochs)
            .where(epochs.c.ended.is_(None), epochs.c.lost.is_(False))
            .values(lost=True)
        )
        connection.execute(
            update(targets).values(
                present=False,
                in_flight=or_(targets.c.in_flight, targets.c.running > 0),
                running=0,
            )
        )
        self._put_targets(connection, run.targets)
        row = {
            "name": run.name,
            "budget": run.budget,
            "cores": run.cores,
            "scheduler": run.scheduler,
            "epoch": run.epoch,
            "confidence": run.confidence,
            "pid": os.getpid(),
            "fuzzwise": __version__,
            "seconds": self._seconds(connection),
        }
        return _number(connection.scalar(insert(runs).returning(runs.c.id), row))

    def tick(self, seconds: float) -> None:
        """Save the campaign's clock; it never goes back."""
        self._database.write(lambda connection: self._set_clock(connection, seconds))

    def end_run(self, seconds: float, stopped: Stopped) -> None:
        """Save why the run ended."""

        def end(connection: Connection) -> None:
            self._set_clock(connection, seconds)
            why = {"stop_reason": stopped.reason, "stop_detail": stopped.detail}
            connection.execute(update(runs).where(runs.c.id == self._run).values(why))

        self._database.write(end)
        self._run = None

    def seconds(self) -> float:
        """Seconds of the campaign so far, over all runs."""
        return self._database.read(self._seconds)

    def has_runs(self) -> bool:
        """Whether the campaign was begun."""
        any_run = select(runs.c.id).limit(1)
        return self._database.read(lambda connection: connection.scalar(any_run)) is not None

    def has_ended(self) -> bool:
        """Whether the latest run said why it ended; one that was killed, or was never, did not."""
        latest = select(runs.c.stop_reason).order_by(runs.c.id.desc()).limit(1)
        return self._database.read(lambda connection: connection.scalar(latest)) is not None

    def start_epoch(self, at: float, target: str, choice: Choice) -> int:
        """A target gets an epoch; the number of the epoch."""
        return self.start_epochs(at, [(target, choice)])[0]

    def start_epochs(self, at: float, choices: Sequence[tuple[str, Choice]]) -> tuple[int, ...]:
        """Targets get an epoch each; the numbers of the epochs, which grow."""

        def start(connection: Connection) -> tuple[int, ...]:
            rows = [
                {
                    "target_id": self._id(connection, target),
                    "began": at,
                    "reason": choice.reason,
                    "belief": choice.belief,
                    "other_id": self._id(connection, choice.other) if choice.other else None,
                    "other_belief": choice.other_belief,
                }
                for target, choice in choices
            ]
            one_more = [{"of_target": row["target_id"]} for row in rows]
            connection.execute(_ONE_MORE, one_more)
            return self._add_epochs(connection, rows)

        return self._database.write(start) if choices else ()

    def finish_epoch(self, epoch: int, at: float, turn: FinishedTurn) -> Added:
        """What came of an epoch that was under way; one that has ended already adds nothing."""
        return self.finish_epochs(at, {epoch: turn})[epoch]

    def fail_epoch(self, epoch: int, at: float) -> None:
        """An epoch of which nothing came: its target is broken."""
        self.finish_epochs(at, {epoch: None})

    def finish_epochs(
        self, at: float, turns: Mapping[int, FinishedTurn | None]
    ) -> dict[int, Added]:
        """What came of epochs, by their numbers; None where nothing did."""

        def finish(connection: Connection) -> dict[int, Taken]:
            running = self._running(connection, turns)
            told = [
                (epoch, target, turn) for epoch, target in running.items() if (turn := turns[epoch])
            ]
            parts = take(connection, at, [one[1:] for one in told], self._written)
            taken = dict.fromkeys(running, Taken(Added()))
            taken |= {one[0]: part for one, part in zip(told, parts, strict=True)}
            self._end_epochs(connection, at, [(running[e], e, t) for e, t in taken.items()])
            return taken

        taken = self._database.write(finish) if turns else {}
        return {epoch: self._taken(taken.get(epoch, Taken(Added()))) for epoch in turns}

    def recover(self, at: float, target: str, turn: FinishedTurn) -> Added:
        """Totals that an earlier, killed run left behind: an epoch, if there is news in them."""

        def take_up(connection: Connection) -> Taken:
            query = select(*OF_TARGET).where(targets.c.name == target)
            row = connection.execute(query).one()
            (taken,) = take(connection, at, [(row, turn)], self._written)
            if taken.is_news:
                made = {"target_id": row.id, "began": at, "reason": RECOVERED}
                (epoch,) = self._add_epochs(connection, [made])
                connection.execute(_ONE_MORE, [{"of_target": row.id}])
                self._end_epochs(connection, at, [(row, epoch, taken)])
            else:
                self._change(connection, row.id, in_flight=False, **taken.shown)
            return taken

        return self._taken(self._database.write(take_up))

    def _taken(self, taken: Taken) -> Added:
        self._written.update(taken.written)
        return taken.added

    def set_state(self, target: str, state: str, reason: str, detail: str) -> None:
        """A target is now waiting, retired or broken, and why."""
        self._set(target, state=state, reason=reason, detail=detail)

    def set_looked(self, target: str, n: int, high: float | None) -> None:
        """The stop rule's last look at a target: after how many inputs, the risk's upper end."""
        self._set(target, looked=int(n), looked_high=high)

    def set_signature(self, target: str, signature: str) -> None:
        """What the files of a target were when it left the schedule: others bring it back."""
        self._set(target, signature=signature)

    def _set(self, target: str, **values: Any) -> None:
        def change(connection: Connection) -> None:
            self._change(connection, self._id(connection, target), **values)

        self._database.write(change)

    def event(self, at: float, kind: str, target: str, detail: str) -> None:
        """Something that is worth a sentence."""
        row = {"at": at, "kind": kind, "target": target, "detail": detail}
        self._database.write(lambda connection: connection.execute(insert(events), row))

    def memory(self) -> dict[str, TargetMemory]:
        """What a resumed campaign must know of each target, by name."""
        begun = self._run is not None
        return self._database.read(lambda connection: memory_of(connection, begun=begun))

    def state(self) -> CampaignState:
        """The campaign as it is now."""
        running = self._run is not None
        state = self._database.read(lambda connection: state_of(connection, self._folder, running))
        return replace(state, store=self._database.store)

    def _seconds(self, connection: Connection) -> float:
        return connection.scalar(select(runs.c.seconds).order_by(runs.c.id.desc()).limit(1)) or 0.0

    def _set_clock(self, connection: Connection, seconds: float) -> None:
        later = (runs.c.id == self._run, runs.c.seconds < seconds)
        own = time.process_time() - self._used_before
        connection.execute(update(runs).where(*later).values(seconds=seconds, own_seconds=own))

    def _put_targets(self, connection: Connection, entries: tuple[TargetEntry, ...]) -> None:
        """All of them at once: of ten thousand, one by one takes a minute."""
        known = set(connection.scalars(select(targets.c.name)))
        rows = [
            asdict(entry) | {"position": position, "present": True}
            for position, entry in enumerate(entries)
        ]
        if fresh := [row | _NOTHING_YET for row in rows if row["name"] not in known]:
            connection.execute(insert(targets), fresh)
        if again := [row | {"known": row["name"]} for row in rows if row["name"] in known]:
            connection.execute(update(targets).where(targets.c.name == bindparam("known")), again)

    def _id(self, connection: Connection, name: str) -> int:
        """The number of a target, which it keeps."""
        if name not in self._ids:
            self._ids = {row.name: row.id for row in connection.execute(_NAMES)}
        return self._ids[name]

    def _running(self, connection: Connection, numbers: Iterable[int]) -> dict[int, Row[Any]]:
        """The targets of those epochs that have not ended, in the order of these."""
        query = (
            select(*(*OF_TARGET, epochs.c.id.label("epoch")))
            .join(epochs, epochs.c.target_id == targets.c.id)
            .where(epochs.c.id.in_(list(numbers)), epochs.c.ended.is_(None))
            .where(epochs.c.lost.is_(False))
        )
        found = {row.epoch: row for row in connection.execute(query)}
        return {number: found[number] for number in numbers if number in found}

    def _add_epochs(self, connection: Connection, rows: list[dict[str, Any]]) -> tuple[int, ...]:
        common = {"run_id": self._run, "lost": False}
        made = insert(epochs).returning(epochs.c.id, sort_by_parameter_order=True)
        return tuple(connection.scalars(made, [row | common for row in rows]))

    def _end_epochs(
        self, connection: Connection, at: float, ended: Sequence[tuple[Row[Any], int, Taken]]
    ) -> None:
        shown: dict[int, dict[str, Any]] = {}
        for target, _, taken in ended:
            row = shown.setdefault(target.id, {"of_target": target.id, "ended": 0})
            row |= taken.shown | {"ended": row["ended"] + 1}
        execute_all(connection, _SO_MANY_LESS, shown.values())
        rows = ({"of_epoch": e, "ended": at} | taken.epoch_row() for _, e, taken in ended)
        execute_all(connection, _END, rows)
        self._set_clock(connection, at)

    def _change(self, connection: Connection, target: int, **values: Any) -> None:
        connection.execute(update(targets).where(targets.c.id == target).values(values))


_NAMES = select(targets.c.name, targets.c.id)
_OF_TARGET = targets.c.id == bindparam("of_target")
_ONE_MORE = update(targets).where(_OF_TARGET).values(running=targets.c.running + 1)
_SO_MANY_LESS = (
    update(targets)
    .where(_OF_TARGET)
    .values(
        running=targets.c.running - bindparam("ended"),
        epochs=targets.c.epochs + bindparam("ended"),
        in_flight=False,
    )
)
_END = update(epochs).where(epochs.c.id == bindparam("of_epoch"))


def _number(made: int | None) -> int:
    assert made is not None
    return int(made)


_NOTHING_YET: dict[str, Any] = {
    "state": WAITING,
    "reason": "",
    "detail": "",
    "running": 0,
    "in_flight": False,
    "epochs": 0,
    "inputs": 0,
    "seconds": 0.0,
    "generation": "",
    "species": 0,
    "corpus": 0,
    "crashes": 0,
    "trend": "",
    "warnings": [],
    "new_bugs": 0,
    "looked": 0,
    "signature": "",
}
