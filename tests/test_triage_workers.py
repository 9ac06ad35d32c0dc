"""Workers: started when needed, replaced when killed, with nothing left of their targets."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import pytest

from blackbox_target import processes_with
from fuzzwise.errors import BadInput
from fuzzwise.triage.examine import Limits, Verdict, absolute
from fuzzwise.triage.processes import running
from fuzzwise.triage.workers import Task, Workers
from waiting import PATIENCE, wait_until

SOURCE = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void give_up(void) { abort(); }
int main(int argc, char **argv) {
  FILE *file = fopen(argv[1], "rb");
  int letter = fgetc(file);
  if (letter == 'w') for (int i = 0; i < 6000 && access(argv[2], F_OK); i++) usleep(100000);
  if (letter == 'k') kill(getppid(), SIGKILL);
  if (letter == 'h') for (;;) pause();
  if (letter != 'x') give_up();
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workers")
    (folder / "program.c").write_text(SOURCE)
    command = ["cc", "-g", "-O1", "-w", str(folder / "program.c"), "-o", str(folder / "program")]
    subprocess.run(command, check=True)
    return folder / "program"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def task(program: Path, go: Path, letter: bytes = b"a") -> Task:
    words = absolute((str(program), "@@", str(go)))
    return Task(words, lambda: letter, "input", Limits(PATIENCE), 5)


def frames(verdict: Verdict) -> tuple[str, ...]:
    return verdict.bug.frames if verdict.bug else ()


def children(pid: int) -> Iterator[int]:
    return (process.pid for process in running() if process.parent == pid)


def until(condition: Callable[[], bool]) -> None:
    wait_until(condition, "what the workers do")


def test_no_process_is_started_without_work(program, tmp_path):
    with Workers(3) as workers:
        assert workers.pids == ()
        assert [frames(v) for v in workers.examine([task(program, tmp_path)])] == [("give_up",)]
        assert [frames(v) for v in workers.examine([task(program, tmp_path)])] == [("give_up",)]
        (pid,) = workers.pids
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("which", ["worker", "guard", "both"])
def test_an_input_whose_worker_is_killed_is_examined_again(program, tmp_path, temporary, which):
    go = tmp_path / "go"
    with Workers(1) as workers:
        verdict = workers.start(task(program, go, b"w"))
        until(lambda: len(processes_with(str(go))) > 0)
        (guard,) = workers.pids
        first = set(processes_with(str(go)))
        (worker,) = children(guard)
        if which != "guard":
            os.kill(worker, signal.SIGKILL)
        if which != "worker":
            os.kill(guard, signal.SIGKILL)
        go.touch()
        assert frames(verdict.result(PATIENCE)) == ("give_up",)
        assert guard not in workers.pids
        if which != "both":  # nobody is left then who could end it
            until(lambda: not first & set(processes_with(str(go))))
    if which != "both":
        until(lambda: list(temporary.iterdir()) == [])


def test_what_ends_its_worker_twice_shows_nothing_and_others_go_on(program, tmp_path):
    with Workers(1) as workers:
        tasks = [task(program, tmp_path, letter) for letter in (b"k", b"a", b"x")]
        found = list(workers.examine(tasks))
        assert len(workers.pids) == 1
    assert [verdict.ending for verdict in found] == ["none", "crash", "none"]


def test_an_idle_worker_that_is_killed_is_replaced(program, tmp_path):
    with Workers(1) as workers:
        for _ in range(3):
            (verdict,) = workers.examine([task(program, tmp_path)])
            assert frames(verdict) == ("give_up",)
            os.kill(workers.pids[0], signal.SIGKILL)


def test_many_threads_share_the_workers(program, tmp_path):
    def several(_: int) -> list[tuple[str, ...]]:
        letters = (b"a", b"x", b"a")
        return [frames(v) for v in workers.examine(task(program, tmp_path, x) for x in letters)]

    with Workers(2) as workers, ThreadPoolExecutor(4) as threads:
        assert list(threads.map(several, range(4))) == [[("give_up",), (), ("give_up",)]] * 4
        assert len(workers.pids) <= 2


def test_the_end_does_not_wait_for_what_is_under_way(program, tmp_path, temporary):
    go = tmp_path / "never"
    with Workers(1) as workers:
        verdict = workers.start(task(program, go, b"h"))
        until(lambda: len(processes_with(str(go))) > 0)
        assert list(temporary.rglob("input"))
    assert processes_with(str(go)) == []
    assert list(temporary.iterdir()) == []
    with pytest.raises(BadInput, match="ended before it was finished"):
        verdict.result(0)


def test_a_worker_whose_asker_was_killed_ends_without_a_word(program, tmp_path, temporary):
    go = tmp_path / "go"
    command = [sys.executable, "-m", "fuzzwise.triage.worker"]
    worker = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert worker.stdin
    assert worker.stdout
    assert worker.stderr
    request = {
        "command": absolute((str(program), "@@", str(go))),
        "data": base64.b64encode(b"w").decode(),
        "name": "input",
        "limits": asdict(Limits(PATIENCE)),
        "depth": 5,
    }
    worker.stdin.write(json.dumps(request).encode() + b"\n")
    worker.stdin.flush()
    until(lambda: len(processes_with(str(go))) > 0)
    worker.stdout.close()
    go.touch()
    assert worker.stderr.read() == b""
    assert worker.wait(PATIENCE) == 0
    assert list(temporary.iterdir()) == []
    worker.stdin.close()
    worker.stderr.close()
