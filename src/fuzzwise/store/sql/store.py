"""The store in SQL: one writer, one thread, every change one transaction.

Totals of a generation are absolute, so that what an epoch adds is their difference to the totals
told before: telling the same twice adds nothing, and a killed run loses nothing that its targets'
folders still know.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import Connection, Row, insert, or_, select, update

from fuzzwise import __version__
from fuzzwise.errors import BadInput
from fuzzwise.files import make_private, refuse_links, see_to_disk
from fuzzwise.store import lock
from fuzzwise.store.contract import (
    Added,
    BugFound,
    Choice,
    FinishedTurn,
    RunEntry,
    TargetEntry,
    TargetMemory,
)
from fuzzwise.store.sql.memory import memory_of
from fuzzwise.store.sql.migrations import STEPS, migrate, version_of
from fuzzwise.store.sql.schema import epochs, events, metadata, runs, targets
from fuzzwise.store.sql.soundness import (
    check_columns,
    check_kinds,
    check_latest_epochs,
    check_values,
)
from fuzzwise.store.sql.states import check_words, state_of
from fuzzwise.store.sql.take import Taken, take
from fuzzwise.store.sqlite import (
    FILE,
    checkpoint,
    open_for_writing,
    put_aside_if_damaged,
    sentences,
)
from fuzzwise.store.states import WAITING, CampaignState, Stopped

_OF_OTHERS = ("scratch", "seed-links")
"""Folders in those of targets that nobody reads or writes through: where targets run, and links to
the user's seeds, each of which is compared with the seed before it is used."""

RECOVERED = "recovered"
"""The reason of an epoch whose totals an earlier, killed run left behind."""


