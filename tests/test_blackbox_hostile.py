"""Programs that fork, fill disks, ignore signals or attack their parent do no harm."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from blackbox_target import build, processes_with
from fuzzwise.engines.blackbox import Limits, Mutation, Runner, Target, check, execute, wire
from fuzzwise.engines.blackbox import runner as runner_module
from fuzzwise.engines.blackbox import single as single_module
from fuzzwise.engines.blackbox.server import Server
from fuzzwise.errors import BadInput
from fuzzwise.triage.processes import children, running
from waiting import PATIENCE, wait_until

LIMITS = Limits(seconds=0.3, memory_mib=256, file_mib=1, processes=16)
PATIENT = Limits(seconds=30, memory_mib=256, file_mib=1, processes=16)
WITH_SERVER = 2
"""The warden and its server: what may run between two runs."""


def target(deed: str, token: str) -> Target:
    return Target((str(build("hostile")), deed, "@@", token), b"some input of a few bytes")


def events(
    deed: str, tmp_path: Path, mode: str, runs: int = 3, limits: Limits = LIMITS
) -> list[tuple[str, int, int]]:
    """What happens; and nothing is left, neither after the runs nor after the runner."""
    token = str(tmp_path)
    with Runner(target(deed, token), 1, Mutation(), limits, mode) as runner:
        found = [(e.kind, e.run, e.signal) for e in runner.run(1, runs)]
        assert len(processes_with(token)) == WITH_SERVER
        assert runner.restarts == 0
    assert processes_with(token) == []
    assert found[-1] == ("mark", runs, 0)
    return [event for event in found if event[0] != "mark"]


MODES = pytest.mark.parametrize("mode", ["fork-server", "spawn"])


@MODES
@pytest.mark.parametrize(
    "deed",
    ["daemons", "bomb", "session-bomb", "raw-bomb", "deep", "close", "unlink", "rename",
     "no-folder", "child-crash", "escape", "look", "limits"],
)  # fmt: skip
def test_contained_without_an_event(tmp_path, mode, deed):
    assert [kind for kind, *_ in events(deed, tmp_path, mode) if kind != "hang"] == []


@MODES
@pytest.mark.parametrize("deed", ["daemons", "close", "unlink", "deep", "limits", "look"])
def test_ends_by_itself(tmp_path, mode, deed):
    assert events(deed, tmp_path, mode, 5, PATIENT) == []


@MODES
@pytest.mark.parametrize("deed", ["stop", "stubborn"])
def test_what_does_not_end_is_killed_and_is_a_hang(tmp_path, mode, deed):
    assert events(deed, tmp_path, mode, runs=2) == [("hang", 1, 9), ("hang", 2, 9)]


@MODES
def test_a_program_that_asks_to_be_traced_still_crashes(tmp_path, mode):
    assert events("trace", tmp_path, mode, 1, PATIENT) == [("crash", 1, signal.SIGABRT)]


@MODES
def test_a_run_that_fills_the_disk_is_ended_and_its_files_are_removed(tmp_path, mode):
    with Runner(target("fill", str(tmp_path)), 1, Mutation(), PATIENT, mode) as runner:
        assert [event.kind for event in runner.run(1, 2) if event.kind != "mark"] == []  # no hang
        folder = Path(Path(f"/proc/{runner.pid}/cmdline").read_text().split("\0")[2])
        assert (folder / "in" / "input").is_file()
        assert list((folder / "scratch").iterdir()) == []
    assert not folder.exists()


@pytest.mark.parametrize("deed", ["kill-all", "kill-parent"])
def test_a_program_cannot_end_its_fork_server(tmp_path, deed):
    outcomes = events(deed, tmp_path, "fork-server", 2, PATIENT)
    assert {kind for kind, *_ in outcomes} <= {"out-of-memory"}  # it killed itself, at most


def test_a_server_that_is_killed_is_started_again(tmp_path):
    token = str(tmp_path)
    with Runner(target("nothing", token), 1, Mutation(), PATIENT) as runner:
        batch = runner.run(1, seconds=3.0)
        first = next(batch)  # after half a second
        for process in processes_with(token):
            if process != runner.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        rest = list(batch)
        assert runner.restarts == 1
    runs = [event.run for event in (first, *rest)]
    times = [event.microseconds for event in (first, *rest)]
    assert runs == sorted(runs)
    assert times == sorted(times)
    assert times[-1] >= 3_000_000
    assert processes_with(token) == []


def test_a_server_that_dies_again_and_again_is_bad_input(tmp_path):
    token = str(tmp_path)
    with Runner(target("stop", token), 1, Mutation(), PATIENT) as runner:
        stop = threading.Event()
        killer = threading.Thread(target=_kill_servers, args=(token, stop))
        killer.start()
        try:
            with pytest.raises(BadInput, match=r"3 times in a row"):
                list(runner.run(1, 100))
        finally:
            stop.set()
            killer.join()
    assert processes_with(token) == []


def _kill_servers(token: str, stop: threading.Event) -> None:
    """Kill runs' parents, never a warden, as soon as there is a run."""
    while not stop.is_set():
        for process in processes_with(token):
            with contextlib.suppress(OSError):
                stat = Path(f"/proc/{process}/stat").read_text()
                parent = int(stat.rsplit(")", 1)[1].split()[1])
                if stat.rsplit(")", 1)[1].split()[0] == "T":  # the run, which stopped itself
                    os.kill(parent, signal.SIGKILL)
        time.sleep(0.01)


