"""Archives of seeds that a campaign names: unpacked into its folder before it begins."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.errors import BadInput
from fuzzwise.files import make_folders
from fuzzwise.seed_zips import unpack
from fuzzwise.text import printable

SEEDS = "seeds"
"""The folder, in that of the campaign, in which each archive has one of its own."""


def unpack_seeds(
    plan: CampaignPlan, say: Callable[[str], None]
) -> tuple[CampaignPlan, dict[str, list[str]]]:
    """The plan with the content of its archives as corpora; sentences about what is missing.

    A target whose archive cannot be read is fuzzed without it. An archive that was unpacked once
    is unpacked again only when it has changed.
    """
    notes: dict[str, list[str]] = defaultdict(list)
    targets = []
    for target in plan.targets:
        said = notes[target.name]
        builds = tuple(_with_seeds(build, plan.folder / SEEDS, said) for build in target.builds)
        targets.append(replace(_with_seeds(target, plan.folder / SEEDS, said), builds=builds))
    used = {place for target in targets for part in target.parts for place in part.corpus}
    _remove_others(plan.folder / SEEDS, used)
    told = {name: list(dict.fromkeys(said)) for name, said in notes.items() if said}
    for name, sentences in told.items():
        for sentence in sentences:
            say(f"{name}: {sentence}")
    return replace(plan, targets=tuple(targets)), told


def _remove_others(home: Path, used: set[Path]) -> None:
    """What was unpacked of archives that are no longer named, or have changed."""
    if not home.is_dir() or home.is_symlink():
        return
    for path in home.iterdir():
        if path.is_dir() and path not in used:
            shutil.rmtree(path, ignore_errors=True)


def _with_seeds(target: TargetPlan, home: Path, notes: list[str]) -> TargetPlan:
    folders = []
    for archive in target.seed_zips:
        try:
            make_folders(home)
            found = unpack(archive, home)
        except OSError as error:
            notes.append(f"{printable(archive.name)} cannot be unpacked ({error.strerror}).")
            continue
        except BadInput as problem:
            notes.append(str(problem))
            continue
        folders.append(found.folder)
        notes += [f"{printable(archive.name)}: {note}." for note in found.notes]
        if not found.files:
            notes.append(f"{printable(archive.name)}: there is no seed in it.")
    return replace(target, corpus=(*target.corpus, *folders))
