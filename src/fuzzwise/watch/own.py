"""Campaigns of fuzzwise itself: folders of ``fuzz`` and ``run``, and snapshot files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fuzzwise import snapshot
from fuzzwise.campaign.places import target_folder
from fuzzwise.engines.aflplusplus.places import stability_in, untried_in
from fuzzwise.engines.go import counts as go
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.engines.observer.state import State
from fuzzwise.engines.stock.counts import StockFolder, counts_in, is_stock_record
from fuzzwise.errors import BadInput
from fuzzwise.files import refuse_links
from fuzzwise.model import NO_INTS, Observation
from fuzzwise.store.places import open_reader
from fuzzwise.text import printable
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.watch import processes
from fuzzwise.watch.reading import Process, Reading

_NOT_READ = ("corpus", "scratch", "seed-links")
"""Folders of a target that are not read here."""


class FuzzFolder:
    """The ``--out`` folder of ``fuzzwise fuzz``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Reading:
        """The campaign as its counts are now."""
        refuse_links(self.path, but_in=_NOT_READ)
        folder = CampaignFolder(self.path)
        record = folder.record()
        if record is None:
            raise BadInput(f"{printable(str(self.path))}: holds no campaign of `fuzzwise fuzz`.")
        observation, corpus = Observation(0, discoveries=NO_INTS), 0
        stable = stability_in(self.path)
        if folder.state_exists() and (state := State(folder.state)).ready:
            observation = state.observation(_seconds(record.get("seconds")))
            corpus = int(state.head.seeds)
            stable = state.stability if stable is None else stable
        elif is_stock_record(record):
            counts = counts_in(StockFolder(self.path), record)
            observation, corpus = counts.observation(), counts.corpus
        elif go.is_go_record(record) and (fuzzed := go.GoFolder(self.path)).state_exists():
            tests = go.counts_in(fuzzed)
            observation, corpus = tests.observation(), tests.corpus
        name = Path(str(record.get("target", ""))).name
        bugs = BugBook(folder.crashes).bugs.values() if folder.crashes.is_dir() else ()
        running = _running(self.path)
        return Reading(
            kind="fuzzwise",
            name=name or self.path.name,
            path=self.path,
            observation=observation,
            corpus=corpus,
            crashes=sum(bug.count for bug in bugs),
            processes=running,
            said_the_end=not running,
            untried=untried_in(self.path),
            stability=stable,
        )


class CampaignTarget:
    """One target of a campaign that ``fuzzwise run`` keeps in a folder."""

    def __init__(self, path: Path, target: str) -> None:
        self.path = path
        self._target = target

    def read(self) -> Reading:
        """The target as of its latest epoch."""
        reader = open_reader(self.path)
        state = next((t for t in reader.state().targets if t.name == self._target), None)
        if state is None:
            raise BadInput(
                f"{printable(str(self.path))}: there is no target {self._target!r} any more."
            )
        observation = reader.observations().get(self._target)
        notes = [] if state.finds_coverage else ["A black box: what it discovers are bugs."]
        running = _running(self.path)
        return Reading(
            kind="fuzzwise",
            name=self._target,
            path=self.path,
            observation=observation or Observation(0, discoveries=NO_INTS),
            corpus=state.corpus,
            crashes=state.crashes,
            processes=running,
            said_the_end=not running,
            untried=untried_in(target_folder(self.path, self._target)),
            stability=state.stability,
            notes=(*notes, *state.warnings),
        )


class SnapshotCampaign:
    """One campaign of a snapshot file, as of its latest observation."""

    def __init__(self, path: Path, place: int) -> None:
        self.path = path
        self._place = place
        self._seen: tuple[int, int] | None = None
        self._reading: Reading | None = None

    def read(self) -> Reading:
        """The campaign as the file has it now; an unchanged file is not read again."""
        info = self.path.stat() if self.path.exists() else None
        seen = (info.st_size, info.st_mtime_ns) if info else None
        if self._reading is None or seen != self._seen:
            self._seen, self._reading = seen, self._read()
        return self._reading

    def _read(self) -> Reading:
        log = snapshot.read(self.path)
        if self._place >= len(log.campaigns) or not log.campaigns[self._place].observations:
            raise BadInput(f"{printable(str(self.path))}: the campaign has no observation yet.")
        campaign = log.campaigns[self._place]
        return Reading(
            kind="fuzzwise",
            name=campaign.name or self.path.stem,
            path=self.path,
            observation=campaign.observations[-1],
            notes=log.warnings,
        )


def campaign_targets(path: Path) -> list[CampaignTarget]:
    """A source for each target of a campaign."""
    found = [CampaignTarget(path, target.name) for target in open_reader(path).state().targets]
    if not found:
        raise BadInput(f"{printable(str(path))}: the campaign has no target.")
    return found


def snapshot_campaigns(path: Path) -> list[SnapshotCampaign]:
    """A source for each campaign of a snapshot file that has an observation."""
    return list(_with_observations(path))


def _with_observations(path: Path) -> Iterator[SnapshotCampaign]:
    campaigns = snapshot.read(path).campaigns
    if not any(campaign.observations for campaign in campaigns):
        raise BadInput(f"{printable(str(path))}: has no observation yet.")
    for place, campaign in enumerate(campaigns):
        if campaign.observations:
            yield SnapshotCampaign(path, place)


def _running(folder: Path) -> tuple[Process, ...]:
    return tuple(Process(pid) for pid in processes.lock_holders(folder / "lock"))


def _seconds(value: object) -> float:
    return max(0.0, float(value)) if isinstance(value, int | float) else 0.0
