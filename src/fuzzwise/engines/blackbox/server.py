"""One server process: started, spoken to through pipes, ended with everything that it started."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from fuzzwise.engines.blackbox import wire
from fuzzwise.engines.blackbox.build import native
from fuzzwise.engines.blackbox.model import INPUT_MARK
from fuzzwise.engines.blackbox.program import environment

MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108
MEMORY_FREE = 1 << 30
GRACE = 5.0
"""Seconds that a server gets to end by itself."""


class Server:
    """A warden with its server: fork server where ``inject``, else one that spawns."""

    def __init__(
        self,
        command: Sequence[str],
        settings: wire.Settings,
        *,
        inject: bool,
        suffix: str = "",
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="fuzzwise-", dir=_place()))
        self.input_path = self._folder / "in" / f"input{suffix}"
        self._control, self._results = -1, -1
        self._pending = b""
        self.has_ended = False
        """Whether an answer did not come since nobody is there any more."""
        self._native = native()
        control_end, self._control = os.pipe()
        self._results, results_end = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._results, select.POLLIN)
        try:
            run_in = self._prepare(settings, (control_end, results_end), inject, variables or {})
            self._process = self._start(command, settings, (control_end, results_end), run_in)
        except BaseException:
            os.close(self._control)
            os.close(self._results)
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        finally:
            os.close(control_end)
            os.close(results_end)

    @property
    def _config(self) -> Path:
        return self._folder / "config"

    def _prepare(
        self,
        settings: wire.Settings,
        ends: tuple[int, int],
        inject: bool,
        variables: Mapping[str, str],
    ) -> dict[str, str]:
        """Write what the server has to know; the environment that it runs in."""
        scratch = self._folder / "scratch"
        self._config.write_bytes(wire.pack(settings, *ends, str(self.input_path), str(scratch)))
        run_in = environment(scratch, variables)
        if inject:
            run_in[wire.CONFIG_VARIABLE] = str(self._config)
            run_in[wire.PRELOAD_VARIABLE] = str(self._native.preload)
        return run_in

    def _start(
        self,
        command: Sequence[str],
        settings: wire.Settings,
        ends: tuple[int, int],
        variables: Mapping[str, str],
    ) -> subprocess.Popen[bytes]:
        words = [word.replace(INPUT_MARK, str(self.input_path)) for word in command]
        output = subprocess.PIPE if settings.flags & wire.KEEP_OUTPUT else subprocess.DEVNULL
        return subprocess.Popen(  # noqa: S603
            [self._native.warden, self._config, self._folder, *words],
            env=variables,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=ends,
        )

    @property
    def pid(self) -> int:
        """The process id of the warden."""
        return self._process.pid

    @property
    def output(self) -> IO[bytes] | None:
        """What the runs print, where it is kept."""
        return self._process.stdout

    @property
    def results(self) -> int:
        """The descriptor that records come from, for polling."""
        return self._results

    def ask(self, first_run: int, runs: int | None, seconds: float | None) -> None:
        """Ask for a batch."""
        microseconds = 0 if seconds is None else max(1, round(seconds * 1e6))
        with contextlib.suppress(BrokenPipeError):  # the missing answer tells
            os.write(self._control, wire.BATCH.pack(first_run, runs or 0, microseconds))

    def answer(self, timeout: float) -> wire.Record | None:
        """The next record; None where the server is gone, or silent for that many seconds."""
        end = None
        while len(self._pending) < wire.RECORD.size:
            end = end or time.monotonic() + timeout
            left = end - time.monotonic()
            if left < 0 or not self._poll.poll(left * 1000):
                return None
            data = os.read(self._results, 1 << 16)
            if not data:
                self.has_ended = True
                return None
            self._pending += data
        record, self._pending = (
            self._pending[: wire.RECORD.size],
            self._pending[wire.RECORD.size :],
        )
        return wire.unpack(record)

    @property
    def was_killed(self) -> bool:
        """Whether somebody killed it, or its warden; known once it is closed."""
        return self._process.returncode in (-signal.SIGKILL, wire.SERVER_KILLED)

    def close(self) -> None:
        """End the server and all that it started; its folder goes too."""
        if self._control < 0:
            return
        os.close(self._control)
        os.close(self._results)
        self._control = self._results = -1
        if self.has_ended:  # its warden says how, if it is not told to end before it knows
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        assert self._process.stdin is not None
        self._process.stdin.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:  # pragma: no cover: the machine is overloaded
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _place() -> Path | None:
    """Memory for the input files and what targets write, where there is enough of it."""
    with contextlib.suppress(OSError):
        if shutil.disk_usage(MEMORY_FOLDER).free >= MEMORY_FREE and os.access(
            MEMORY_FOLDER, os.W_OK | os.X_OK
        ):
            return MEMORY_FOLDER
    return None
