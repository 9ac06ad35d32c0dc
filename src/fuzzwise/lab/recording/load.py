"""From log files to the recording that a replay needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.lab.recording import log as logs
from fuzzwise.lab.recording.log import SUFFIX, Log, read_log
from fuzzwise.lab.recording.recording import MARK, ConfigurationLog, Recording
from fuzzwise.model import Ints
from fuzzwise.text import many

TRIAGED = f"triaged{SUFFIX}"
"""The log that triage writes into the folder of a recording."""


def log_paths(paths: Iterable[Path]) -> list[Path]:
    """The log files that paths mean: files, or folders with the triaged log of a recording."""
    found: list[Path] = []
    for path in paths:
        found += _in_folder(path) if path.is_dir() else [path]
    return found


def _in_folder(folder: Path) -> list[Path]:
    inside = sorted(folder.glob(f"*{SUFFIX}"))
    if not inside:
        raise BadInput(
            f"{folder} holds no log (*{SUFFIX}). Make one with: "
            f"fuzzwise record CONFIG.toml --out {folder}"
        )
    found = [path for path in inside if path.name == TRIAGED] or inside
    if link := next((path for path in found if path.is_symlink()), None):
        raise BadInput(
            f"{link} is a link, which is not followed from a folder. Give the log itself."
        )
    return found


def read_recording(paths: Sequence[Path]) -> Recording:
    """The recording in one or more logs; bugs of the same id are the same bug.

    Crashes must have been triaged: a replay counts bugs.
    """
    files = [read_log(path) for path in log_paths(paths)]
    names = Counter(c.name for file in files for c in file.header.configurations)
    bugs: dict[str, int] = {}
    configurations: list[ConfigurationLog] = []
    warnings: list[str] = []
    for file in files:
        warnings += file.warnings
        index = np.array([bugs.setdefault(bug.id, len(bugs)) for bug in file.header.bugs], np.int64)
        _check(file)
        for number, configuration in enumerate(file.header.configurations):
            events = file.events.rows(file.events.configuration == number)
            clash = names[configuration.name] > 1
            name = f"{file.path.stem}:{configuration.name}" if clash else configuration.name
            if not len(events):
                warnings.append(f"{file.path}: nothing was recorded for {name}; it is left out.")
                continue
            shown = _bugs(events.kind, events.bug, index)
            configurations.append(ConfigurationLog(name, events.run, events.microseconds, shown))
    return Recording(tuple(configurations), tuple(bugs), tuple(warnings))


def _bugs(kind: Ints, bug: Ints, index: Ints) -> Ints:
    shown = np.full(len(kind), MARK, np.int64)
    crashed = (kind == logs.CRASH) & (bug != logs.NO_BUG)
    shown[crashed] = index[bug[crashed]]
    return shown


def _check(file: Log) -> None:
    events, header = file.events, file.header
    if len(events) == 0:
        return
    if events.configuration.max() >= len(header.configurations):
        raise BadInput(f"{file.path} is damaged: an event names a configuration it does not have.")
    if not logs.NO_BUG <= events.bug.min() <= events.bug.max() < len(header.bugs):
        raise BadInput(f"{file.path} is damaged: an event names a bug it does not have.")
    untriaged = int(((events.kind == logs.CRASH) & (events.bug == logs.NO_BUG)).sum())
    if untriaged and not header.triaged:
        folder = file.path.parent
        raise BadInput(
            f"{file.path} holds {many(untriaged, 'crash')} that no bug was found for yet. "
            f"Group them into bugs first: fuzzwise triage {folder} --trust-command"
        )