class SqlStore:
    """The database of one campaign, for the one process that runs it.

    ``held`` is what to let go of in the end: the connection, then the lock of the folder.
    """

    def __init__(
        self, folder: Path, connection: Connection, notes: tuple[str, ...], held: ExitStack
    ) -> None:
        self.notes = notes
        self._folder = folder
        self._path = folder / FILE
        self._connection = connection
        self._held = held
        self._run: int | None = None
        self._used_before = time.process_time()
        self._written: dict[tuple[int, str], BugFound] = {}

    @classmethod
    def open(cls, folder: Path) -> SqlStore:
        """Open or make the database of a folder; ``notes`` says if a damaged one was put aside.

        Refused where another store of the folder is open, in whichever process.
        """
        path = folder / FILE
        with ExitStack() as held:
            try:
                make_private(folder)
                refuse_links(folder, but_in=_OF_OTHERS)
                held.enter_context(lock.hold(folder))
                note = put_aside_if_damaged(path, _check)
            except OSError as error:
                raise BadInput(
                    f"{folder} cannot hold a campaign: {error.strerror}. Choose another folder "
                    "with --out."
                ) from error
            with sentences(path):
                connection = held.enter_context(open_for_writing(path))
                migrate(connection, path)
                see_to_disk(folder)
            return cls(folder, connection, (note,) if note else (), held.pop_all())

    def close(self) -> None:
        """Let go of the file and of the folder; everything is in them already."""
        self._held.close()

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
        with self._transaction() as connection:
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
            self._run = connection.scalar(insert(runs).returning(runs.c.id), row)
        self._used_before = time.process_time()

    def tick(self, seconds: float) -> None:
        """Save the campaign's clock; it never goes back."""
        with self._transaction() as connection:
            self._set_clock(connection, seconds)

    def end_run(self, seconds: float, stopped: Stopped) -> None:
        """Save why the run ended."""
        with self._transaction() as connection:
            self._set_clock(connection, seconds)
            why = {"stop_reason": stopped.reason, "stop_detail": stopped.detail}
            connection.execute(update(runs).where(runs.c.id == self._run).values(why))
        self._run = None

    def seconds(self) -> float:
        """Seconds of the campaign so far, over all runs."""
        with self._reading() as connection:
            return self._seconds(connection)

    def has_runs(self) -> bool:
        """Whether the campaign was begun."""
        with self._reading() as connection:
            return connection.scalar(select(runs.c.id).limit(1)) is not None

    def has_ended(self) -> bool:
        """Whether the latest run said why it ended; one that was killed, or was never, did not."""
        with self._reading() as connection:
            latest = select(runs.c.stop_reason).order_by(runs.c.id.desc()).limit(1)
            return connection.scalar(latest) is not None

    def start_epoch(self, at: float, target: str, choice: Choice) -> int:
        """A target gets an epoch; the number of the epoch."""
        with self._transaction() as connection:
            row = self._target(connection, target)
            epoch = self._add_epoch(
                connection,
                target_id=row.id,
                began=at,
                reason=choice.reason,
                belief=choice.belief,
                other_id=self._target(connection, choice.other).id if choice.other else None,
                other_belief=choice.other_belief,
            )
            self._change(connection, row.id, running=targets.c.running + 1)
        return epoch

    def finish_epoch(self, epoch: int, at: float, turn: FinishedTurn) -> Added:
        """What came of an epoch that was under way; one that has ended already adds nothing."""
        with self._transaction() as connection:
            target = self._target_of_running(connection, epoch)
            if target is None:
                return Added()
            taken = take(connection, target, at, turn, self._written)
            self._end_epoch(connection, target, epoch, at, taken)
        self._written.update(taken.written)
        return taken.added

    def recover(self, at: float, target: str, turn: FinishedTurn) -> Added:
        """Totals that an earlier, killed run left behind: an epoch, if there is news in them."""
        with self._transaction() as connection:
            row = self._target(connection, target)
            taken = take(connection, row, at, turn, self._written)
            if taken.is_news:
                epoch = self._add_epoch(connection, target_id=row.id, began=at, reason=RECOVERED)
                self._change(connection, row.id, running=targets.c.running + 1)
                self._end_epoch(connection, row, epoch, at, taken)
            elif row.in_flight:
                self._change(connection, row.id, in_flight=False)
        self._written.update(taken.written)
        return taken.added

    def fail_epoch(self, epoch: int, at: float) -> None:
        """An epoch of which nothing came: its target is broken."""
        with self._transaction() as connection:
            target = self._target_of_running(connection, epoch)
            if target is not None:
                self._end_epoch(connection, target, epoch, at, Taken(Added()))

    def set_state(self, target: str, state: str, reason: str, detail: str) -> None:
        """A target is now waiting, retired or broken, and why."""
        with self._transaction() as connection:
            row = self._target(connection, target)
            self._change(connection, row.id, state=state, reason=reason, detail=detail)

    def set_looked(self, target: str, n: int, high: float | None) -> None:
        """The stop rule's last look at a target: after how many inputs, the risk's upper end."""
        with self._transaction() as connection:
            row = self._target(connection, target)
            self._change(connection, row.id, looked=int(n), looked_high=high)

    def set_signature(self, target: str, signature: str) -> None:
        """What the files of a target were when it left the schedule: others bring it back."""
        with self._transaction() as connection:
            row = self._target(connection, target)
            self._change(connection, row.id, signature=signature)

    def event(self, at: float, kind: str, target: str, detail: str) -> None:
        """Something that is worth a sentence."""
        with self._transaction() as connection:
            row = {"at": at, "kind": kind, "target": target, "detail": detail}
            connection.execute(insert(events), row)

    def memory(self) -> dict[str, TargetMemory]:
        """What a resumed campaign must know of each target, by name."""
        with self._reading() as connection:
            return memory_of(connection, begun=self._run is not None)

    def state(self) -> CampaignState:
        """The campaign as it is now."""
        with self._reading() as connection:
            return state_of(connection, self._folder, running=self._run is not None)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with sentences(self._path):
            checkpoint(self._connection, self._path)
            with self._connection.begin():
                yield self._connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with sentences(self._path), self._connection.begin():
            yield self._connection

    def _seconds(self, connection: Connection) -> float:
        return connection.scalar(select(runs.c.seconds).order_by(runs.c.id.desc()).limit(1)) or 0.0

    def _set_clock(self, connection: Connection, seconds: float) -> None:
        later = (runs.c.id == self._run, runs.c.seconds < seconds)
        own = time.process_time() - self._used_before
        connection.execute(update(runs).where(*later).values(seconds=seconds, own_seconds=own))

    def _put_targets(self, connection: Connection, entries: tuple[TargetEntry, ...]) -> None:
        known = set(connection.scalars(select(targets.c.name)))
        for position, entry in enumerate(entries):
            row = asdict(entry) | {"position": position, "present": True}
            if entry.name in known:
                connection.execute(update(targets).where(targets.c.name == entry.name).values(row))
            else:
                connection.execute(insert(targets), row | _NOTHING_YET)

    def _target(self, connection: Connection, name: str) -> Row[Any]:
        return connection.execute(select(targets).where(targets.c.name == name)).one()

    def _target_of_running(self, connection: Connection, epoch: int) -> Row[Any] | None:
        """The target of an epoch; None if the epoch has ended already."""
        query = select(targets).join(epochs, epochs.c.target_id == targets.c.id)
        return connection.execute(
            query.where(epochs.c.id == epoch, epochs.c.ended.is_(None), epochs.c.lost.is_(False))
        ).first()

    def _add_epoch(self, connection: Connection, **row: Any) -> int:
        row |= {"run_id": self._run, "lost": False}
        epoch = connection.scalar(insert(epochs).returning(epochs.c.id), row)
        assert epoch is not None
        return int(epoch)

    def _end_epoch(
        self, connection: Connection, target: Row[Any], epoch: int, at: float, taken: Taken
    ) -> None:
        row = taken.epoch_row() | {"ended": at}
        connection.execute(update(epochs).where(epochs.c.id == epoch).values(row))
        self._change(
            connection,
            target.id,
            running=targets.c.running - 1,
            epochs=targets.c.epochs + 1,
            in_flight=False,
        )
        self._set_clock(connection, at)

    def _change(self, connection: Connection, target: int, **values: Any) -> None:
        connection.execute(update(targets).where(targets.c.id == target).values(values))


def _check(connection: Connection) -> None:
    """Read all that a campaign goes on from; of an older version, as far as this one knows it."""
    schema = check_kinds(connection)
    if version_of(connection) == len(STEPS):
        check_columns(connection, schema)
        check_values(
            connection, *(c for t in metadata.sorted_tables if t is not epochs for c in t.c)
        )
        check_latest_epochs(connection)
        check_words(connection)
        memory_of(connection, begun=False)


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
