"""A campaign that goes from this machine to a fleet, and back: targets take along what they have.

The folders of the targets on this machine are homes like those elsewhere. A file in the campaign's
folder says where the fleet has stored them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fuzzwise.campaign.fleet.homes import Home, Stale
from fuzzwise.campaign.fleet.manifest import Manifest, decode, encode, manifest_name
from fuzzwise.campaign.fleet.storage import Storage, shown_url
from fuzzwise.campaign.places import target_folder
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.sessions import open_session
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.errors import BadInput
from fuzzwise.files import make_private, write_whole
from fuzzwise.received import read_limited
from fuzzwise.triage.workers import Workers

HOMES = "homes"
"""The folder, in that of the campaign, with a record for each target, and where they are stored."""

STORAGE = ".storage"
IDENTITY = "campaign"
"""Holds the name that no other campaign has: who reads another one sees another storage."""


def has_been_away(folder: Path) -> bool:
    """Whether a campaign was run on a fleet."""
    return (folder / HOMES / STORAGE).is_file()


def is_stored_at(folder: Path, url: str) -> bool:
    """Whether a campaign was run on a fleet that stored it there."""
    try:
        return read_limited(folder / HOMES / STORAGE, follow=False).decode() == url
    except (OSError, ValueError):
        return False


def bring_home(plan: CampaignPlan, say: Callable[[str], None]) -> None:
    """Make the folders of the targets what the fleet has stored, unless they go on from there."""
    url = read_limited(plan.folder / HOMES / STORAGE, follow=False).decode(errors="replace")
    try:
        storage = Storage(url)
        campaign = storage.get(IDENTITY).decode(errors="replace")
        say(f"What the fleet has found is fetched from {shown_url(url)}.")
        for target in plan.targets:
            with suppress(FileNotFoundError):
                manifest = decode(storage.get(manifest_name(target.name)))
                _home(plan, campaign, target).bring(storage, manifest.token)
    except OSError as error:
        raise BadInput(
            f"What the fleet has stored in {shown_url(url)} cannot be fetched ({error}). Go on "
            "with --fleet, or make the storage reachable."
        ) from error


def take_along(
    plan: CampaignPlan, storage: Storage, campaign: str, manifests: dict[str, Manifest]
) -> None:
    """Store what targets have become on this machine since the fleet had them, if it ever had."""
    make_private(plan.folder / HOMES)
    write_whole(plan.folder / HOMES / STORAGE, storage.url.encode())
    (plan.folder / HOMES / STORAGE).chmod(0o600)
    newest = max((one.token for one in manifests.values()), default=0)
    with Workers(1) as workers:
        for target in plan.targets:
            known = manifests.get(target.name)
            home = _home(plan, campaign, target)
            before = known.token if known else 0
            if not home.is_at(before) and (known or not home.adopt()):
                continue
            session = open_session(plan, target, workers)
            try:
                manifest, _ = home.keep(storage, before, newest + 1, session.totals())
            except Stale:
                continue
            if known is None or manifest.contents != known.contents:
                storage.put(manifest_name(target.name), encode(manifest))
                manifests[target.name] = manifest


def _home(plan: CampaignPlan, campaign: str, target: TargetPlan) -> Home:
    folder = target_folder(plan.folder, target.name)
    record = plan.folder / HOMES / target.name
    return Home(campaign, target.name, folder, record, lasting=True)
