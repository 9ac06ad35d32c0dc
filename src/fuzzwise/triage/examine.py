"""One crashing input: run it, and say which bug it shows."""

from __future__ import annotations

import math
import os
import re
import shlex
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.programs import find
from fuzzwise.sanitizers import is_sanitized
from fuzzwise.text import base_name, clean
from fuzzwise.triage import gdb
from fuzzwise.triage.confined import Outcome, observe
from fuzzwise.triage.crash import BugIdentity, identify
from fuzzwise.triage.frames import CrashReport, has_sanitizer_report, parse
from fuzzwise.triage.functions import function_start
from fuzzwise.triage.names import is_noise, plain
from fuzzwise.triage.surroundings import apart
from fuzzwise.triage.symbolizer import environment

INPUT = "@@"
"""The word of a command that stands for the file with the input; without it, input is stdin."""

_FILE_BLOCKS = 1 << 17  # of 512 bytes: 64 MiB
_ENDING = re.compile(r"\.\w{1,8}")
_TRIES = 3
_SHELL = 128  # with this added, a shell passes on the signal that ended a program
_OWN_LIMITS = frozenset({signal.SIGKILL, signal.SIGXCPU, signal.SIGXFSZ})
_MAX_REPORT = 1 << 18


@dataclass(frozen=True)
class Limits:
    """What a run may use: seconds, and MiB of memory."""

    seconds: float = 10.0
    memory_mib: int = 4096

    def __post_init__(self) -> None:
        if not math.isfinite(self.seconds) or self.seconds <= 0:
            raise BadInput(f"The timeout must be a positive number of seconds, not {self.seconds}.")
        if self.memory_mib < 16:
            raise BadInput(f"The memory limit must be at least 16 MiB, not {self.memory_mib}.")


@dataclass(frozen=True)
class Verdict:
    """What became of an input: "crash", "timeout" or "none", and of a crash, which bug.

    ``file`` and ``line`` are the place in the source, empty and None where unknown; ``report`` is
    the text that the bug was told from, without control characters; ``seconds`` is how long the
    input was run, without gdb.
    """

    ending: str
    bug: BugIdentity | None = None
    summary: str = ""
    file: str = ""
    line: int | None = None
    report: str = ""
    seconds: float = field(default=0.0, compare=False)


def absolute(command: Sequence[str]) -> tuple[str, ...]:
    """The command as it works in any folder; an error if its program cannot be run."""
    if not command:
        raise BadInput("There is no command to run the inputs with.")
    name = command[0]
    found = find(name)
    if found is None:
        if Path(name).is_file():
            raise BadInput(f"{name}: is not executable. Make it so with: chmod +x {name}")
        where = "is no such file" if "/" in name else "is no such program in the PATH"
        raise BadInput(f"{name}: there {where}. Give the program that reads the inputs.")
    others = (str(Path(word).absolute()) if _is_file(word) else word for word in command[1:])
    return (str(found), *others)


def shell_line(command: Sequence[str], path: Path) -> str:
    """A line for the shell that runs the command on the input in a file."""
    name = str(path.absolute())
    line = shlex.join(word.replace(INPUT, name) for word in command)
    return line if any(INPUT in word for word in command) else f"{line} < {shlex.quote(name)}"


