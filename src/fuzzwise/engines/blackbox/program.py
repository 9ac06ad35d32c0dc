"""What can be said of a program before it runs, and the environment that it runs in."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Mapping
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.programs import find
from fuzzwise.sanitizers import MAY_WRAP

ABORT = "abort_on_error=1:symbolize=0"
SANITIZER_OPTIONS = {
    # gcc's runtime, a shared library, insists on being loaded before any other unless told.
    "ASAN_OPTIONS": f"{ABORT}:detect_leaks=0:allocator_may_return_null=1:verify_asan_link_order=0",
    "UBSAN_OPTIONS": f"{MAY_WRAP}:{ABORT}:halt_on_error=1",
    "MSAN_OPTIONS": f"{ABORT}:allocator_may_return_null=1",
    "TSAN_OPTIONS": f"{ABORT}:halt_on_error=1",
}
_INTERPRETER = 3  # PT_INTERP


def find_program(name: str) -> Path:
    """The absolute path of a command's first word; BadInput where it cannot be run."""
    if found := find(name):
        return found
    path = Path(name)
    if "/" not in name:
        raise BadInput(f"The program {name!r} is not on PATH; install it or give its path.")
    if not path.exists():
        raise BadInput(f"The program {name} does not exist; build it or correct the path.")
    if path.is_dir():
        raise BadInput(f"The program {name} is a folder; give the path of an executable file.")
    raise BadInput(f"The program {name} is not executable; run: chmod +x {name}")


def is_injectable(program: Path) -> bool:
    """Whether LD_PRELOAD has a chance: no set-uid program and no static one."""
    if program.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        return False
    with program.open("rb") as file:
        head = file.read(64)
        if head[:2] == b"#!":
            return True  # into its interpreter, if that one is dynamic
        if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
            return False
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        table = file.read(size * count)
    kinds = {struct.unpack_from("<I", table, at)[0] for at in range(0, len(table) - 3, size or 4)}
    return _INTERPRETER in kinds


def environment(scratch: Path, added: Mapping[str, str]) -> dict[str, str]:
    """The variables of a run: a home of its own, and sanitizers that abort at an error.

    Options in ``added`` come last, so that they win; options of other sanitizers are then left
    alone, since all of them reach a program that is built with several.
    """
    variables = os.environ | {"HOME": str(scratch), "TMPDIR": str(scratch)} | dict(added)
    given = SANITIZER_OPTIONS.keys() & added.keys()
    for name in given or SANITIZER_OPTIONS.keys():
        words = (os.environ.get(name), SANITIZER_OPTIONS[name], added.get(name))
        variables[name] = ":".join(word for word in words if word)
    return variables


def user_tasks(processes: int) -> int:
    """A bound on the user's tasks that stops fork bombs; 0, none, for root, who is exempt.

    The kernel counts all tasks of the user, so there is room for others beside the run.
    """
    user = os.getuid()
    if user == 0:
        return 0
    tasks = 0
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and folder.stat().st_uid == user:
                tasks += sum(1 for _ in (folder / "task").iterdir())
        except OSError:
            continue  # it ended meanwhile
    return tasks + processes + 512
