"""Where the sessions of a machine come from: targets are fetched, opened, stored and closed."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from fuzzwise.campaign.fleet.errand import Errand
from fuzzwise.campaign.fleet.homes import Home, Stale
from fuzzwise.campaign.fleet.manifest import encode
from fuzzwise.campaign.fleet.messages import Answer, Order
from fuzzwise.campaign.fleet.moving import IDENTITY
from fuzzwise.campaign.fleet.station import Refused, Resting, Unfit
from fuzzwise.campaign.fleet.storage import Storage, shown_url
from fuzzwise.campaign.fleet.travel import settle
from fuzzwise.engines.contract import Session, TargetPlan, Totals
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import FuzzwiseError
from fuzzwise.triage.workers import Workers

LEAST_SPACE = 64 << 20
"""Free bytes on the disk below which a machine takes no work."""

PATIENCE = 75.0
"""Seconds for which what was found is tried to be stored, and what is stored to be fetched."""

PAUSE = 1.0
IDLE = 120.0
"""Seconds without a turn after which a session is closed: its manager may be gone."""

_Found = TypeVar("_Found")


@dataclass
class _Guest:
    """A target that is here."""

    run: str
    plan: TargetPlan
    session: Session
    used: float
    busy: bool = True
    came: int = 0


class Lodging:
    """The targets of a machine, all below one folder."""

    def __init__(self, folder: Path, workers: Workers) -> None:
        self._folder = folder
        self._workers = workers
        self._lock = threading.Lock()  # of the four below
        self._plans: dict[str, tuple[TargetPlan, TargetPlan]] = {}
        self._guests: dict[tuple[str, str], _Guest] = {}
        self._homes: dict[tuple[str, str], Home] = {}
        self._storages: dict[tuple[str, str], Storage] = {}
        self._leaving = threading.Event()

    def open(self, order: Order) -> Session:
        """The session of a target, on what is stored of it."""
        errand: Errand = order.errand
        self._check_space()
        storage = self._patiently(lambda: self._storage(order.campaign, errand.storage))
        plan = self._patiently(lambda: self._settled(storage, errand))
        home, key = self._home(order), (order.campaign, order.turn.target)
        with self._lock:
            guest = self._guests.get(key)
        if guest and (guest.plan != plan or not home.is_at(errand.before)):
            _close(guest.session)
            guest = None
        came = self._patiently(lambda: home.bring(storage, errand.before))
        if guest is None:
            engine = engine_named(plan.engine)
            session = engine.open_session(plan, home.folder, errand.seed, self._workers)
            guest = _Guest(order.run, plan, session, time.monotonic())
        guest.run, guest.busy, guest.came = order.run, True, came
        with self._lock:
            self._guests[key] = guest
        return guest.session

    def keep(self, order: Order, totals: Totals | None) -> Answer:
        """Store what is new, and tell it in a manifest."""
        errand: Errand = order.errand
        with self._lock:
            guest = self._guests.get((order.campaign, order.turn.target))
        if guest is None:
            return Answer()
        try:
            if totals is None:
                with suppress(FuzzwiseError, OSError):
                    totals = guest.session.totals()
            home = self._home(order)
            storage = self._storage(order.campaign, errand.storage)
            manifest, went = self._patiently(
                lambda: home.keep(storage, errand.before, errand.token, totals)
            )
        finally:
            guest.used, guest.busy = time.monotonic(), False
        return Answer(kept=encode(manifest), moved=(went, guest.came))

    def drop(self, order: Order) -> None:
        """A target was opened for a turn that does not come about."""
        with self._lock:
            if guest := self._guests.get((order.campaign, order.turn.target)):
                guest.used, guest.busy = time.monotonic(), False

    def leave(self, run: str, target: str, seconds: float) -> None:
        """Close sessions, all at once; those that take longer are told to hurry."""
        if not run:
            self._leaving.set()
        with self._lock:
            gone = {
                key: guest
                for key, guest in self._guests.items()
                if run in ("", guest.run) and target in ("", key[1]) and not guest.busy
            }
            for key in gone:
                del self._guests[key]
        self._close_all([guest.session for guest in gone.values()], seconds)

    def sweep(self) -> None:
        """Close the sessions that nobody has asked for in a while."""
        long_ago = time.monotonic() - IDLE
        with self._lock:
            old = [k for k, g in self._guests.items() if not g.busy and g.used < long_ago]
            sessions = [self._guests.pop(key).session for key in old]
        self._close_all(sessions, 5.0)

    def _close_all(self, sessions: list[Session], seconds: float) -> None:
        threads = [threading.Thread(target=_close, args=(s,), daemon=True) for s in sessions]
        deadline = time.monotonic() + seconds
        for thread in threads:
            thread.start()
        for thread, session in zip(threads, sessions, strict=True):
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                session.interrupt()

    def _home(self, order: Order) -> Home:
        campaign, target = order.campaign, order.turn.target
        folder = self._folder / "campaigns" / campaign
        home = Home(campaign, target, folder / "targets" / target, folder / "homes" / target)
        with self._lock:
            return self._homes.setdefault((campaign, target), home)

    def _storage(self, campaign: str, url: str) -> Storage:
        """The storage of a campaign, if it is the one that the manager sees."""
        with self._lock:
            known = self._storages.get((campaign, url))
        if known:
            return known
        storage = Storage(url)
        try:
            is_same = storage.get(IDENTITY).decode(errors="replace") == campaign
        except FileNotFoundError:
            is_same = False
        if not is_same:
            raise Unfit(
                f"the storage {shown_url(url)} is not there, or another one. Give the campaign one "
                "that all machines see: a folder that they share, or s3://BUCKET/NAME."
            )
        with self._lock:
            self._storages[campaign, url] = storage
        return storage

    def _settled(self, storage: Storage, errand: Errand) -> TargetPlan:
        """The target as it is here, looked at once: to ask its loader takes as long as a start."""
        plan = replace(errand.plan, name="")  # many targets may be of one program
        with self._lock:
            known = self._plans.get(errand.baggage)
        if known is None or known[0] != plan:
            known = plan, settle(storage, errand.baggage, plan, self._folder / "programs")
            with self._lock:
                self._plans[errand.baggage] = known
        return replace(known[1], name=errand.plan.name)

    def _check_space(self) -> None:
        if shutil.disk_usage(self._folder).free < LEAST_SPACE:
            raise Resting(f"Its disk is full: {LEAST_SPACE >> 20} MiB must be free.")

    def _patiently(self, work: Callable[[], _Found]) -> _Found:
        """Try again as long as the storage may come back; then this machine rests."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return work()
            except Stale:
                raise Refused("Another machine has gone on with this target.") from None
            except OSError as error:
                full = error.errno == errno.ENOSPC
                if full or time.monotonic() > deadline or self._leaving.wait(PAUSE):
                    why = os.strerror(errno.ENOSPC) if full else str(error)
                    raise Resting(f"What was found could not be stored: {why}.") from error


def _close(session: Session) -> None:
    with suppress(FuzzwiseError, OSError):
        session.close()
