"""FuzzSim's first step: black-box fuzzing of every configuration for the whole budget (FS §5).

Each configuration has a log of its own. What is in it is final: a recording that was interrupted or
killed goes on behind the last batch of its logs, and because every input follows from its run's
number, nothing is counted twice and nothing is missed.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec

from fuzzwise.engines.blackbox import MUTATOR_VERSION, Runner, Target, check
from fuzzwise.errors import BadInput
from fuzzwise.lab.recording import log as logs
from fuzzwise.lab.recording.config import RecordingPlan
from fuzzwise.lab.recording.folder import locked_folder
from fuzzwise.lab.recording.log import (
    SUFFIX,
    Configuration,
    Event,
    Events,
    Header,
    LogWriter,
    read_log,
    write_log,
)

SLICE = 1.0
"""Seconds after which an interruption is noticed at the latest."""
SAVE = 10.0
"""Seconds of fuzzing that a killed recorder has to do again at most."""

_KINDS = {
    "mark": logs.MARK,
    "crash": logs.CRASH,
    "hang": logs.HANG,
    "out-of-memory": logs.OUT_OF_MEMORY,
}


@dataclass(frozen=True)
class Recorded:
    """How far the recording of one configuration is."""

    name: str
    runs: int = 0
    seconds: float = 0.0
    crashes: int = 0
    hangs: int = 0
    mode: str = ""
    finished: bool = False


Progress = Callable[[Recorded], None]


def broken(plan: RecordingPlan) -> dict[str, list[str]]:
    """What is wrong with configurations, by name, found out by running each on its own seed."""
    found = {target.name: check(target, plan.limits) for target in plan.targets}
    return {name: problems for name, problems in found.items() if problems}


def record(
    plan: RecordingPlan, out: Path, progress: Progress, stop: threading.Event
) -> list[Recorded]:
    """Record every configuration into a log in the folder ``out``, or go on where it ended.

    ``progress`` is called from several threads; ``stop`` ends the recording early, all saved.
    """
    with locked_folder(out), ThreadPoolExecutor(plan.cores) as pool:
        work = [
            pool.submit(_Recorder(plan, target, out, progress, stop).record)
            for target in plan.targets
        ]
        try:
            return [done.result() for done in work]
        finally:
            stop.set()


def log_path(out: Path, name: str) -> Path:
    """The log of a configuration."""
    return out / f"{name}{SUFFIX}"


class _Recorder:
    """Records one configuration."""

    def __init__(
        self,
        plan: RecordingPlan,
        target: Target,
        out: Path,
        progress: Progress,
        stop: threading.Event,
    ) -> None:
        self._plan = plan
        self._target = target
        self._path = log_path(out, target.name)
        self._progress = progress
        self._stop = stop
        self._done = Recorded(target.name)

    def record(self) -> Recorded:
        """Fuzz until the time is spent or a stop is asked for."""
        plan = self._plan
        kept, mode, ended = self._kept()
        self._count(kept, mode)
        if self._finished and not ended:  # it was to go on for longer than is asked for now
            write_log(self._path, self._header(mode), kept)
        if self._finished or self._stop.is_set():
            return self._report()
        with Runner(self._target, plan.random_seed, plan.mutation, plan.limits) as runner:
            self._done = dataclasses.replace(self._done, mode=runner.mode)
            writer = LogWriter(self._path, self._header(runner.mode), kept)
            unsaved: list[Event] = []
            saved = self._done.seconds
            while not self._finished and not self._stop.is_set():
                fresh = self._slice(runner)
                unsaved += fresh
                self._count(Events.of(fresh), runner.mode)
                if self._done.seconds - saved >= SAVE:
                    writer.add(Events.of(unsaved))
                    unsaved, saved = [], self._done.seconds
                self._report()
            writer.add(Events.of(unsaved))
            if self._finished:
                writer.close()
        return self._report()

    @property
    def _finished(self) -> bool:
        return self._done.seconds >= self._plan.seconds

    def _slice(self, runner: Runner) -> list[Event]:
        """Fuzz for a short while; the last event is a mark."""
        before = round(self._done.seconds * 1e6)
        left = self._plan.seconds - self._done.seconds
        return [
            Event(
                configuration=0,
                kind=_KINDS[event.kind],
                run=event.run,
                microseconds=before + event.microseconds,
                signal=event.signal,
                trace=event.trace,
                input=event.input_hash,
            )
            for event in runner.run(self._done.runs + 1, None, min(SLICE, left))
        ]

    def _kept(self) -> tuple[Events, str, bool]:
        """What an earlier recording has left, up to its last mark; its mode; whether it ended."""
        if not self._path.exists():
            return Events.of(()), "", False
        log = read_log(self._path)
        earlier = log.header.configurations
        expected = self._header("").configurations
        if [_same(c) for c in earlier] != [_same(c) for c in expected]:
            raise BadInput(
                f"{self._path} was recorded with other settings (command, seed, mutations or "
                "limits). Choose another folder with --out, or remove that file."
            )
        marks = (log.events.kind == logs.MARK).nonzero()[0]
        kept = log.events.rows(slice(0, int(marks[-1]) + 1 if len(marks) else 0))
        return kept, earlier[0].mode, not log.warnings

    def _count(self, events: Events, mode: str) -> None:
        if not len(events):
            return
        self._done = Recorded(
            name=self._done.name,
            runs=int(events.run[-1]),
            seconds=float(events.microseconds[-1]) / 1e6,
            crashes=self._done.crashes + int((events.kind == logs.CRASH).sum()),
            hangs=self._done.hangs + int((events.kind == logs.HANG).sum()),
            mode=mode,
        )

    def _report(self) -> Recorded:
        self._done = dataclasses.replace(self._done, finished=self._finished)
        self._progress(self._done)
        return self._done

    def _header(self, mode: str) -> Header:
        plan, target = self._plan, self._target
        return Header(
            configurations=(
                Configuration(
                    name=target.name,
                    command=_beside(plan.folder, target.command),
                    seed=target.seed,
                    suffix=target.suffix,
                    random_seed=plan.random_seed,
                    mutator=MUTATOR_VERSION,
                    mutation=dataclasses.asdict(plan.mutation),
                    limits=dataclasses.asdict(plan.limits),
                    mode=mode,
                    folder=str(plan.folder),
                ),
            ),
            seconds=plan.seconds,
        )


def _beside(folder: Path, command: tuple[str, ...]) -> tuple[str, ...]:
    """The command with its program relative to the folder, if it is in there."""
    program = Path(command[0])
    if program.is_relative_to(folder):
        return (f"./{program.relative_to(folder)}", *command[1:])
    return command


def _same(configuration: Configuration) -> bytes:
    """What must not change when a recording is resumed."""
    plain = msgspec.structs.replace(configuration, mode="", folder="")
    return msgspec.json.encode(plain)
