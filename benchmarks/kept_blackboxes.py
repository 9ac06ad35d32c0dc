"""Recordings of black boxes that are kept: ``datasets/blackbox/``, one triaged log a configuration.

Five minutes of each are hours: whoever records some of them adds these by ``make dataset-keep``, and
the next one goes on with those that are missing. Each log is triaged on its own. A bug's id follows
from its stack alone, so two logs that show one bug say so; but frames of stripped programs are named by
places in them, which is why a log notes the version of its package.

Of some programs there are two minutes already (``datasets/small-programs.fuzzlog``). Inputs follow from their runs'
numbers, so these recordings go on where those ended: ``lay_out`` makes of them what ``fuzzwise record`` resumes.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Collection
from pathlib import Path

import msgspec
import numpy as np

from dataset_programs import CONFIGURATIONS
from fuzzwise.engines.blackbox import input_hash
from fuzzwise.errors import BadInput
from fuzzwise.lab.recording.load import TRIAGED
from fuzzwise.lab.recording.log import CRASH, NO_BUG, SUFFIX, Events, Log, read_log, write_log
from fuzzwise.lab.recording.triaged import input_of, triage_recording
from fuzzwise.text import many

DATASETS = Path(__file__).parents[1] / "datasets"
KEPT = DATASETS / "blackbox"
BEGUN = DATASETS / "small-programs.fuzzlog"
"""Two minutes of some of the programs, triaged."""
WORK = Path("dataset-work")
RECORDED = "recorded"
"""The folder of the logs, inside of the folder of work."""
SECONDS = 300
"""Of a recording that is kept."""


def main() -> None:
    """Triage what was recorded whole, and add it to what is kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--jobs", type=int, default=1, help="crashes to look at, at once")
    options = parser.parse_args()
    added = keep(options.work / RECORDED, jobs=options.jobs)
    size = sum(path.stat().st_size for path in kept_logs())
    print(f"{added} added; {len(kept_logs())} are kept in datasets/blackbox, {size:,} bytes")


def kept_logs() -> list[Path]:
    """The logs that are kept, by name."""
    return sorted(KEPT.glob(f"*{SUFFIX}"))


def kept_names() -> set[str]:
    """The configurations that nobody needs to record again."""
    return {path.name.removesuffix(SUFFIX) for path in kept_logs()}


def lay_out(folder: Path, names: Collection[str]) -> set[str]:
    """Lay the two minutes that there are of some of them where five are recorded; of which programs there are any.

    Of each bug the first few crashes are left, as inputs that nobody has looked at: triage takes them
    with those that come, so that a bug has one name over all five minutes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    begun = read_log(BEGUN)
    for number, configuration in enumerate(begun.header.configurations):
        path = folder / f"{configuration.name}{SUFFIX}"
        if path.exists() or configuration.name not in names:
            continue
        events = begun.events.rows(begun.events.configuration == number)
        hashes = [
            input_hash(input_of(configuration, run)) if kind == CRASH else 0
            for kind, run in zip(events.kind.tolist(), events.run.tolist(), strict=True)
        ]
        untriaged = Events(
            np.zeros_like(events.configuration),
            *(events.kind, events.run, events.microseconds, events.signal, events.trace),
            np.array(hashes, np.uint64),
            np.full_like(events.bug, NO_BUG),
        )
        header = msgspec.structs.replace(
            begun.header, configurations=(configuration,), bugs=(), triaged=False
        )
        write_log(path, header, untriaged)
    return {configuration.name for configuration in begun.header.configurations}


def keep(folder: Path, *, seconds: float = SECONDS, jobs: int = 1) -> int:
    """Triage and keep the logs in a folder that are whole; how many are new.

    Ctrl-C costs the triage of one log: each is kept as soon as it is done.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    added = 0
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        name = path.name.removesuffix(SUFFIX)
        if path.name == TRIAGED or name in kept_names() or not is_whole(path, seconds):
            continue
        log = _triaged(path, jobs)
        write_log(
            KEPT / path.name, msgspec.structs.replace(log.header, note=versions(name)), log.events
        )
        print(f"{name}: {many(len(log.header.bugs), 'bug')}", flush=True)
        added += 1
    return added


def is_whole(path: Path, seconds: float) -> bool:
    """Whether a log was recorded to its end, for as long as is kept, with any runs at all."""
    try:
        log = read_log(path)
    except BadInput:  # its first batch is being written
        return False
    if log.warnings or log.header.seconds < seconds or not len(log.events):
        return False
    return bool(log.events.run[-1] > 0 and log.events.microseconds[-1] >= seconds * 1e6)


def _triaged(path: Path, jobs: int) -> Log:
    """The log with its bugs: triage takes a folder, here one with this log alone."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(path, scratch)
        return read_log(triage_recording(Path(scratch), jobs=jobs).path)


def versions(name: str) -> str:
    """Which Debian the bugs of a configuration were told apart in, and which version of its package."""
    package = {row.name: row.package for row in CONFIGURATIONS}.get(name, "gcc")
    query = ["dpkg-query", "-W", "-f=${Package} ${Version}", package]
    found = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    debian = Path("/etc/debian_version")
    system = debian.read_text().strip() if debian.exists() else "unknown"
    return f"Debian {system}, {found or package}"


if __name__ == "__main__":
    main()
