"""What a program needs to start: for which processor it is, its loader, its libraries."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fuzzwise.files import stamp
from fuzzwise.received import open_regular

MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}
"""Processors by their number in an ELF file, as the kernel calls them."""

LONGEST = 20.0
"""Seconds that a loader has to list libraries."""

SYSTEM = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/lib32/", "/usr/lib32/")
"""Where a system has its libraries: another one has its own."""

_INTERPRETER = 3
_LINE = re.compile(r"^\s*(\S+) => (.+?)(?: \(0x[0-9a-f]+\))?$", re.MULTILINE)


@dataclass(frozen=True)
class Elf:
    """``machine`` is "" for a processor without a name here; ``loader`` "" of a static program."""

    machine: str
    loader: str


def read_elf(path: Path) -> Elf | None:
    """What an ELF file says; None for another file, such as a script."""
    try:
        with open_regular(path) as file:
            head = file.read(64)
            if len(head) < 64 or head[:4] != b"\x7fELF" or head[5] != 1:  # little end first
                return None
            (machine,) = struct.unpack_from("<H", head, 18)
            name = MACHINES.get(machine, "")
            if head[4] != 2:  # of 32 bits
                return Elf(name, "")
            (start,) = struct.unpack_from("<Q", head, 32)
            size, count = struct.unpack_from("<HH", head, 54)
            for number in range(min(count, 256)):
                file.seek(start + number * size)
                entry = file.read(56)
                if len(entry) == 56 and struct.unpack_from("<I", entry)[0] == _INTERPRETER:
                    at, length = struct.unpack_from("<8xQ16xQ", entry)
                    file.seek(at)
                    loader = file.read(min(length, 4096)).rstrip(b"\0")
                    return Elf(name, os.fsdecode(loader))
            return Elf(name, "")
    except (OSError, struct.error):
        return None


def libraries(program: Path, elf: Elf, beside: str = "") -> dict[str, str]:
    """The libraries of a program and where its loader finds them; "" where it does not.

    The loader is run, not the program. ``beside`` is a value for LD_LIBRARY_PATH.
    """
    if not elf.loader:
        return {}
    try:
        key = (str(program), stamp(program), elf.loader, beside)
    except OSError:
        return {}
    if key in _COMPLETE:
        return _COMPLETE[key]
    found = _listed(program, elf, beside)
    if found and all(found.values()):
        _COMPLETE[key] = found
    return found


_COMPLETE: dict[tuple[object, ...], dict[str, str]] = {}
"""Of programs that lack nothing, as long as they look the same: many targets may be of one."""


def _listed(program: Path, elf: Elf, beside: str) -> dict[str, str]:
    try:
        asked = subprocess.run(  # noqa: S603
            [elf.loader, "--list", program],
            env={**os.environ, **({"LD_LIBRARY_PATH": beside} if beside else {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LONGEST,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found = _LINE.findall(asked.stdout.decode(errors="surrogateescape"))
    return {name: "" if place == "not found" else place for name, place in found}


def of_the_user(found: dict[str, str]) -> list[Path]:
    """Those libraries that no system has by itself."""
    return [Path(place) for place in found.values() if place and not place.startswith(SYSTEM)]
