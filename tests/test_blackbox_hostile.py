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

import pytest

from blackbox_target import build, processes_with
from fuzzwise.engines.blackbox import Limits, Mutation, Runner, Target, execute
from fuzzwise.errors import BadInput

LIMITS = Limits(seconds=0.3, memory_mib=256, file_mib=1, processes=16)
PATIENT = Limits(seconds=10, memory_mib=256, file_mib=1, processes=16)
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
    assert events("trace", tmp_path, mode, runs=1) == [("crash", 1, signal.SIGABRT)]


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
    outcomes = events(deed, tmp_path, "fork-server", runs=2)
    assert {kind for kind, *_ in outcomes} <= {"out-of-memory"}  # it killed itself, at most


def test_a_server_that_is_killed_is_started_again(tmp_path):
    token = str(tmp_path)
    with Runner(target("nothing", token), 1, Mutation(), LIMITS) as runner:
        batch = runner.run(1, seconds=1.5)
        first = next(batch)
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
    assert times[-1] >= 1_500_000
    assert processes_with(token) == []


def test_a_server_that_dies_again_and_again_is_bad_input(tmp_path):
    token = str(tmp_path)
    with Runner(target("stop", token), 1, Mutation(), Limits(seconds=60)) as runner:
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
with Runner(target, 1, Mutation(), Limits(seconds=30), sys.argv[4]) as runner:
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
    _until(lambda: len(processes_with(token)) >= 7)  # Python, warden, server, run, three daemons
    assert folder.is_dir()
    python.kill()
    python.wait()
    python.stdout.close()
    _until(lambda: not processes_with(token))
    _until(lambda: not folder.exists())


def _until(condition) -> None:
    end = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_endless_output_is_cut():
    outcome = execute(["yes"], b"", Limits(seconds=0.2))
    assert outcome.kind == "hang"
    assert b"bytes left out" in outcome.output
    assert len(outcome.output) < 400_000