def examine(
    command: Sequence[str],
    data: bytes,
    name: str,
    limits: Limits,
    depth: int = 5,
    place: Path | None = None,
) -> Verdict:
    """Run a command, made by ``absolute``, on an input.

    It runs in a scratch folder in the ``place`` (that of temporary files), or where the command
    itself says (see ``surroundings``), with limits, on a copy
    of the input that ends like its name (some programs look at that). A report of a sanitizer or
    of libFuzzer tells which bug it is; without one, a fatal signal makes gdb have a look.
    """
    with tempfile.TemporaryDirectory(
        prefix="fuzzwise-", dir=place, ignore_cleanup_errors=True
    ) as scratch:
        folder = Path(scratch)
        ending = Path(name).suffix
        path = folder / f"input{ending if _ENDING.fullmatch(ending) else ''}"
        path.write_bytes(data)
        around, command = apart(command)
        words = [word.replace(INPUT, str(path)) for word in command]
        stdin = None if any(INPUT in word for word in command) else path
        sanitized = is_sanitized(Path(command[0]))
        memory = None if sanitized else limits.memory_mib
        others = {**_variables(limits, sanitized), "TMPDIR": scratch, "HOME": scratch}
        variables = around.joined(others)
        folder = around.folder or folder
        limited = ["/bin/sh", "-c", _shell(limits, memory), "sh", *words]
        began = time.monotonic()
        outcome = observe(limited, stdin, limits.seconds, variables, folder, errors_only=True)
        seconds = time.monotonic() - began
        if (seen := _from_output(outcome, depth)) is not None:
            return replace(seen, seconds=seconds)
        path.write_bytes(data)  # the first run may have changed it
        text = _from_gdb(words, stdin, limits, memory, variables, folder)
        assert outcome.status is not None
        if text is None and outcome.status > 0:
            return Verdict("none", seconds=seconds)
        seen = from_report(text or "", abs(outcome.status) % _SHELL, depth)
        return replace(seen, seconds=seconds)


def _is_file(word: str) -> bool:
    try:
        return INPUT not in word and Path(word).is_file()
    except (OSError, ValueError):
        return False


def _variables(limits: Limits, sanitized: bool) -> Mapping[str, str]:
    variables = {**os.environ, **environment()}
    if sanitized:
        variables["ASAN_OPTIONS"] += f":hard_rss_limit_mb={limits.memory_mib}"
    return variables


def _shell(limits: Limits, memory_mib: int | None) -> str:
    words = f"ulimit -c 0; ulimit -f {_FILE_BLOCKS}; ulimit -t {math.ceil(limits.seconds) + 1}; "
    if memory_mib is not None:
        words += f"ulimit -v {memory_mib * 1024}; "
    return words + 'exec "$@"'


def _from_output(outcome: Outcome, depth: int) -> Verdict | None:
    """What the end and the output of a program say by themselves; None where gdb has to look."""
    status = outcome.status
    if status is None or status == -signal.SIGXCPU:
        return Verdict("timeout")
    if has_sanitizer_report(outcome.text):
        seen = from_report(outcome.text, None, depth)
        assert seen.bug is not None
        return Verdict("timeout") if seen.bug.kind == "timeout" else seen
    number = -status if status < 0 else status - _SHELL
    if number <= 0 or number in _OWN_LIMITS:
        return Verdict("none")
    return None


def _from_gdb(
    words: list[str],
    stdin: Path | None,
    limits: Limits,
    memory_mib: int | None,
    variables: Mapping[str, str],
    folder: Path,
) -> str | None:
    """The backtrace, also of a crash that needs random addresses and a little luck."""
    # Starting gdb takes time of its own.
    seconds = limits.seconds + 10
    for attempt in range(_TRIES):
        text = gdb.backtrace(
            words,
            stdin,
            seconds,
            memory_mib,
            environment=variables,
            folder=folder,
            randomize=attempt > 0,
        )
        if text is not None:
            return text
    return None


def from_report(text: str, number: int | None = None, depth: int = 5) -> Verdict:
    """The bug that a crash report shows; ``number`` is the signal, where there was one."""
    report = parse(text)
    bug = identify(text, number, depth, function_start)
    file, line = _place(report)
    summary = report.summary if report.frames or number is None else bug.kind
    return Verdict("crash", bug, summary, file, line, _excerpt(clean(text)))


def _place(report: CrashReport) -> tuple[str, int | None]:
    """The source line of the first frame that matters."""
    for frame in report.frames:
        noise = is_noise(plain(frame.function), base_name(frame.module))
        if frame.file and (not noise or plain(frame.function) == "main"):
            return frame.file, frame.line
    return "", None


def _excerpt(text: str) -> str:
    if len(text) <= _MAX_REPORT:
        return text
    half = _MAX_REPORT // 2
    return f"{text[:half]}\n…\n{text[-half:]}"
