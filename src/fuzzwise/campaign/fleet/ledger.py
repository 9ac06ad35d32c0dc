"""The manager's side of what is stored: which manifest holds, and what the views need of it.

The manager alone writes manifests, for turns that it still waits for: what a machine brings that
was given up meanwhile is left lying. Before one is written, the inputs and reports of its bugs are
in the campaign's folder, where views read them.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from fuzzwise.campaign.changes import glance
from fuzzwise.campaign.executor import Turn
from fuzzwise.campaign.fleet.errand import Errand
from fuzzwise.campaign.fleet.manifest import (
    Manifest,
    StoredFile,
    area_of,
    decode,
    encode,
    manifest_name,
)
from fuzzwise.campaign.fleet.messages import Answer
from fuzzwise.campaign.fleet.moving import HOMES, IDENTITY, is_stored_at, take_along
from fuzzwise.campaign.fleet.packs import contents
from fuzzwise.campaign.fleet.storage import AT_ONCE, Storage, object_name, shown_url
from fuzzwise.campaign.fleet.travel import send
from fuzzwise.campaign.places import target_folder
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.sessions import random_seed
from fuzzwise.engines.contract import TargetPlan, Totals
from fuzzwise.errors import BadInput
from fuzzwise.files import make_folders, write_whole

PATIENCE = 75.0
"""Seconds for which the storage may be gone before a turn is lost."""

LAST = 3.0
"""Seconds that the last manifests have to be written."""

PAUSE = 1.0
CRASHES = "crashes/"


class StorageGone(BadInput):
    """The storage cannot be used; perhaps later."""


class StoredLedger:
    """All manifests of a campaign; ``campaign`` is its name among all campaigns."""

    def __init__(self, plan: CampaignPlan, url: str) -> None:
        self._plan = plan
        self._targets = {target.name: target for target in plan.targets}
        self.storage = Storage(url)
        try:
            self.campaign = self._identity()
            self._manifests = self._all_manifests()
            take_along(plan, self.storage, self.campaign, self._manifests)
            for name, manifest in self._manifests.items():
                self._fetch_crashes(name, manifest)  # this manager may be on another machine
        except OSError as error:
            raise StorageGone(
                f"The storage {shown_url(url)} cannot be used ({error}). Check that it is there "
                "and may be written."
            ) from error
        # Tokens are greater than all that were there before this run, also where the store was
        # lost, and the numbers of epochs begin again.
        self._base = max((one.token for one in self._manifests.values()), default=0)
        self._told: dict[str, tuple[int, Totals | None]] = {}
        self._sent: dict[str, tuple[object, str]] = {}
        self._older: dict[str, set[str]] = {}
        self._lock = threading.Lock()  # of the manifests
        self._closing = threading.Event()
        self._written = threading.Condition()
        self._writing = 0

    def errand(self, turn: Turn) -> Errand:
        """What a machine needs for a turn; OSError where a target's files cannot be stored."""
        target = turn.target
        plan = self._targets[target]
        with self._lock:
            manifest = self._manifests.get(target)
        return Errand(
            plan,
            random_seed(self._plan, target),
            self.storage.url,
            self._baggage(plan),
            manifest.token if manifest else 0,
            self._base + turn.epoch,
        )

    def known(self, target: str) -> Totals | None:
        """The totals that were written down last."""
        with self._lock:
            manifest, told = self._manifests.get(target), self._told.get(target)
            if manifest and (told is None or told[0] != manifest.token):
                # To make them out takes longer than all else here, and they are asked for often.
                told = self._told[target] = (manifest.token, manifest.totals)
        return told[1] if manifest and told else None

    def take(self, turn: Turn, answer: Answer, then: Callable[[], None]) -> bool:
        """Fetch what views need, write the manifest down and call ``then``; False: refused."""
        if not answer.kept:
            then()
            return True
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self._take(turn, decode(answer.kept), then)
            except OSError:
                if time.monotonic() > deadline or self._closing.wait(PAUSE):
                    return False

    def close(self) -> None:
        """Write down nothing any more; what is being written at the moment is waited for."""
        self._closing.set()
        with self._written:
            self._written.wait_for(lambda: not self._writing, LAST)

    def _take(self, turn: Turn, manifest: Manifest, then: Callable[[], None]) -> bool:
        name = turn.target
        stored = self._stored(name)
        is_next = (stored.token if stored else 0) == manifest.before < manifest.token
        if not is_next or manifest.token != self._base + turn.epoch:
            return False
        self._fetch_crashes(name, manifest, set(stored.files) if stored else set())
        if not self._begin_writing():
            return False
        try:
            self.storage.put(manifest_name(name), encode(manifest))
            with self._lock:
                self._manifests[name] = manifest
                self._told.pop(name, None)
            then()
        finally:
            self._end_writing()
        self._remove_unused(name, stored, manifest)
        return True

    def _begin_writing(self) -> bool:
        with self._written:
            if self._closing.is_set():
                return False
            self._writing += 1
            return True

    def _end_writing(self) -> None:
        with self._written:
            self._writing -= 1
            self._written.notify_all()

    def _identity(self) -> str:
        try:
            return self.storage.get(IDENTITY).decode()
        except FileNotFoundError:
            if is_stored_at(self._plan.folder, self.storage.url):
                # Who began anew here would lose all that is there when it comes back.
                raise OSError(
                    "it has nothing of this campaign, which was stored there; if that is lost, "
                    f"remove the folder {HOMES} of the campaign"
                ) from None
            name = uuid.uuid4().hex
            self.storage.put(IDENTITY, name.encode())
            return name

    def _stored(self, name: str) -> Manifest | None:
        try:
            return decode(self.storage.get(manifest_name(name)))
        except FileNotFoundError:
            return None

    def _all_manifests(self) -> dict[str, Manifest]:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            found = threads.map(self._stored, self._targets)
            return {name: one for name, one in zip(self._targets, found, strict=True) if one}

    def _baggage(self, plan: TargetPlan) -> str:
        """The list of a target's files, stored again only where they may have changed."""
        seen = glance(plan)
        known = self._sent.get(plan.name)
        if known is None or known[0] != seen:
            known = self._sent[plan.name] = (seen, send(self.storage, plan))
        return known[1]

    def _fetch_crashes(
        self, name: str, manifest: Manifest, known: Collection[StoredFile] = ()
    ) -> None:
        """Bring the inputs and reports of bugs here: those that are not known, and all missing."""
        home = target_folder(self._plan.folder, name)
        found = [file for file in manifest.files if file.path.startswith(CRASHES)]
        fresh = [f for f in found if not (home / f.path).exists() or (known and f not in known)]
        if not fresh:
            return
        for file, content in contents(self.storage, area_of(name), fresh):
            place = home.joinpath(*file.path.split("/"))
            if ".." in place.parts or not place.is_relative_to(home):
                raise OSError("a manifest names a file outside of its folder")
            make_folders(place.parent)
            write_whole(place, content)

    def _remove_unused(self, name: str, before: Manifest | None, now: Manifest) -> None:
        """Remove what only the manifest before the last one named; a machine may read the last."""
        last = before.objects if before else set()
        unused = self._older.get(name, set()) - last - now.objects
        self._older[name] = last
        with suppress(OSError):
            self.storage.remove(object_name(area_of(name), digest) for digest in unused)
