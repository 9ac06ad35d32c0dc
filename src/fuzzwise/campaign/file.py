"""The campaign file: TOML, checked whole before anything starts; all mistakes are told at once."""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fuzzwise.campaign.plan import CampaignPlan, FleetPlan
from fuzzwise.campaign.target_table import read_targets
from fuzzwise.config.table import Table, complain, read_toml
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.errors import BadInput
from fuzzwise.schedulers.registry import policies
from fuzzwise.store.address import EXAMPLE, Address, read_address

DEFAULT_SCHEDULER = "risk-rate"
EPOCHS_EACH = 25
"""Epochs that a target gets by default, if all get the same."""

SHORTEST, LONGEST, WITHOUT_BUDGET = 1.0, 60.0, 10.0
"""Bounds of the default length of an epoch, and its length where there is no budget; seconds."""

WORTHWHILE, LEAST_EACH = 4.0, 5
"""Seconds of an epoch beside which the start of a target is little, it takes up to half a second;
so long is each where every target gets that many."""

MOST_CORES = 1024


def read_plan(path: Path, out: Path | None = None) -> CampaignPlan:
    """The plan in a campaign file; ``out`` is the folder of the campaign instead of the file's.

    Relative paths in the file are relative to the file. An epoch, where it is not given, lasts
    budget · cores / (targets · 25), but at least 4 s, or as many as leave 5 epochs to each target
    and are no less than 1, and at most 60 s.
    """
    return plan_of(read_toml(path), path, out)


def plan_of(
    content: dict[str, Any], path: Path, out: Path | None = None, seconds: float | None = None
) -> CampaignPlan:
    """The same for what a file would hold; ``seconds`` is how long the campaign is to run now.

    That makes epochs shorter where there is no budget, so that every target has a turn.
    """
    problems: list[str] = []
    file = Table("", content, problems)
    home = path.parent.absolute()
    table = file.table("campaign")
    name = table.value("name", "a name of at most 100 characters", _name, path.stem)
    folder = _folder(table, home, f"{path.stem}-out", out)
    budget = table.duration("budget", None, "1s", "3650d")
    cores = table.whole("cores", len(os.sched_getaffinity(0)), 1, MOST_CORES)
    scheduler = table.value("scheduler", "the name of a scheduler", _scheduler, DEFAULT_SCHEDULER)
    accepted_risk = table.probability("accepted_risk", None)
    confidence = table.probability("confidence", 0.95)
    epoch = table.duration("epoch", None, "100ms", "1d")
    seed = table.whole("seed", 1, 0, 2**63 - 1)
    store = _store(table, name, folder)
    table.finish()
    if epoch and budget and epoch > budget:
        table.problem("epoch", f"is {epoch:g} s, longer than the budget of {budget:g} s; lower it.")
    targets = [
        target
        for table in file.tables("target")
        for target in read_targets(table, home, folder, cores, accepted_risk)
    ]
    fleet = read_fleet(file.table("fleet"), home, folder) if file.has("fleet") else None
    file.finish()
    problems += _clashes(targets)
    complain(path, problems)
    if epoch is None:
        epoch = default_epoch(budget, cores, len(targets))
        if budget is None and seconds is not None:
            epoch = max(SHORTEST, min(epoch, seconds * cores / max(1, len(targets))))
    return CampaignPlan(
        *(name, folder, tuple(targets), budget, cores, scheduler, epoch, confidence, seed),
        fleet=fleet,
        store=store,
    )


def read_fleet(table: Table, home: Path, folder: Path) -> FleetPlan:
    """The [fleet] of a campaign; what machines share is in the campaign's folder by default."""
    address = table.text("address", expected="the address of a scheduler, such as localhost:8786")
    storage = table.text("storage", "", "a folder that all machines have, or a URL")
    certificates = table.text("certificates", "", "the folder of `fuzzwise fleet certificates`")
    table.finish()
    return FleetPlan(
        address or "",
        storage_url(storage, home) if storage else storage_of(folder),
        home / certificates if certificates else None,
    )