KILLED = """
import sys
from fuzzwise.engines.blackbox import Limits, Mutation, Runner, Target
target = Target((sys.argv[1], sys.argv[2], "@@", sys.argv[3]), b"input")
with Runner(target, 1, Mutation(), Limits(seconds=600), sys.argv[4]) as runner:
    print(runner.pid, flush=True)
    list(runner.run(1, 10))
"""


@MODES
def test_nothing_survives_a_killed_python(tmp_path, mode):
    token = str(tmp_path)
    words = [str(build("hostile")), "daemons-and-wait", token, mode]
    python = subprocess.Popen([sys.executable, "-c", KILLED, *words], stdout=subprocess.PIPE)
    assert python.stdout is not None
    warden = int(python.stdout.readline())
    folder = Path(Path(f"/proc/{warden}/cmdline").read_text().split("\0")[2])
    # Python, warden, server, run, three daemons
    wait_until(lambda: len(processes_with(token)) >= 7, "all seven of them")
    assert folder.is_dir()
    python.kill()
    python.wait()
    python.stdout.close()
    wait_until(lambda: not processes_with(token), "the end of all of them")
    wait_until(lambda: not folder.exists(), "the end of their folder")


def test_a_server_does_not_outlive_a_warden_that_is_killed_right_after_its_fork(tmp_path):
    token = tmp_path / "asked"
    library = build("late_prctl", "-shared", "-fPIC", "-ldl")
    added = {"LD_PRELOAD": str(library), "PRCTL_WAITS_FOR": str(token)}
    settings = wire.Settings(b"input", 0, Mutation(), LIMITS, 0, sanitized=False, user_tasks=0)
    server = Server(["/bin/cat"], settings, inject=False, variables=added)
    try:
        wait_until(lambda: children(server.pid), "its server")
        (served,) = children(server.pid)
        os.kill(server.pid, signal.SIGKILL)
        token.touch()
        wait_until(
            lambda: all(process.pid != served for process in running()), "the end of the server"
        )
    finally:
        server.close()
    assert server.was_killed


def _kill(pid: int) -> None:
    """Kill a process, and wait for its end: a busy machine lets it work on for a moment."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: all(process.pid != pid for process in running()), "its end")


class KilledTwice(Server):
    """Servers of which somebody kills the first two, by their warden or by themselves."""

    started = 0

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        KilledTwice.started += 1
        if KilledTwice.started == 1:
            _kill(self.pid)
        elif KilledTwice.started == 2:
            wait_until(lambda: children(self.pid), "its server")
            _kill(children(self.pid)[0])


def test_two_servers_that_are_killed_at_their_start_are_no_fault_of_the_program(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(runner_module, "Server", KilledTwice)
    monkeypatch.setattr(KilledTwice, "started", 0)
    with Runner(target("nothing", str(tmp_path)), 1, Mutation(), LIMITS) as runner:
        assert runner.mode == "fork-server"
        assert [event.run for event in runner.run(1, 5)][-1] == 5
    assert KilledTwice.started == 3


def test_two_servers_that_are_killed_at_the_check_are_no_fault_of_the_program(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(single_module, "Server", KilledTwice)
    monkeypatch.setattr(KilledTwice, "started", 0)
    assert check(Target(("/bin/cat", "@@"), b"input"), LIMITS) == []
    assert KilledTwice.started == 3


def test_endless_output_is_cut():
    seconds = 0.2
    while b"bytes left out" not in (outcome := execute(["yes"], b"", Limits(seconds))).output:
        assert seconds < PATIENCE, "it was never cut"
        seconds *= 2
    assert outcome.kind == "hang"
    assert len(outcome.output) < 400_000
