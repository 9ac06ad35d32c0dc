"""Keeps a campaign on one target going: starts, watches, restarts, counts, stops."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fuzzwise.engines.libfuzzer.process import Ending, FuzzingProcess
from fuzzwise.engines.libfuzzer.state import State
from fuzzwise.errors import BadInput
from fuzzwise.model import Observation
from fuzzwise.stopping import AcceptedRisk, Decision
from fuzzwise.triage.bug_book import Bug, BugBook
from fuzzwise.triage.examine import Verdict, from_report
from fuzzwise.triage.symbolizer import environment as symbolizer_environment

SCHEDULES = {"uniform": 0, "later": 1, "fresh": 2, "observe": 3}
SPECIES = {"feature": 0, "edge": 1, "path": 2}
TICK = 0.1
SUSPICIOUS = 10_000
"""Inputs without any discovery after which something is wrong."""

HOPELESS = 20
"""Processes in a row that died within HOPELESS inputs each: the target is broken, not buggy."""


@dataclass(frozen=True)
class Settings:
    """What the user asked for."""

    target: Path
    corpus: tuple[Path, ...] = ()
    out: Path = Path("fuzz-out")
    accepted_risk: float | None = None
    confidence: float = 0.95
    seconds: float | None = None
    inputs: int | None = None
    measure: bool = False
    per_seed: bool = False
    jobs: int = 1
    schedule: str = "fresh"
    species: str = "feature"
    seed: int = 1
    options: tuple[str, ...] = ()


@dataclass
class Progress:
    """The campaign at one moment, for whoever watches."""

    observation: Observation
    corpus: int
    bugs: tuple[Bug, ...]
    lost: int
    measuring: bool
    decision: Decision | None = None
    stopped: Decision | None = None
    warnings: tuple[str, ...] = ()


class Supervisor:
    """One campaign; ``run`` goes on until a rule says stop, or ``interrupt`` is called."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._check_target()
        out = settings.out
        self._folders = {name: out / name for name in ("state", "corpus", "crashes", "scratch")}
        try:
            for folder in self._folders.values():
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{out}: cannot be used for the campaign ({error.strerror}).") from error
        self._record = self._load_record()
        self.book = BugBook(self._folders["crashes"])
        self._seconds = float(self._record.get("seconds", 0.0))
        self._exported = 0
        self._interrupted = False
        self._processes: list[FuzzingProcess | None] = [None] * settings.jobs
        self._short_lives = 0
        self._starts = 0
        self._skipped: set[str] = set(self._record.get("skipped", []))
        self._since = int(self._record.get("looked", 0))
        self._latest: Decision | None = None
        self._state: State | None = None
        self._n_at_start = 0

    @property
    def resumed(self) -> bool:
        """Whether the folder held a campaign already."""
        return self._seconds > 0

    def interrupt(self) -> None:
        """Stop soon, and keep everything."""
        self._interrupted = True

    def run(self, watch: Callable[[Progress], None]) -> Progress:
        """Fuzz until a rule says stop."""
        with self._only_one():
            try:
                self._adopt_orphans()
                return self._go_on(watch)
            except OSError as error:
                raise BadInput(
                    f"{self.settings.out}: the campaign cannot go on ({error})."
                ) from error
            finally:
                for process in self._processes:
                    if process:
                        process.kill()
                self._save()

    def _go_on(self, watch: Callable[[Progress], None]) -> Progress:
        clock = time.monotonic()
        while True:
            self._tend()
            self._nap()
            now = time.monotonic()
            self._seconds += now - clock
            clock = now
            if self._state is None or not self._state.ready:
                self._give_up_early()
                if self._interrupted:
                    raise BadInput("Interrupted before the target ran its first input.")
                continue
            progress = self._progress()
            progress.stopped = self._decide(progress)
            self._save()
            watch(progress)
            if progress.stopped:
                self._finish()
                final = self._progress()
                final.stopped, final.decision = progress.stopped, progress.decision
                return final

    @contextlib.contextmanager
    def _only_one(self) -> Iterator[None]:
        """One supervisor a folder; the lock goes with the process, however it ends."""
        with (self.settings.out / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise BadInput(
                    f"{self.settings.out}: another fuzzwise is running this campaign. Wait for it, "
                    "or use another --out folder."
                ) from error
            yield

    def _adopt_orphans(self) -> None:
        """Crashing inputs that were written, but not recorded, before the supervisor was killed."""
        for artifact in self._artifacts():
            command = [str(self.settings.target.resolve()), str(artifact.resolve())]
            process = FuzzingProcess(command, _sanitizer_environment(), self._folders["scratch"])
            deadline = time.monotonic() + 30
            while (ending := process.ending()) is None and time.monotonic() < deadline:
                time.sleep(0.01)
            if ending is None:
                process.kill()
            output = ending.output if ending else "libFuzzer: timeout"
            kind = (
                ending.kind if ending and ending.kind in ("timeout", "out-of-memory") else "crash"
            )
            self._skipped.add(_name(artifact))
            n = int(State(self._folders["state"]).head.inputs) if self._state_exists() else 0
            self.book.add(_verdict(output, kind), [artifact], n, self._seconds)

    def _artifacts(self) -> list[Path]:
        kinds = ("crash", "timeout", "oom", "leak")
        return [
            path
            for path in self._folders["crashes"].iterdir()
            if path.is_file() and path.name.split("-")[0] in kinds
        ]

    # ── processes ─────────────────────────────────────────────────────────────────────────────

    def _tend(self) -> None:
        """Start what should run; look after what ended."""
        for job, process in enumerate(self._processes):
            if process is not None:
                ending = process.ending()
                if ending is None:
                    continue
                self._processes[job] = None
                self._ended(ending)
            if self._done() or self._interrupted:
                continue
            self._processes[job] = self._start(job)

    def _nap(self) -> None:
        """A tick, cut short when a process ends: a target that crashes often is soon back."""
        deadline = time.monotonic() + TICK
        while time.monotonic() < deadline:
            if any(process and not process.runs() for process in self._processes):
                return
            time.sleep(TICK / 10)

    def _done(self) -> bool:
        state, limit = self._state, self.settings.inputs
        if state is None or not state.ready or limit is None:
            return False
        return bool(state.head.inputs >= limit and not state.head.measure_left)

    def _start(self, job: int) -> FuzzingProcess:
        settings = self.settings
        first = all(process is None for process in self._processes)
        if first and self._state_exists():
            State(self._folders["state"]).resume()
        self._starts += 1
        name = json.dumps(settings.target.name)
        environment = {
            **_sanitizer_environment(),
            "FUZZWISE_STATE": str(self._folders["state"].resolve()),
            "FUZZWISE_PARENT": str(os.getpid()),
            "FUZZWISE_JOB": str(job),
            "FUZZWISE_JOBS": str(settings.jobs),
            "FUZZWISE_FIRST": str(int(first)),
            "FUZZWISE_MEASURE": str(int(settings.measure)),
            "FUZZWISE_PER_SEED": str(int(settings.per_seed)),
            "FUZZWISE_SCHEDULE": str(SCHEDULES[settings.schedule]),
            "FUZZWISE_SPECIES": str(SPECIES[settings.species]),
            "FUZZWISE_INPUTS": str(settings.inputs or 0),
            "FUZZWISE_MILLISECONDS": str(int(self._seconds * 1000)),
            "FUZZWISE_CAMPAIGN": json.dumps(f"{settings.target.name} seed {settings.seed}"),
            "FUZZWISE_SUBJECT": name,
        }
        command = [
            str(settings.target.resolve()),
            f"-seed={settings.seed + 1009 * self._starts + 7 * job}",
            f"-artifact_prefix={self._folders['crashes'].resolve()}/",
            "-print_final_stats=0",
            "-detect_leaks=0",
            "-timeout=10",
            "-len_control=100",  # libFuzzer's default, which it drops where there is a mutator
            *self._seed_option(),
            *settings.options,
        ]
        if settings.schedule != "observe":
            command.append("-reduce_inputs=0")
        try:
            process = FuzzingProcess(command, environment, self._folders["scratch"])
        except OSError as error:
            raise BadInput(f"{settings.target}: cannot be started ({error.strerror}).") from error
        self._n_at_start = int(self._state.head.inputs) if self._state else 0
        self._wait_for_state(process)
        return process

    def _wait_for_state(self, process: FuzzingProcess) -> None:
        """Until the process has opened the state, so that jobs come one after the other."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if self._state is None and self._state_exists():
                self._state = State(self._folders["state"])
            state = self._state
            if state and state.ready and any(s.pid == process.pid for s in state.head.slots):
                return
            if process.ending() is not None:
                return
            time.sleep(0.005)

    def _state_exists(self) -> bool:
        head = self._folders["state"] / "head"
        return head.exists() and head.stat().st_size > 0

    def _seed_option(self) -> list[str]:
        """The corpus so far, or the user's: as a list of files, so that libFuzzer writes none."""
        folders = [*self.settings.corpus, self._folders["corpus"]]
        files = []
        for folder in folders:
            paths = [folder] if folder.is_file() else sorted(folder.rglob("*"))
            files += [path for path in paths if path.is_file() and _name(path) not in self._skipped]
        if not files:
            return []
        listing = self._folders["state"] / "seed-files"
        listing.write_text(",".join(str(self._without_comma(path.resolve())) for path in files))
        return [f"-seed_inputs=@{listing.resolve()}"]

    def _without_comma(self, path: Path) -> Path:
        """The file under a name that fits into libFuzzer's list; AFL++'s names have commas."""
        if "," not in str(path):
            return path
        link = self._folders["state"] / "seed-links" / _name(path)
        link.parent.mkdir(exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(path)
        return link.absolute()

    def _ended(self, ending: Ending) -> None:
        """A process ended: a crash is kept and counted, anything else must be explained."""
        made = int(self._state.head.inputs) - self._n_at_start if self._state else 0
        alone = ending.kind not in ("done", "killed")
        self._short_lives = self._short_lives + 1 if alone and made < HOPELESS else 0
        if ending.kind in ("crash", "timeout", "out-of-memory", "exit"):
            n = int(self._state.head.inputs) if self._state else 0
            artifacts = self._artifacts()
            if not artifacts and ending.kind == "exit":
                raise BadInput(self._explain(ending))
            kind = "crash" if ending.kind == "exit" else ending.kind
            self._skipped.update(_name(path) for path in artifacts)
            self.book.add(_verdict(ending.output, kind), artifacts, n, self._seconds)
        elif ending.kind == "state":
            raise BadInput(_own_words(ending.output) or self._explain(ending))
        if self._short_lives >= HOPELESS:
            raise BadInput(
                f"{self.settings.target} ends ({ending.kind}) on nearly every input: {HOPELESS} "
                f"processes in a row died within {HOPELESS} inputs each. The crashes are in "
                f"{self._folders['crashes']}. Fix the first one, then run again."
            )

    def _explain(self, ending: Ending) -> str:
        last = " ".join(ending.output.split())[-400:]
        return f"{self.settings.target} ended with status {ending.status}. Its last words: {last!r}"

    def _give_up_early(self) -> None:
        """No state yet: either the target is slow to start, or it is no observed target."""
        if self._starts > 3 and not self._state:
            raise BadInput(
                f"{self.settings.target} does not count. Build it with `fuzzwise build`, with "
                "CC='fuzzwise cc', or with LIB_FUZZING_ENGINE=$(fuzzwise engine)."
            )

    # ── decisions ─────────────────────────────────────────────────────────────────────────────

    def _progress(self) -> Progress:
        state = self._state
        assert state is not None
        return Progress(
            observation=state.observation(self._seconds),
            corpus=int(state.head.seeds),
            bugs=tuple(self.book.bugs.values()),
            lost=int(state.head.lost),
            measuring=bool(state.head.measure_left),
            decision=self._latest,
            warnings=self._warnings(state),
        )

    def _warnings(self, state: State) -> tuple[str, ...]:
        """What would make a low risk mean nothing: said loudly, never passed over."""
        found = []
        if self.settings.corpus and state.head.initial <= 1:
            found.append("no file of the corpus shows more than the empty input does")
        if state.head.inputs >= SUSPICIOUS and state.head.discoveries == 0:
            found.append(
                f"{state.head.inputs:,} inputs, and none showed anything new: does the target read "
                "its input, and is the code under test instrumented?"
            )
        return tuple(found)

    def _decide(self, progress: Progress) -> Decision | None:
        settings, o = self.settings, progress.observation
        if self._interrupted:
            return Decision(
                True, "interrupted", "Interrupted by the user; all counts are kept.", o.n
            )
        if settings.accepted_risk is not None and not progress.measuring:
            rule = AcceptedRisk(settings.accepted_risk, settings.confidence)
            decision = rule(o, self._since)
            self._since = o.n
            if decision.estimate is not None:
                self._latest = progress.decision = decision
            if decision.stop:
                return decision
        if settings.inputs is not None and o.n >= settings.inputs and not progress.measuring:
            return Decision(
                True, "input-budget", f"The budget of {settings.inputs:,} inputs is used.", o.n
            )
        if settings.seconds is not None and self._seconds >= settings.seconds:
            return Decision(
                True, "time-budget", f"The budget of {settings.seconds:,.0f} seconds is used.", o.n
            )
        return None

    # ── what is on disk ───────────────────────────────────────────────────────────────────────

    def _finish(self) -> None:
        """Let the processes end after their present input, then by force."""
        if self._state:
            self._state.stop()
        deadline = time.monotonic() + 3
        for job, process in enumerate(self._processes):
            if process is None:
                continue
            while process.ending() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            ending = process.ending()
            if ending is None:
                process.kill()
            else:
                self._ended(ending)
            self._processes[job] = None

    def _save(self) -> None:
        self._export_corpus()
        record = {
            "target": str(self.settings.target),
            "fingerprint": self._record["fingerprint"],
            "settings": self._record["settings"],
            "seconds": self._seconds,
            "looked": self._since,
            "skipped": sorted(self._skipped),
        }
        path = self.settings.out / "campaign.json"
        partial = path.with_suffix(f".{os.getpid()}.part")
        try:
            partial.write_text(json.dumps(record, indent=1))
            partial.replace(path)
        except OSError as error:
            raise BadInput(f"{path}: cannot be written ({error.strerror}).") from error

    def _export_corpus(self) -> None:
        """New seeds as plain files that any fuzzer can use."""
        if self._state is None or not self._state.ready:
            return
        folder = self._folders["corpus"]
        try:
            for data in self._state.seed_bytes(self._exported):
                path = folder / hashlib.sha1(data).hexdigest()  # noqa: S324
                if not path.exists():
                    path.write_bytes(data)
                self._exported += 1
        except OSError as error:
            raise BadInput(
                f"{folder}: the corpus cannot be written ({error.strerror}). The counts are in "
                f"{self._folders['state']}; run the same command again to go on."
            ) from error

    def _load_record(self) -> dict[str, Any]:
        """What is known of the folder; a campaign of another build or kind is not continued."""
        settings = self.settings
        fingerprint = hashlib.sha256(settings.target.read_bytes()).hexdigest()
        kind = {
            "measure": settings.measure,
            "per_seed": settings.per_seed,
            "species": settings.species,
            "jobs_share": settings.jobs > 1,
        }
        path = settings.out / "campaign.json"
        if not path.exists():
            return {"fingerprint": fingerprint, "settings": kind}
        try:
            record: dict[str, Any] = json.loads(path.read_text())
        except ValueError as error:
            raise BadInput(f"{path}: is damaged ({error}). Use another --out folder.") from error
        if record.get("fingerprint") != fingerprint:
            raise BadInput(
                f"{settings.out} holds a campaign of another build of the target. Counts of two "
                "builds do not add up; use another --out folder, with its corpus/ as CORPUS."
            )
        if record.get("settings") != kind:
            raise BadInput(
                f"{settings.out} holds a campaign with other settings ({record.get('settings')}). "
                "Use the same, or another --out folder."
            )
        return record

    def _check_target(self) -> None:
        target = self.settings.target
        if not target.is_file():
            raise BadInput(
                f"{target}: there is no such file. Build a target with `fuzzwise build`."
            )
        if not os.access(target, os.X_OK):
            raise BadInput(f"{target}: is not executable.")
        for folder in self.settings.corpus:
            if not folder.exists():
                raise BadInput(f"{folder}: there is no such corpus folder.")


def _sanitizer_environment() -> dict[str, str]:
    """Readable reports, and libFuzzer's exit status whichever runtime sees the crash first."""
    variables = symbolizer_environment()
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        variables[name] += ":exitcode=77"
    return variables


def _name(path: Path) -> str:
    return hashlib.sha1(path.read_bytes()).hexdigest()  # noqa: S324


def _verdict(output: str, kind: str) -> Verdict:
    """The bug that a report shows; that an input was slow or large is not in every report."""
    seen = from_report(output)
    if kind == "crash":
        return seen
    assert seen.bug is not None
    return replace(seen, bug=replace(seen.bug, kind=kind, severity="resource"))


def _own_words(output: str) -> str:
    lines = [line for line in output.splitlines() if line.startswith("fuzzwise: ")]
    return lines[-1].removeprefix("fuzzwise: ") if lines else ""
