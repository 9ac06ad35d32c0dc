"""afl-fuzz at work in the folder of a campaign on one target: started, paused, looked after."""

from __future__ import annotations

import os
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fuzzwise.engines.aflplusplus.finds import Finds
from fuzzwise.engines.aflplusplus.job import Job
from fuzzwise.engines.aflplusplus.launch import command, variables
from fuzzwise.engines.aflplusplus.places import AflPlaces
from fuzzwise.engines.aflplusplus.process import AflProcess, bad_seeds, complaint, tried
from fuzzwise.engines.aflplusplus.program import check_target, find_afl_fuzz, map_size, reproducing
from fuzzwise.engines.observer.folder import CampaignFolder, fingerprint
from fuzzwise.engines.observer.observed import CorpusFiles, refusal, sound_state
from fuzzwise.engines.observer.seeds import name_of
from fuzzwise.engines.observer.state import State
from fuzzwise.engines.process import Ending, wait_for_any
from fuzzwise.errors import BadInput
from fuzzwise.files import files_of, stamp
from fuzzwise.text import clean, printable
from fuzzwise.triage.workers import Workers

FRUITLESS = 3
"""afl-fuzz processes in a row that ended before they had made an input."""

_NO_SEED = "at least one valid input seed"


class Fuzzing:
    """One afl-fuzz with its counts; time passes only while it is not paused.

    The process is started with the first ``go_on``, goes on from its own queue where there is one,
    and is started again when it was killed, or when there are new seeds or another dictionary.
    """

    def __init__(self, job: Job, workers: Workers, stop: threading.Event) -> None:
        check_target(job.program)
        self.job = job
        self._build = stamp(job.program)
        self.folder = CampaignFolder(job.out)
        self.folder.make()
        self._corpus = CorpusFiles(self.folder)
        self._record = self.folder.agreed(fingerprint(job.program), job.kind)
        self._places = AflPlaces(self.folder)
        self._finds = Finds(job, self.folder, workers, stop)
        self._process: AflProcess | None = None
        self.state: State | None = None
        self._check_state()
        self.seconds = float(self._record.get("seconds", 0.0))
        self.core_seconds = float(self._record.get("core_seconds", self.seconds))
        self._clock: float | None = None
        self._told = b""
        self._files: dict[Path, tuple[int, int, int]] = {}
        self._n_at_start = 0
        self._seeds_checked = False
        self._skipped: set[str] = set(self._record.get("skipped", []))
        self._fruitless = 0

    @property
    def generation(self) -> str:
        """The name of these counts."""
        return str(self._record["generation"])

    def is_of_this_build(self) -> bool:
        """Whether the target is still the file that is being fuzzed."""
        try:
            return stamp(self.job.program) == self._build
        except OSError:
            return False

    @property
    def bugs(self) -> Finds:
        """What was found."""
        return self._finds

    @property
    def n(self) -> int:
        """Inputs so far."""
        return int(self.state.head.inputs) if self.state and self.state.ready else 0

    @property
    def is_loading(self) -> bool:
        """Whether afl-fuzz has not made an input yet since it was started."""
        return self.n <= self._n_at_start

    @property
    def seeds_tried(self) -> int:
        """Seeds that it has tried since its start, as far back as its words are kept."""
        return tried(self._process.output) if self._process else 0

    def go_on(self) -> None:
        """Start afl-fuzz, or let it go on."""
        self._save(self.folder.begin_turn)
        if self._process is None:
            self._start()
        elif self._process.is_paused:
            began = time.monotonic()
            if self._has_to_read_anew():
                self.end()
                self._start(began)
                return
            self._clock = time.monotonic()
            self._write_clock()
            self._process.go_on()

    def wait(self, seconds: float) -> None:
        """Let it fuzz for so long at most, and see to what happened."""
        process = self._process
        assert process is not None
        wait_for_any([process], seconds)
        self._pass_time()
        self._tell_waiting()
        if self.state is None and self.folder.state_exists():
            self.state = State(self.folder.state)
        if not self.is_loading and not self._seeds_checked:
            self._check_seeds(process.output)
        if (ending := process.ending()) is not None:
            self._process = None
            self._clock = None
            self._ended(ending)
            self._start()

    def pause(self) -> None:
        """Stop the fuzzing, so that it can go on at once."""
        if self._process and not self._process.is_paused:
            self._process.pause()
            self._pass_time()
            self._clock = None

    def end(self) -> None:
        """End afl-fuzz in good order."""
        process, self._process = self._process, None
        if process:
            self._save(self.folder.begin_turn)
            self._pass_time()
            self._clock = None
            if self.state:
                self.state.head.max_inputs = 0  # it may have stopped there
            process.end()

    def save(self) -> None:
        """At the end of a turn: write down what is not in the state, and see all to the disk."""
        self._save(self.folder.end_turn)

    def _save(self, write: Callable[[dict[str, Any]], None]) -> None:
        self._corpus.write(self.state)
        write(
            {
                **self._record,
                "target": str(self.job.program),
                "command": list(self.job.surroundings.before(reproducing(self.job.command))),
                "seconds": self.seconds,
                "core_seconds": self.core_seconds,
                "inputs": self.n,
                "skipped": sorted(self._skipped),
            }
        )

    @property
    def has_all_inputs(self) -> bool:
        """Whether all inputs that were asked for are made."""
        return self.job.inputs is not None and self.n >= self.job.inputs

    def examine(self, seconds: float) -> None:
        """Wait so long for crashes that are being examined; the core is taken meanwhile."""
        start = time.monotonic()
        self._finds.look(self.n, self.seconds, seconds)
        self.core_seconds += time.monotonic() - start

    # ── the process ───────────────────────────────────────────────────────────────────────────

    def _start(self, began: float | None = None) -> None:
        """Start afl-fuzz; what it takes to bring its seeds takes the core, from ``began`` on."""
        began = began or time.monotonic()
        self._check_state()
        self._n_at_start = self.n
        self._seeds_checked = False
        self._files = _files_of(self.job)
        going_on = self._places.can_go_on()
        if going_on:
            self._places.put_finds_aside()
            self._places.drop_cut_off_stats()
            self._places.add(self.job.corpus, self._skipped)
        else:
            self._places.gather(self.job.corpus, self._skipped)
        self._clock = time.monotonic()
        self.core_seconds += self._clock - began
        self._write_clock()
        self._save(self.folder.begin_turn)
        scratch = self.folder.scratch
        afl = find_afl_fuzz(scratch)
        seeds = None if going_on else self._places.seeds
        self._process = AflProcess(
            command(afl, self.job, seeds, self._places.output),
            variables(afl, self.job, self.folder, self.seconds, self._map_size()),
            scratch,
            self.job.surroundings.folder,
        )

    def _map_size(self) -> int:
        """That of the target; where it does not answer, that of the counts that go on."""
        known = self.state.map_size if self.state and self.state.ready else 0
        return map_size(
            self.job.program,
            self.folder.scratch,
            known=known,
            startup=self.job.startup,
            surroundings=self.job.surroundings,
        )

    def _has_to_read_anew(self) -> bool:
        """Whether there are new seeds, or another dictionary: afl-fuzz reads both at its start."""
        before, self._files = self._files, _files_of(self.job)
        changed = [path for path, now in self._files.items() if now != before.get(path)]
        if self.job.dictionary in changed:
            return True
        return bool(self._places.not_given(changed, self._skipped))

    def _ended(self, ending: Ending) -> None:
        """afl-fuzz ended by itself: killed, at a problem of its own, or of the observer."""
        output = clean(ending.output)
        if ending.kind == "state":
            raise refusal(output, output[-300:])
        known = len(self._skipped)
        self._check_seeds(output)
        said = complaint(output)
        if _NO_SEED in said and len(self._skipped) > known:
            self._places.forget_queue()  # without these, it has another seed
            return
        if not self.is_loading:  # be it that the target has ended its own fork server
            self._fruitless = 0
            return
        self._fruitless += 1
        if ending.kind != "killed" or self._fruitless >= FRUITLESS:
            words = (said or " ".join(output.split())[-300:]).rstrip(".! ")
            raise BadInput(
                f"afl-fuzz cannot fuzz {printable(str(self.job.program))}: "
                f"{words or 'it was killed'}. Its folder is {self._places.output}."
            )

    def _check_seeds(self, output: str) -> None:
        """Seeds that end the target are bugs, and no seeds for the next start."""
        self._seeds_checked = True
        for name, kind in bad_seeds(output).items():
            path = self._places.queue / name
            try:
                digest = name_of(path)
            except OSError:
                continue
            if digest not in self._skipped:
                self._skipped.add(digest)
                self._finds.examine_seed(path, kind, self.n, self.seconds)

    # ── time and counts ───────────────────────────────────────────────────────────────────────

    def _pass_time(self) -> None:
        if self._clock is not None:
            now = time.monotonic()
            self.seconds += now - self._clock
            self.core_seconds += now - self._clock
            self._clock = now

    def _write_clock(self) -> None:
        """Tell the observer from where its clock goes on, and what waits in the queue."""
        clock = struct.pack("QQ", int(self.seconds * 1000), int(time.monotonic() * 1000))
        self._told = self._what_waits()
        self._tell(clock + self._told, 0)

    def _tell_waiting(self) -> None:
        """Tell it while it runs what AFL++ newly says; not the time, lest its clock go back."""
        if (now := self._what_waits()) != self._told:
            self._told = now
            self._tell(now, struct.calcsize("QQ"))

    def _what_waits(self) -> bytes:
        """What ``hooks.c`` reads behind the clock: the share that waits, and how many are tried."""
        seen = self._places.untried()
        return struct.pack("dq", seen.share, -1 if seen.tried is None else seen.tried)

    def _tell(self, words: bytes, place: int) -> None:
        """In place, since the observer has the file in its memory, and at once."""
        file = os.open(self.folder.state / "clock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            os.pwrite(file, words, place)
        finally:
            os.close(file)

    def _check_state(self) -> None:
        """The counts, as they were left; DamagedState where some of them are missing."""
        if state := sound_state(self.folder, int(self._record.get("inputs", 0))):
            self.state = state
            self.state.head.max_inputs = self.job.inputs or 0


def _files_of(job: Job) -> dict[Path, tuple[int, int, int]]:
    """What afl-fuzz is given to read, each file with what changes when it does."""
    found = {}
    for path in files_of([*job.corpus, *([job.dictionary] if job.dictionary else [])]):
        with suppress(OSError):  # gone meanwhile
            found[path] = stamp(path)
    return found
