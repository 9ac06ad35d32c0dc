"""Batches of runs of one target."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from fuzzwise.engines.blackbox import wire
from fuzzwise.engines.blackbox.model import MODES, Event, Limits, Mutation, Target
from fuzzwise.engines.blackbox.mutation import check_seeds
from fuzzwise.engines.blackbox.program import (
    find_program,
    is_injectable,
    user_tasks,
)
from fuzzwise.engines.blackbox.server import Server
from fuzzwise.errors import BadInput
from fuzzwise.sanitizers import is_sanitized

HANDSHAKE = 10.0
"""Seconds within which a server must say that it is there."""

SILENCE = 60.0
"""Seconds without a word, beyond a run's own limit, after which a server counts as dead."""

FRUITLESS_STARTS = 3
KINDS = {
    wire.Type.CRASH: "crash",
    wire.Type.HANG: "hang",
    wire.Type.OUT_OF_MEMORY: "out-of-memory",
    wire.Type.MARK: "mark",
    wire.Type.END: "mark",
}


class Runner:
    """Runs a target on its mutated seed; a context manager, at whose end nothing is left.

    ``mode`` is ``fork-server``, ``spawn``, or ``auto``: the first where it works. Afterwards
    ``.mode`` says which it is, ``.restarts`` how often a server had to be started again.
    """

    def __init__(
        self,
        target: Target,
        random_seed: int = 0,
        mutation: Mutation | None = None,
        limits: Limits | None = None,
        mode: str = "auto",
    ) -> None:
        if mode not in MODES:
            raise BadInput(f"There is no mode {mode!r}; the modes are {', '.join(MODES)}.")
        mutation, limits = mutation or Mutation(), limits or Limits()
        check_seeds(target.seed, random_seed, mutation)
        self._program = find_program(target.command[0])
        self._target = target
        self._settings = wire.Settings(
            target.seed,
            random_seed,
            mutation,
            limits,
            flags=wire.READS_STDIN if target.reads_stdin else 0,
            sanitized=is_sanitized(self._program),
            user_tasks=user_tasks(limits.processes),
        )
        self.mode = mode
        self.restarts = 0
        self._server: Server | None = None
        self._first_server()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process that guards the server; None where there is none right now."""
        return self._server.pid if self._server else None

    def close(self) -> None:
        """End the server and everything that it started."""
        if self._server:
            self._server.close()
        self._server = None

    def run(
        self, first_run: int, runs: int | None = None, seconds: float | None = None
    ) -> Iterator[Event]:
        """Run the inputs ``first_run``, ``first_run + 1``, … and yield what happens.

        The batch ends after so many runs or seconds, whichever comes first; its last event is a
        mark. A run that is under way when the time is over is finished and counted.
        """
        if runs is None and seconds is None:
            raise BadInput("A batch needs an end: a number of runs, or of seconds.")
        if (
            first_run < 0
            or (runs is not None and runs < 1)
            or (seconds is not None and seconds <= 0)
        ):
            raise BadInput(
                f"A batch of {runs} runs and {seconds} seconds from run {first_run} on cannot be "
                "run; expected at least one run, a positive time, and a first run of 0 or more."
            )
        return self._events(first_run, runs, seconds)

    def _events(self, first_run: int, runs: int | None, seconds: float | None) -> Iterator[Event]:
        start = time.monotonic()
        next_run, offset, fruitless = first_run, 0, 0
        finished = False
        try:
            while not finished:
                server = self._server or self._start(self.mode == "fork-server")
                self._server = server
                left = None if seconds is None else max(seconds - offset / 1e6, 1e-6)
                server.ask(next_run, None if runs is None else first_run + runs - next_run, left)
                while record := server.answer(self._settings.limits.seconds + SILENCE):
                    if record.type == wire.Type.REFUSED:
                        raise BadInput(self._refusal(record.exit_code))
                    fruitless = 0
                    next_run = max(next_run, record.run + 1)
                    finished = record.type == wire.Type.END
                    yield _event(record, offset)
                    if finished:
                        return
                fruitless += 1
                self._restart(fruitless, next_run)
                offset = round((time.monotonic() - start) * 1e6)
                if runs is not None and next_run >= first_run + runs:  # it died after its last run
                    finished = True
                    yield Event("mark", next_run - 1, offset)
        finally:
            if not finished:
                self.close()  # an abandoned batch would go on in the background

    def _restart(self, fruitless: int, run: int) -> None:
        self.close()
        self.restarts += 1
        if fruitless >= FRUITLESS_STARTS:
            raise BadInput(
                f"{self._program} ended the process that runs it {fruitless} times in a row, at or "
                f"soon after run {run}; try it in a container of its own, or with mode='spawn'."
            )

    def _first_server(self) -> None:
        if self.mode == "auto" and not is_injectable(self._program):
            self.mode = "spawn"
        if self.mode != "spawn":
            try:
                self._server = self._start(inject=True)
                self.mode = "fork-server"
                return
            except BadInput:
                if self.mode == "fork-server":
                    raise
        self._server = self._start(inject=False)
        self.mode = "spawn"

    def _start(self, inject: bool) -> Server:
        for _ in range(FRUITLESS_STARTS):
            server = self._try_to_start(inject)
            if server is not None:
                return server
        raise self._no_start(inject)

    def _try_to_start(self, inject: bool) -> Server | None:
        """A server; None where it was killed, or came too late: another may do better."""
        server = Server(
            [str(self._program), *self._target.command[1:]],
            self._settings,
            inject=inject,
            suffix=self._target.suffix,
            variables=self._target.environment,
        )
        hello = server.answer(HANDSHAKE)
        if hello is not None and hello.type == wire.Type.HELLO:
            return server
        is_late = not server.has_ended
        server.close()
        if hello is not None:
            raise BadInput(self._refusal(hello.exit_code))
        if server.was_killed or (is_late and not (inject and self.mode == "auto")):
            return None
        raise self._no_start(inject)

    def _no_start(self, inject: bool) -> BadInput:
        return BadInput(
            f"The fork server did not start inside {self._program}; use mode='spawn' (or 'auto', "
            "which tries both)."
            if inject
            else f"The process that runs {self._program} did not start; is the machine overloaded?"
        )

    def _refusal(self, error: int) -> str:
        return (
            f"{self._program} cannot be run: {os.strerror(error)}. Check that it is a program for "
            "this machine, and that there is free disk space and memory."
        )


def _event(record: wire.Record, offset: int) -> Event:
    return Event(
        KINDS[record.type],
        record.run,
        record.microseconds + offset,
        record.signal,
        record.trace,
        record.input_hash,
        record.input_length,
    )
