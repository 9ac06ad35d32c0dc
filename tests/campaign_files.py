"""Campaigns for tests that let things go wrong: real targets, real ``fuzzwise run`` processes."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import observed_target
from builds import compiled
from commands import Started
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.store.states import CampaignState, TargetState
from fuzzwise.triage.processes import children, running
from reading import read_state, state_so_far
from waiting import PATIENCE, wait_until

TARGETS = Path(__file__).parent / "targets"
EXAMPLES = Path(__file__).parents[1] / "examples"
MARK = "FUZZWISE_TEST_CAMPAIGN"
"""A variable by which the processes of one campaign are known."""

Process = Started | subprocess.Popen[str]


@cache
def harness(source: str, *flags: str) -> Path:
    """A harness for libFuzzer, of tests/targets or examples, built once."""
    return observed_target.build(_folder(), _source(source), *flags)


@cache
def program(source: str, *flags: str) -> Path:
    """A program for the black-box engine, of tests/targets or examples, built once."""
    made = _folder() / Path(source).stem
    return compiled(["cc", "-O1", "-g", "-w", *flags, _source(source)], made)


def _source(name: str) -> Path:
    return next(place / name for place in (TARGETS, EXAMPLES) if (place / name).exists())


def _folder() -> Path:
    folder = Path(mkdtemp(prefix="fuzzwise-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@dataclass
class Campaign:
    """A campaign file in a folder of its own, with its programs beside it."""

    home: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    out: Path | None = None
    tables: list[str] = field(default_factory=list)
    latest: Process | None = None
    """What was started last."""

    @property
    def folder(self) -> Path:
        """Where the campaign keeps what it finds."""
        return self.out or self.home / "out"

    @property
    def file(self) -> Path:
        """The campaign file."""
        return self.home / "campaign.toml"

    def libfuzzer(self, name: str, made: Path, *lines: str) -> Path:
        """Add a harness; the copy of it that the campaign uses."""
        mine = self._copy(name, made)
        self._add(f'name = "{name}"', f'program = "{mine}"', *lines)
        return mine

    def black_box(self, name: str, made: Path, seed: bytes, *lines: str, words: str = "@@") -> Path:
        """Add a program with a seed file; the copy of it that the campaign uses."""
        mine = self._copy(name, made)
        seed_file = self.home / f"{name}.seed"
        seed_file.write_bytes(seed)
        self._add(
            *(f'name = "{name}"', 'engine = "black-box"', f'command = "{mine} {words}"'),
            *(f'corpus = "{seed_file}"', *lines),
        )
        return mine

    def sources(self, name: str, text: str) -> None:
        """Add a harness that comes as its source."""
        (self.home / f"{name}.c").write_text(text)
        self._add(f'name = "{name}"', f'sources = "{name}.c"')

    def plan(self) -> CampaignPlan:
        """What the file says."""
        self._write()
        return read_plan(self.file, None)

    def start(self, seconds: float, *words: str, **variables: str) -> Process:
        """``fuzzwise run`` as a process; a new one of Python where variables are for that."""
        self._write()
        command = ["run", str(self.file), "--time", f"{seconds:g}s", *words]
        environment = {**os.environ, MARK: str(self.home), **variables}
        self.latest = self._start(command, environment, anew=bool(variables))
        return self.latest

    def _start(self, command: list[str], environment: dict[str, str], *, anew: bool) -> Process:
        if not anew:
            return Started(*command, env=environment)
        return subprocess.Popen(
            [sys.executable, "-m", "fuzzwise", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, seconds: float, *words: str, **variables: str) -> Ran:
        """``fuzzwise run`` up to its end."""
        return ended(self.start(seconds, *words, **variables))

    def run_a_while(self, *words: str) -> Ran:
        """``fuzzwise run``, interrupted once every target has had a turn."""
        manager = self.start(3600, *words)
        self.wait_for_turns()
        return interrupt(manager)

    def state(self) -> CampaignState:
        """The campaign as anybody can read it."""
        return read_state(self.folder)

    def target(self, name: str) -> TargetState:
        """A target as anybody can read it."""
        return next(target for target in self.state().targets if target.name == name)

    def wait_for_inputs(self, *names: str) -> None:
        """Wait until these targets, or else all, have been fuzzed."""
        what = f"inputs of {names or 'all'}"
        wait_until(lambda: _all_fuzzed(self.folder, names), what, by=self.latest)

    def wait_for_turns(self) -> None:
        """Wait until every target has had a whole turn from now on."""
        for _ in range(2):  # at first, what was counted before may be told
            before = self._inputs()
            wait_until(lambda before=before: _is_more(self._inputs(), before), "a turn of each")

    def processes(self) -> list[int]:
        """All processes that the campaign has started and that have not ended."""
        mark = str(self.home).encode()
        return [process.pid for process in running() if _mentions(process.pid, mark)]

    def wait_for_no_process(self) -> None:
        """All processes must end."""
        wait_until(lambda: not self.processes(), f"the end of what {self.folder} has started")

    def _inputs(self) -> dict[str, int]:
        state = state_so_far(self.folder)
        return {target.name: target.inputs for target in state.targets} if state else {}

    def _copy(self, name: str, made: Path) -> Path:
        mine = self.home / "programs-of-test" / name
        mine.parent.mkdir(exist_ok=True)
        shutil.copy2(made, mine)
        return mine

    def _add(self, *lines: str) -> None:
        self.tables.append("\n".join(("[[target]]", *lines)))

    def _write(self) -> None:
        settings = {"cores": "2", "epoch": '"300ms"', "out": f'"{self.folder}"', **self.settings}
        first = ["[campaign]", *(f"{key} = {value}" for key, value in settings.items())]
        self.file.write_text("\n\n".join(("\n".join(first), *self.tables)) + "\n")


@dataclass(frozen=True)
class Ran:
    """What a finished process said."""

    status: int
    out: str
    errors: str

    def check(self, *statuses: int) -> Ran:
        """It must have ended as it should: with one of these statuses, and never by surprise."""
        assert "Traceback" not in self.errors, self.errors
        assert self.status in (statuses or (0,)), self.errors
        return self


def ended(process: Process) -> Ran:
    """Wait for the end of a process."""
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode is not None
    return Ran(process.returncode, out, errors)


def interrupt(manager: Process, number: int = signal.SIGINT) -> Ran:
    """End a campaign before its time is over."""
    manager.send_signal(number)
    return ended(manager).check(130)


def events(state: CampaignState, kind: str, target: str | None = None) -> list[str]:
    """The sentences about something that happened."""
    return [
        event.detail
        for event in state.events
        if event.kind == kind and target in (None, event.target)
    ]


def descendants(pid: int) -> list[int]:
    """The processes below another one."""
    found, ahead = [], [pid]
    while ahead:
        more = children(ahead.pop())
        found += more
        ahead += more
    return found


def command_of(pid: int) -> bytes:
    """The command of a process; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _all_fuzzed(folder: Path, names: Sequence[str]) -> bool:
    try:
        state = read_state(folder)
    except Exception:  # not there yet
        return False
    return all(t.inputs > 0 for t in state.targets if t.name in names or not names)


def _mentions(pid: int, mark: bytes) -> bool:
    if pid == os.getpid():
        return False
    try:
        return mark in command_of(pid) or mark in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def _is_more(now: Mapping[str, int], before: Mapping[str, int]) -> bool:
    return bool(now) and all(inputs > before.get(name, 0) for name, inputs in now.items())
