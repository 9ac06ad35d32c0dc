"""Backtraces from gdb, for targets that are built without sanitizers."""

from __future__ import annotations

import math
import os
import re
import shutil
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.triage.frames import MAX_FRAMES
from fuzzwise.triage.kinds import STACK_EXHAUSTED, ZERO_PAGE
from fuzzwise.triage.session import run
from fuzzwise.triage.text import clean

_CRASHES = "SIGSEGV SIGBUS SIGILL SIGFPE SIGABRT SIGSYS"
_FAULT = re.compile(r"fuzzwise-fault (-?\d{1,9}) ([0-9a-f]{1,16}) ([0-9a-f]{1,16})")
_NAMELESS = re.compile(r"(#\d{1,6} +)(0x[0-9a-f]{1,16}) in \?\? \(\).*")
_MAPPING = re.compile(r" *0x([0-9a-f]{1,16}) +0x([0-9a-f]{1,16}) [^/\[]*(/.*)")
_UNTOLD = 128  # the si_code of a fault whose address the processor does not tell
_PAGE = 4096
_MAX_FILE_BLOCKS = 1 << 17  # of 512 bytes: 64 MiB


def backtrace(
    command: list[str], stdin: Path | None, timeout: float, memory_mib: int | None = 4096
) -> str | None:
    """The backtrace of a command that crashes on its standard input, or None if it does not.

    The command runs without a terminal, its output discarded, with limits on its processor time
    (the timeout), file size, core files and address space (None for no limit there, which
    programs built with sanitizers need). At the end, or at the timeout, in seconds, whatever is
    left of its session is killed; a command that hangs does not crash. The text is for
    ``frames.parse``: frames without a name carry their module and offset.
    """
    gdb = shutil.which("gdb")
    if gdb is None:
        raise BadInput("gdb is not installed. Install it with: apt-get install gdb")
    program = shutil.which(command[0]) if command else None
    if program is None:
        raise BadInput(f"There is no program to run in the command {command}.")
    if not math.isfinite(timeout) or timeout <= 0:
        raise BadInput(f"The timeout of gdb must be a positive number of seconds, not {timeout}.")
    arguments = [*_arguments(gdb, timeout, memory_mib), "--args", program, *command[1:]]
    # gdb starts the program with the shell of the user, whichever that is; its own messages are
    # read below, in English.
    environment = os.environ | {"SHELL": "/bin/sh", "LANGUAGE": "en"}
    text = run(arguments, stdin, timeout, environment)
    if text is None:
        return None
    lines = clean(text).split("\n")
    if any(" received signal " in line for line in lines):
        return "\n".join(_readable(lines))
    ended = any("exited " in line or "terminated with signal" in line for line in lines)
    if not ended or any(line.startswith("During startup") for line in lines):
        said = next((line for line in lines if line and not _is_table(line)), "no reason given")
        raise BadInput(
            f"gdb cannot run {program}: {said.rstrip('.')}. It must be a program, not a script, "
            "and gdb must be allowed to trace it."
        )
    return None


def _arguments(gdb: str, timeout: float, memory_mib: int | None) -> list[str]:
    limits = f"ulimit -c 0; ulimit -f {_MAX_FILE_BLOCKS}; ulimit -t {math.ceil(timeout) + 1}"
    if memory_mib is not None:
        limits += f"; ulimit -v {memory_mib * 1024}"
    fault = "$_siginfo.si_code, $_siginfo._sifields._sigfault.si_addr, $sp"
    commands = (
        # Only what kills a program is a crash: programs handle other signals as they please.
        "handle all nostop noprint pass",
        f"handle {_CRASHES} stop print",
        "set print frame-arguments none",
        f"set exec-wrapper /bin/sh -c '{limits}; exec \"$@\" >/dev/null 2>&1' sh",
        "run",
        f'printf "fuzzwise-fault %d %lx %lx\\n", {fault}',
        f"backtrace {MAX_FRAMES}",
        "info proc mappings",
    )
    # Neither scripts that come with the target nor servers for debug information.
    start = ("set auto-load no", "set debuginfod enabled off")
    return [
        *(gdb, "-q", "-nx", "-batch"),
        *(word for command in start for word in ("-iex", command)),
        *(word for command in commands for word in ("-ex", command)),
    ]


def _is_table(line: str) -> bool:
    return line.startswith(("Signal ", "SIG", "EXC_"))


def _readable(lines: list[str]) -> list[str]:
    """The lines of gdb with faults explained and frames without a name located."""
    mappings = [
        (int(match[1], 16), int(match[2], 16), match[3])
        for line in lines
        if (match := _MAPPING.fullmatch(line))
    ]
    result: list[str] = []
    for line in lines:
        if line.startswith("process "):  # the mappings, which come last
            break
        if match := _FAULT.fullmatch(line):
            line = _hint(int(match[1]), int(match[2], 16), int(match[3], 16))
        elif match := _NAMELESS.fullmatch(line):
            place = _locate(int(match[2], 16), mappings)
            line = f"{match[1]}{match[2]} ({place})" if place else line
        if line and not _is_table(line):
            result.append(line)
    return result


def _hint(code: int, address: int, stack_pointer: int) -> str:
    if code == _UNTOLD or code <= 0:
        return ""
    if address < _PAGE:
        return ZERO_PAGE
    # The rule by which AddressSanitizer tells an exhausted stack from other faults.
    if stack_pointer - 512 < address < stack_pointer + 0xFFFF:
        return STACK_EXHAUSTED
    return ""


def _locate(address: int, mappings: list[tuple[int, int, str]]) -> str | None:
    module = next((path for start, end, path in mappings if start <= address < end), None)
    if module is None:
        return None
    return f"{module}+{address - min(start for start, _, path in mappings if path == module):#x}"
