"""One run of one given input, in the same confinement as a fuzzing run."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Mapping, Sequence

from fuzzwise.engines.blackbox import wire
from fuzzwise.engines.blackbox.model import Limits, Mutation, Outcome, Target
from fuzzwise.engines.blackbox.program import find_program, user_tasks
from fuzzwise.engines.blackbox.server import Server
from fuzzwise.errors import BadInput
from fuzzwise.sanitizers import is_sanitized

SLACK = 60.0
KEPT_HEAD, KEPT_TAIL = 1 << 16, 1 << 18
KINDS = {
    wire.Type.CRASH: "crash",
    wire.Type.HANG: "hang",
    wire.Type.OUT_OF_MEMORY: "out-of-memory",
    wire.Type.EXIT: "exit",
}


def execute(
    command: Sequence[str],
    data: bytes,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    suffix: str = "",
) -> Outcome:
    """Run a command (``@@`` or standard input) on ``data`` once; say how it ended.

    The output is that of standard output and standard error together: of a long one the first
    64 KiB and the last 256 KiB, where sanitizers report. It may contain any bytes.
    """
    with_limits = limits or Limits()
    server = single_server(
        Target(tuple(command), data, suffix=suffix, environment=environment or {}),
        with_limits,
        wire.KEEP_OUTPUT,
    )
    try:
        server.ask(0, 1, None)
        return _wait(server, with_limits.seconds + SLACK, command[0])
    finally:
        server.close()


def single_server(target: Target, limits: Limits, flags: int) -> Server:
    """A server that spawns the target on its unchanged seed and reports each run."""
    program = find_program(target.command[0])
    settings = wire.Settings(
        target.seed,
        0,
        Mutation(max_length=max(1, len(target.seed))),
        limits,
        flags=flags | wire.REPORT_ALL | (wire.READS_STDIN if target.reads_stdin else 0),
        sanitized=is_sanitized(program),
        user_tasks=user_tasks(limits.processes),
    )
    server = Server(
        [str(program), *target.command[1:]],
        settings,
        inject=False,
        suffix=target.suffix,
        variables=target.environment,
    )
    hello = server.answer(SLACK)
    if hello is None or hello.type != wire.Type.HELLO:
        server.close()
        raise BadInput(f"The process that runs {program} did not start; is there memory left?")
    return server


def next_outcome(server: Server, timeout: float, program: str) -> wire.Record:
    """The end of a run; BadInput where the program cannot be started."""
    while record := server.answer(timeout):
        if record.type == wire.Type.REFUSED:
            raise BadInput(
                f"{program} cannot be run: {os.strerror(record.exit_code)}. "
                "Check that it is a program for this machine."
            )
        if record.type in KINDS:
            return record
    raise BadInput(f"{program} ended the process that ran it; try it in a container of its own.")


def _wait(server: Server, timeout: float, program: str) -> Outcome:
    """Read the output while the run goes on, so that it never blocks; nothing survives a run."""
    stream = server.output
    assert stream is not None
    output = _Output()
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    poll.register(server.results, select.POLLIN)
    end = time.monotonic() + timeout
    while (left := end - time.monotonic()) > 0:
        ready = {descriptor for descriptor, _ in poll.poll(left * 1000)}
        if stream.fileno() in ready:
            output.add(os.read(stream.fileno(), 1 << 16))
        elif ready:
            break
    record = next_outcome(server, max(0.0, end - time.monotonic()), program)
    while poll_once(stream.fileno()):
        chunk = os.read(stream.fileno(), 1 << 16)
        if not chunk:
            break
        output.add(chunk)
    return Outcome(KINDS[record.type], record.signal, record.exit_code, output.kept())


def poll_once(descriptor: int) -> bool:
    """Whether there is something to read right now."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


class _Output:
    """The beginning and the end of a stream of any length."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._left_out = 0

    def add(self, chunk: bytes) -> None:
        room = KEPT_HEAD - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * KEPT_TAIL:
            self._cut()

    def kept(self) -> bytes:
        self._cut()
        gap = f"\n[{self._left_out} bytes left out]\n".encode() if self._left_out else b""
        return bytes(self._head) + gap + bytes(self._tail)

    def _cut(self) -> None:
        over = max(0, len(self._tail) - KEPT_TAIL)
        self._left_out += over
        del self._tail[:over]
