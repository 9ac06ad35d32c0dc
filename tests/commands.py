"""Commands of fuzzwise for tests: each a process of its own, forked from one that has imported it.

To import fuzzwise takes longer than most of these commands. What a process imports at its start,
and which variables Python itself obeys, is not seen here: tests of that start a process of their
own.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Self

from waiting import PATIENCE

IMPORTED = (
    *("cli.estimate", "cli.fuzz", "cli.report", "cli.run", "cli.status", "cli.triage", "cli.watch"),
    *("engines.libfuzzer.session", "engines.stock.session", "engines.blackbox.session"),
    *("store.sql.reading", "store.sql.store", "cli.simulate", "lab.replay.replay"),
)
"""Modules that many commands need; none that starts threads, as polars does."""


def fuzzwise(
    *words: object,
    cwd: Path | None = None,
    timeout: float = PATIENCE,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """A command up to its end, with what it printed; without input, and not on a terminal."""
    with Started(*words, cwd=cwd, env=env) as process:
        out, errors = process.communicate(timeout)
    return subprocess.CompletedProcess(process.args, process.returncode or 0, out, errors)


class Started:
    """A command at work: as much of a ``subprocess.Popen`` as tests need."""

    def __init__(
        self, *words: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        self.args = ["fuzzwise", *map(str, words)]
        self.returncode: int | None = None
        self._socket, theirs = socket.socketpair()
        pipes = (os.pipe(), os.pipe())
        with theirs, open(os.devnull, "rb") as nothing:  # noqa: PTH123
            ends = [theirs.fileno(), nothing.fileno(), *(write for _, write in pipes)]
            socket.send_fds(_server(), [b"x"], ends)
        for _, write in pipes:
            os.close(write)
        request = [self.args, str(cwd or Path.cwd()), dict(os.environ if env is None else env)]
        self._socket.sendall(json.dumps(request).encode())
        self._socket.shutdown(socket.SHUT_WR)
        self._told = self._socket.makefile("r")
        self.pid = int(self._told.readline())
        self._texts = [_Text(open(read, "rb")) for read, _ in pipes]  # noqa: PTH123, SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:  # a test that fails waits for nobody
            self.kill()
        self.wait()

    def __del__(self) -> None:
        with suppress(AttributeError):  # it was never started
            self._told.close()
            self._socket.close()

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        if self.returncode is None and select.select([self._socket], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """How it ended, once it has."""
        if self.returncode is None:
            if not select.select([self._socket], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(self._told.readline())
            self._told.close()
            self._socket.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """All that it printed, once it has ended; it is killed if that takes longer."""
        try:
            self.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        out, errors = (text.whole() for text in self._texts)
        return out, errors

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it is known to have ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it, unless it is known to have ended."""
        self.send_signal(signal.SIGKILL)


class _Text(threading.Thread):
    """Reads what a process prints, however much that is."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._file, self._data = file, b""
        self.start()

    def run(self) -> None:
        with self._file:
            self._data = self._file.read()

    def whole(self) -> str:
        self.join(PATIENCE)
        assert not self.is_alive(), "a process that was left behind can still print there"
        return self._data.decode()


@cache
def _server() -> socket.socket:
    """The process that has imported fuzzwise, one for each process of pytest."""
    mine, theirs = socket.socketpair()
    with theirs:
        server = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # who forks has one thread
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(server.wait)
    atexit.register(mine.close)
    return mine


# ── the process that forks ────────────────────────────────────────────────────────────────────


def _serve(requests: socket.socket) -> None:
    for name in ("scipy.special", *(f"fuzzwise.{name}" for name in IMPORTED)):
        with suppress(ImportError):  # an extra that is not installed
            import_module(name)
    gc.freeze()  # or each command would look for cycles in all of that at its end
    while True:
        asked, ends, _, _ = socket.recv_fds(requests, 1, 4)
        if not asked:
            return None
        if os.fork() == 0:
            requests.close()
            return _attend(*ends)
        for end in ends:
            os.close(end)
        while _buried():
            pass


def _buried() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] > 0
    except ChildProcessError:
        return False


def _attend(asker: int, *streams: int) -> None:
    """Start one command, and tell who asked which process it is and how it ended."""
    with open(asker, "rb", closefd=False) as file:
        command, folder, variables = json.load(file)
    is_ready, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(asker)
        return _become(command, folder, variables, streams, ready)
    for end in (*streams, ready):
        os.close(end)
    os.read(is_ready, 1)  # a signal that is sent from now on is one for fuzzwise
    os.write(asker, b"%d\n" % pid)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(asker, b"%d\n" % status)
    os._exit(0)


def _become(
    command: list[str], folder: str, variables: dict[str, str], streams: tuple[int, ...], ready: int
) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it would be ignored
    os.environ.clear()
    os.environ.update(variables)
    sys.argv = command
    from fuzzwise import interrupts
    from fuzzwise.__main__ import start

    interrupts.end_at_once()
    os.close(ready)
    start()


if __name__ == "__main__":
    del sys.path[0]  # as fuzzwise does
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asks
    _serve(socket.socket(fileno=int(sys.argv[1])))
