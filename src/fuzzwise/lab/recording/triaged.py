"""FuzzSim's second step: the crashes of a recording become bugs (FS §5).

Every crashing input is made again from its run's number, and triage groups them. The result is one
log of all configurations, ready for a replay, in which the first few crashes of each bug remain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from fuzzwise.engines.blackbox import MUTATOR_VERSION, Mutation, input_hash, make_input
from fuzzwise.errors import BadInput
from fuzzwise.files import refuse_links
from fuzzwise.lab.recording import log as logs
from fuzzwise.lab.recording.load import TRIAGED
from fuzzwise.lab.recording.log import Configuration, Events, Header, Log, LoggedBug, read_log
from fuzzwise.model import Ints
from fuzzwise.text import printable
from fuzzwise.triage.examine import Limits
from fuzzwise.triage.grouping import Progress, Triage, TriagedBug, group
from fuzzwise.triage.inputs import CrashingInput

KEPT = 10
"""Crashes of a bug in a configuration that the log keeps; a replay needs the first two."""

Crashes = dict[str, tuple[CrashingInput, int, int]]
"""Crashing inputs by name, each with the number of its log and its row there."""

_TRIES = 5
"""Further inputs with the same trace, small and large, before the trace is given up."""


@dataclass(frozen=True)
class TriagedRecording:
    """What triage made of a recording, and where the log is."""

    path: Path
    triage: Triage
    """Crashes that did not show again are its silent ones; they count as no bug."""
    warnings: tuple[str, ...]


def input_of(configuration: Configuration, run: int, expected: int | None = None) -> bytes:
    """The input of a run, made again; refused if it is not the one whose hash was recorded."""
    if configuration.mutator != MUTATOR_VERSION:
        raise BadInput(
            f"{configuration.name} was recorded with version {configuration.mutator} of the "
            f"mutations; this fuzzwise has version {MUTATOR_VERSION} and cannot make its inputs."
        )
    mutation = _mutation(configuration)
    data = make_input(configuration.seed, configuration.random_seed, run, mutation)
    if expected is not None and input_hash(data) != expected:
        raise BadInput(
            f"The input of run {run} of {configuration.name} cannot be made again: its hash is "
            "not the recorded one. The log is damaged; record it again."
        )
    return data


def _mutation(configuration: Configuration) -> Mutation:
    settings = configuration.mutation
    try:
        low, high = settings["ratio"]
        return Mutation((float(low), float(high)), tuple(settings["kinds"]), settings["max_length"])
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise _no_header(configuration, "mutation", error) from error


def _no_header(configuration: Configuration, what: str, error: Exception) -> BadInput:
    return BadInput(
        f"The log of {printable(configuration.name)} is damaged: its header has no {what} that can "
        f"be ({error}). Record it again."
    )


def triage_recording(
    folder: Path,
    *,
    depth: int = 5,
    jobs: int = 1,
    checks: int = 3,
    progress: Progress | None = None,
    approve: Callable[[Sequence[tuple[str, ...]]], None] = lambda _: None,
) -> TriagedRecording:
    """Group all crashes of a recording into bugs, and write the log for replays into its folder.

    The recording names the programs that are run, in ``approve``'s hands before anything is: it
    raises an error where somebody unknown has made the recording.
    """
    paths = sorted(path for path in folder.glob(f"*{logs.SUFFIX}") if path.name != TRIAGED)
    if not paths:
        raise BadInput(f"{folder} holds no log of `fuzzwise record` (*{logs.SUFFIX}).")
    refuse_links(folder)
    files = [read_log(path) for path in paths]
    approve(list(dict.fromkeys(_command(file.header.configurations[0]) for file in files)))
    crashes = crashes_of(files)
    inputs = [crash for crash, _, _ in crashes.values()]
    triage = _group_stubbornly(inputs, depth, jobs, checks, progress)
    shown = _shown(files, crashes, triage)
    events = [
        _compact(file.events, number, bugs)
        for number, (file, bugs) in enumerate(zip(files, shown, strict=True))
    ]
    path = folder / TRIAGED
    logs.write_log(path, _header(files, crashes, triage), _joined(events))
    warnings = tuple(warning for file in files for warning in file.warnings)
    return TriagedRecording(path, triage, warnings)


def crashes_of(files: Sequence[Log]) -> Crashes:
    """Every crash of the logs."""
    for file in files:
        if len(file.header.configurations) != 1:
            raise BadInput(
                f"{printable(str(file.path))} is damaged: it is of "
                f"{len(file.header.configurations)} configurations, not of one. Record it again."
            )
    pending = [
        (number, row)
        for number, file in enumerate(files)
        for row in np.flatnonzero(file.events.kind == logs.CRASH).tolist()
    ]
    return {
        (crash := _crash(files[number], row)).name: (crash, number, row) for number, row in pending
    }


def _shown(files: Sequence[Log], crashes: Crashes, triage: Triage) -> list[Ints]:
    """The bug that each event of each log shows."""
    found = {crash.name: index for index, bug in enumerate(triage.bugs) for crash in bug.inputs}
    shown = [np.full(len(file.events), logs.NO_BUG, np.int64) for file in files]
    for name, (_, number, row) in crashes.items():
        shown[number][row] = found.get(name, logs.NO_BUG)
    return shown


def _header(files: Sequence[Log], crashes: Crashes, triage: Triage) -> Header:
    return Header(
        configurations=tuple(
            msgspec.structs.replace(file.header.configurations[0], folder="") for file in files
        ),
        bugs=tuple(
            _logged(bug, _origin(files[number], row))
            for bug in triage.bugs
            for _, number, row in (crashes[bug.reproducer.name],)
        ),
        seconds=min(file.header.seconds for file in files),
        triaged=True,
    )


def _crash(file: Log, row: int) -> CrashingInput:
    configuration = file.header.configurations[0]
    run, trace = int(file.events.run[row]), int(file.events.trace[row])
    try:
        seconds = float(configuration.limits["seconds"])
        memory = int(configuration.limits["memory_mib"])
        command = _command(configuration)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise _no_header(configuration, "command or limits", error) from error
    return CrashingInput(
        name=f"{_origin(file, row)}{configuration.suffix}",
        load=partial(input_of, configuration, run, int(file.events.input[row])),
        command=command,
        # Under gdb and with a symbolizer everything takes longer than the run that crashed.
        limits=Limits(10 + 10 * seconds, max(memory, 16)),
        trace=f"{trace:016x}" if trace else None,
    )


def _origin(file: Log, row: int) -> str:
    """The name of the configuration and the run of a crash."""
    return f"{file.header.configurations[0].name}-{file.events.run[row]}"


def _command(configuration: Configuration) -> tuple[str, ...]:
    program = configuration.command[0]
    if "/" in program and not program.startswith("/"):
        program = str(Path(configuration.folder) / program)
    return (program, *configuration.command[1:])


def _group_stubbornly(
    crashes: Sequence[CrashingInput],
    depth: int,
    jobs: int,
    checks: int,
    progress: Progress | None,
) -> Triage:
    """Group; where the smallest input of a trace does not crash again, try others of the trace.

    Some crashes depend on what lies in memory behind a small input, and show in the fork server
    only.
    """
    triage = group(crashes, depth=depth, jobs=jobs, checks=checks, progress=progress)
    bugs = {bug.id: bug for bug in triage.bugs}
    runs = triage.runs
    silent: list[list[CrashingInput]] = []
    for same in _by_trace([*triage.silent, *triage.timeouts]):
        silent.append(sorted(same, key=lambda crash: (len(crash.load()), crash.name)))
    for number in range(1, _TRIES + 1):
        candidates = {
            (chosen := same[len(same) * number // (_TRIES + 1)]).name: (chosen, same)
            for same in silent
            if same[0].trace and len(same) > number
        }
        if not candidates:
            break
        more = group([c for c, _ in candidates.values()], depth=depth, jobs=jobs, checks=checks)
        runs += more.runs
        for bug in more.bugs:
            found = [candidates[crash.name][1] for crash in bug.inputs]
            silent = [same for same in silent if not any(same is other for other in found)]
            inputs = tuple(crash for same in found for crash in same)
            bug = replace(bug, inputs=inputs)
            bugs[bug.id] = _merged(bugs[bug.id], bug) if bug.id in bugs else bug
    order = {bug.id: number for number, bug in enumerate(triage.bugs)}
    result = sorted(bugs.values(), key=lambda bug: order.get(bug.id, len(order)))
    return Triage(tuple(result), (), tuple(crash for same in silent for crash in same), runs)


def _by_trace(crashes: Iterable[CrashingInput]) -> list[list[CrashingInput]]:
    """The crashes of each command and trace; those without a trace are on their own."""
    found: defaultdict[tuple[object, ...], list[CrashingInput]] = defaultdict(list)
    for crash in crashes:
        found[(crash.command, crash.trace or crash.name)].append(crash)
    return list(found.values())


def _merged(one: TriagedBug, other: TriagedBug) -> TriagedBug:
    better = other if one.flaky and not other.flaky else one
    return replace(better, inputs=(*one.inputs, *other.inputs))


def _compact(events: Events, number: int, bugs: Ints) -> Events:
    """Marks, and of each bug the first crashes; hashes have done their duty."""
    seen: defaultdict[int, int] = defaultdict(int)
    keep = events.kind == logs.MARK
    for row in np.flatnonzero(bugs != logs.NO_BUG).tolist():
        seen[int(bugs[row])] += 1
        keep[row] = seen[int(bugs[row])] <= KEPT
    kept = events.rows(keep)
    nothing = np.zeros(len(kept), np.uint64)
    return Events(
        np.full(len(kept), number, np.int64),
        kept.kind,
        kept.run,
        kept.microseconds,
        kept.signal,
        nothing,
        nothing,
        bugs[keep],
    )


def _joined(parts: Sequence[Events]) -> Events:
    return Events(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in logs.COLUMNS)
    )


def _logged(bug: TriagedBug, origin: str) -> LoggedBug:
    return LoggedBug(
        id=bug.id,
        kind=bug.identity.kind,
        severity=bug.identity.severity,
        frames=bug.identity.frames,
        crashes=len(bug.inputs),
        reproducer=origin,
        flaky=bug.flaky,
    )
