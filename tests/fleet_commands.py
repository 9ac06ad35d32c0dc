"""Fleets of real processes, for tests: a scheduler that tells its address, and workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from commands import Started
from fuzzwise.campaign.fleet.homes import Home
from fuzzwise.campaign.fleet.manifest import decode, manifest_name
from fuzzwise.campaign.fleet.storage import Storage
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.campaign.sessions import open_session
from fuzzwise.errors import BadInput
from fuzzwise.store.places import open_reader
from fuzzwise.triage.workers import Workers
from waiting import wait_until


@contextmanager
def fleet(*words: object, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """`fuzzwise fleet …` while in here; the address that it tells."""
    process = subprocess.Popen(
        [sys.executable, "-m", "fuzzwise", "fleet", *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def ended(process: Started) -> Iterator[Started]:
    """A command that is ended in any case."""
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def recount(plan: CampaignPlan, url: str, scratch: Path) -> dict[str, tuple[int, int]]:
    """Inputs of each target: as the store has them, and as a session tells of what is stored.

    The folder is made anew from the storage, so that nothing that a machine knows helps.
    """
    storage = Storage(url)
    state = open_reader(plan.store or plan.folder).state()
    told = {target.name: target.inputs for target in state.targets}
    found = {}
    with Workers(1) as workers:
        for target in plan.targets:
            manifest = decode(storage.get(manifest_name(target.name)))
            folder = scratch / "targets" / target.name
            Home("recount", target.name, folder, scratch / f"{target.name}.record").bring(
                storage, manifest.token
            )
            here = CampaignPlan(*(plan.name, scratch, plan.targets, None, 1, "", 1.0))
            totals = open_session(here, target, workers).totals()
            found[target.name] = (told[target.name], totals.observation.n if totals else 0)
    return found


def inputs(folder: Path) -> int:
    """How many inputs all targets have had; 0 before there is a campaign."""
    try:
        return sum(target.inputs for target in open_reader(folder).state().targets)
    except BadInput:
        return 0


def said(folder: Path, words: str) -> bool:
    """Whether an event has such words."""
    try:
        return any(words in event.detail for event in open_reader(folder).state().events)
    except BadInput:  # there is no store yet
        return False


def wait_for_more(folder: Path, what: str) -> None:
    """Wait until the campaign has gone on."""
    before = inputs(folder)
    wait_until(lambda: inputs(folder) > before, what)


def kill(process: Started) -> None:
    """Kill a command and wait for its end."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
