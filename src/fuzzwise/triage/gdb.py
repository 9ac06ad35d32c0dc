"""Backtraces from gdb, for targets that are built without sanitizers."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.programs import find
from fuzzwise.text import clean
from fuzzwise.triage.confined import observe
from fuzzwise.triage.faults import Fault, explain
from fuzzwise.triage.functions import base_address
from fuzzwise.triage.stack_lines import MAX_FRAMES

_CRASHES = "SIGSEGV SIGBUS SIGILL SIGFPE SIGABRT SIGSYS"
_FAULT = re.compile(r"fuzzwise-fault (-?\d{1,9})" + 3 * r" ([0-9a-f]{1,16})")
_DESTINATION = re.compile(r"fuzzwise-destination ([0-9a-f]{1,16})")
_INSTRUCTION = re.compile(r"=> 0x[0-9a-f]{1,16}(?: <[^>]*>)?: *(.*)")
_BAD_ACCESS = re.compile(r" received signal SIG(?:SEGV|BUS)\b")
_NAMELESS = re.compile(r"#(\d{1,6}) +(0x[0-9a-f]{1,16}) in \?\? \(\).*")
_MAPPING = re.compile(r" *0x([0-9a-f]{1,16}) +0x([0-9a-f]{1,16}) [^/\[]*([/\[].*|)")
_MAX_FILE_BLOCKS = 1 << 17  # of 512 bytes: 64 MiB


def backtrace(
    command: list[str],
    stdin: Path | None,
    timeout: float,
    memory_mib: int | None = 4096,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    randomize: bool = False,
) -> str | None:
    """The backtrace of a command that crashes on its standard input, or None if it does not.

    The command runs in the folder (default: this one), without a terminal, its output discarded,
    with limits on its processor time (the timeout), file size, core files and address space (None
    for no limit there, which programs built with sanitizers need). At the end, or at the timeout,
    in seconds, whatever is left of its session is killed; a command that hangs does not crash.
    Addresses are the same in every run, unless ``randomize`` is set.

    The text is for ``frames.parse``: frames without a name carry their module and their address
    there. Names come from the program and its libraries themselves: separate debug files that may
    or may not be installed for them are left out, so that a bug has the same name on every machine
    (and as loading those of the C library takes most of gdb's time).
    """
    gdb, program = _programs(command)
    if not math.isfinite(timeout) or timeout <= 0:
        raise BadInput(f"The timeout of gdb must be a positive number of seconds, not {timeout}.")
    options = _arguments(gdb, timeout, memory_mib, randomize)
    arguments = [*options, "--args", program, *command[1:]]
    # gdb starts the program with the shell of the user, whichever that is; its own messages are
    # read below, in English.
    variables = {**(environment or os.environ), "SHELL": "/bin/sh", "LANGUAGE": "en"}
    outcome = observe(arguments, stdin, timeout, variables, folder)
    if outcome.status is None:
        return None
    lines = clean(outcome.text).split("\n")
    if any(" received signal " in line for line in lines):
        return "\n".join(_readable(lines))
    _check_ran(program, lines)
    return None


def _programs(command: list[str]) -> tuple[str, str]:
    """Where gdb is, and the program of the command."""
    gdb = find("gdb")
    if gdb is None:
        raise BadInput("gdb is not installed. Install it with: apt-get install gdb")
    program = find(command[0]) if command else None
    if program is None:
        raise BadInput(f"There is no program to run in the command {command}.")
    return str(gdb), str(program)


def _check_ran(program: str, lines: list[str]) -> None:
    """Refuse a program that gdb did not even start, by what it said instead."""
    ended = any("exited " in line or "terminated with signal" in line for line in lines)
    if not ended or any(line.startswith("During startup") for line in lines):
        said = next((line for line in lines if line and not _is_table(line)), "no reason given")
        raise BadInput(
            f"gdb cannot run {program}: {said.rstrip('.')}. It must be a program, not a script, "
            "and gdb must be allowed to trace it."
        )


def _arguments(gdb: str, timeout: float, memory_mib: int | None, randomize: bool) -> list[str]:
    limits = f"ulimit -c 0; ulimit -f {_MAX_FILE_BLOCKS}; ulimit -t {math.ceil(timeout) + 1}"
    if memory_mib is not None:
        limits += f"; ulimit -v {memory_mib * 1024}"
    fault = "$_siginfo.si_code, $_siginfo._sifields._sigfault.si_addr, $sp, $pc"
    commands = (
        # Only what kills a program is a crash: programs handle other signals as they please.
        "handle all nostop noprint pass",
        f"handle {_CRASHES} stop print",
        "set print frame-arguments none",
        "set width 0",
        "set disassembly-flavor att",
        f"set disable-randomization {'off' if randomize else 'on'}",
        f"set exec-wrapper /bin/sh -c '{limits}; exec \"$@\" >/dev/null 2>&1' sh",
        "run",
        f'printf "fuzzwise-fault %d %lx %lx %lx\\n", {fault}',
        'printf "fuzzwise-destination %lx\\n", $rdi',
        "x/i $pc",
        f"backtrace {MAX_FRAMES}",
        "info proc mappings",
    )
    # Neither scripts that come with the target nor files and servers for debug information.
    start = ("set auto-load no", "set debuginfod enabled off", "set debug-file-directory /dev/null")
    return [
        *(gdb, "-q", "-nx", "-batch"),
        *(word for command in start for word in ("-iex", command)),
        *(word for command in commands for word in ("-ex", command)),
    ]


def _is_table(line: str) -> bool:
    return line.startswith(("Signal ", "SIG", "EXC_"))


def _readable(lines: list[str]) -> list[str]:
    """The lines of gdb with the fault explained and frames without a name located."""
    mappings = [
        (int(match[1], 16), int(match[2], 16), match[3].strip())
        for line in lines
        if (match := _MAPPING.fullmatch(line))
    ]
    result: list[str] = []
    for line in lines:
        if line.startswith("process "):  # the mappings, which come last
            break
        if _FAULT.fullmatch(line):
            line = _explained(lines)
        elif _DESTINATION.fullmatch(line) or _INSTRUCTION.fullmatch(line):
            continue
        elif match := _NAMELESS.fullmatch(line):
            number, address = int(match[1]), int(match[2], 16)
            place = _locate(address, mappings, called=number > 0)
            if place is None and number > 0:
                break  # no code is there: the stack is overwritten, and what follows is chance
            line = f"#{number}  {match[2]} ({place})" if place else line
        if line and not _is_table(line):
            result.append(line)
    return result


def _explained(lines: list[str]) -> str:
    def first(pattern: re.Pattern[str]) -> re.Match[str] | None:
        return next((match for line in lines if (match := pattern.fullmatch(line))), None)

    found, destination, instruction = map(first, (_FAULT, _DESTINATION, _INSTRUCTION))
    if found is None or not any(_BAD_ACCESS.search(line) for line in lines):
        return ""
    return explain(
        Fault(
            code=int(found[1]),
            address=int(found[2], 16),
            stack_pointer=int(found[3], 16),
            program_counter=int(found[4], 16),
            instruction=instruction[1] if instruction else "",
            destination=int(destination[1], 16) if destination else None,
        )
    )


def _locate(address: int, mappings: list[tuple[int, int, str]], called: bool) -> str | None:
    """The module and the address in it; empty for memory of no module, None for no memory.

    For an address that a call returns to, it is that of the call, as sanitizers do: behind a call
    that never returns, another function may begin.
    """
    module = next((path for start, end, path in mappings if start <= address < end), None)
    if module is None:
        return None
    loaded = min(start for start, _, path in mappings if path == module)
    if not module.startswith("/"):
        return ""
    return f"{module}+{address - loaded + base_address(module) - called:#x}"
