"""What is wrong with a target, found before time is spent on it."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from fuzzwise.engines.blackbox import wire
from fuzzwise.engines.blackbox.model import Limits, Target
from fuzzwise.engines.blackbox.server import Server
from fuzzwise.engines.blackbox.single import SLACK, next_outcome, single_server
from fuzzwise.errors import BadInput

RUNS = 6
"""The first run puts the input file in place; the others are watched for whether they read it.

Several of them, since some programs crash on their seed only now and then."""

LONG_AGO = 1000
TRIES = 3
"""Servers in a row that may end without an answer, and runs that may be late or killed: one or two
may have been killed by somebody, or have had no time on a busy machine."""

MAY_BE_CHANCE = (wire.Type.HANG, wire.Type.OUT_OF_MEMORY)
"""How a run ends that is late, or was killed."""


def check(
    target: Target, limits: Limits | None = None, stop: threading.Event | None = None
) -> list[str]:
    """Sentences about a program that is missing, ignores its input, or fails on its seed.

    Once ``stop`` is set nothing is tried again, and what might be chance is not told.

    Reading is told from the time of the file's last access, which a mapping (mmap) changes as
    well; where the file system keeps no such times (noatime), nothing is said about it.
    """
    within = limits or Limits()
    name = target.name or " ".join(target.command)
    said: list[str] = []
    for _ in range(TRIES):
        try:
            server = single_server(target, within, 0)
            try:
                return _problems(server, target, within, name, stop or threading.Event())
            finally:
                server.close()
        except BadInput as problem:
            said = [f"{name}: {problem}"]
    return said


def _problems(
    server: Server, target: Target, limits: Limits, name: str, stop: threading.Event
) -> list[str]:
    for run in range(RUNS):
        if run and not _age(server.input_path):
            return []  # a program that removes or moves its input knows of it
        for _ in range(TRIES):
            server.ask(0, 1, None)
            record = next_outcome(server, limits.seconds + SLACK, target.command[0])
            server.answer(SLACK)  # the mark at the end of the batch
            if record.type not in MAY_BE_CHANCE:
                break
            if stop.is_set():
                return []
        if problem := _failure(record, limits):
            return [f"{name}: {problem}"]
    if _was_read(server.input_path):
        return []
    where = "standard input" if target.reads_stdin else "the file that @@ stands for"
    return [
        f"{name}: the program never reads its input, {where}. Correct the command: @@ is replaced "
        "by the input file; without it the input comes by standard input."
    ]


def _age(path: Path) -> bool:
    try:
        os.utime(path, (LONG_AGO, LONG_AGO))
    except OSError:
        return False
    return True


def _was_read(path: Path) -> bool:
    try:
        return path.stat().st_atime != LONG_AGO or bool(os.statvfs(path).f_flag & os.ST_NOATIME)
    except OSError:
        return True


def _failure(record: wire.Record, limits: Limits) -> str:
    if record.type == wire.Type.CRASH:
        return (
            f"the program crashes on its unchanged seed ({signal.Signals(record.signal).name}). "
            "Take another seed: every mutant would show this crash, and hide others."
        )
    if record.type == wire.Type.HANG:
        return (
            f"the program runs longer than {limits.seconds:g} s on its unchanged seed. "
            "Raise the time limit of a run or take a smaller seed."
        )
    if record.type == wire.Type.OUT_OF_MEMORY:
        return (
            f"the program needs more than {limits.memory_mib} MiB on its unchanged seed. "
            "Raise the memory limit of a run or take a smaller seed."
        )
    return ""