def storage_url(given: str, home: Path) -> str:
    """The URL of a storage: of a folder, relative to ``home``, where it is none."""
    return given if "://" in given else f"file://{os.path.normpath(home / given)}"


def storage_of(folder: Path) -> str:
    """Where machines share what they have, unless it is said: in the folder of the campaign."""
    return f"file://{folder / 'fleet'}"


def folder_of(path: Path) -> Path | Address:
    """The place of the campaign in a file, of which nothing else has to be right any more.

    That is its folder, or the database which the file names as its store.
    """
    content = read_toml(path)
    if not {"campaign", "target"} & content.keys():
        raise BadInput(f"{path} is no campaign file: it has neither [campaign] nor [[target]].")
    problems: list[str] = []
    table = Table("", content, problems).table("campaign")
    folder = _folder(table, path.parent.absolute(), f"{path.stem}-out", None)
    name = table.value("name", "a name of at most 100 characters", _name, path.stem)
    store = _store(table, name, folder)
    if problems:
        raise BadInput(f"{path}: {problems[0]}")
    return store or folder


def default_epoch(budget: float | None, cores: int, targets: int) -> float:
    """How long an epoch lasts where the file does not say."""
    if budget is None:
        return WITHOUT_BUDGET
    share = budget * cores / targets
    worthwhile = min(WORTHWHILE, share / LEAST_EACH)
    return min(max(share / EPOCHS_EACH, worthwhile, SHORTEST), LONGEST)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 100:
        raise ValueError
    if not value.isprintable():
        raise BadInput("it has characters that cannot be printed")
    return value


def _folder(table: Table, home: Path, default: str, asked: Path | None) -> Path:
    given = table.text("out", default, "the folder to keep the campaign in") or default
    folder = Path(os.path.normpath((asked or home / given).absolute()))
    try:
        usable = folder.is_dir() or not folder.exists()
    except (OSError, ValueError):
        usable = False
    if not usable:
        table.problem("out", f"is {str(folder)!r}, which cannot be a folder; choose another.")
    return folder


def _store(table: Table, name: str, folder: Path) -> Address | None:
    """The database to keep the campaign in, if any; nothing secret in it is ever shown."""
    given = table.secret("store")
    if given is None:
        return None
    try:
        found = read_address(given)
    except BadInput as problem:
        table.problem("store", f"is no address of a database: {problem}; expected {EXAMPLE}.")
        return None
    return Address(found.url, found.campaign or name, folder)


def _scheduler(value: Any) -> str:
    """The name of a policy, without the kind of epoch: those of a campaign are times."""
    known = policies()
    kind, _, rest = str(value).partition("/")
    policy = rest if kind in ("fixed-time", "fixed-run") else str(value)
    if policy not in known:
        near = difflib.get_close_matches(policy, known, n=1)
        raise BadInput(f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}")
    if kind == "fixed-run":
        raise BadInput(
            "epochs of a campaign are times, since runs of different targets take different time; "
            f"write {policy!r}"
        )
    return policy


def _clashes(targets: Iterable[TargetPlan]) -> list[str]:
    """Names that would share a folder, also on file systems that do not tell A from a."""
    problems = []
    names: dict[str, list[str]] = defaultdict(list)
    programs: dict[str, dict[Any, str]] = defaultdict(dict)
    for target in targets:
        names[target.name.lower()].append(target.name)
        for part in target.parts:
            if part.build is not None:
                key = str(part.build.program).lower()
                programs[key].setdefault((part.engine, part.build), part.name)
    for same in names.values():
        if len(same) > 1:
            used = " and ".join(dict.fromkeys(map(repr, same)))
            problems.append(
                f"target name {used} is used {len(same)} times, and names a folder; give each "
                "target its own name (case does not count)."
            )
    for makers in programs.values():
        if len(set(map(str.lower, makers.values()))) > 1:
            used = " and ".join(map(repr, makers.values()))
            problems.append(
                f"target name: {used} would be built into one file; give each [[target]] with "
                "sources its own name."
            )
    return problems
