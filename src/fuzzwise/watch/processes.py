"""The processes that write a fuzzer's files, as far as Linux tells.

They may be sent a signal, and the files may come from somebody else: a number in a file is no
proof, nor is a link to the file of another campaign. A process counts if it is the user's own and
has the very file, or the very folder, open.
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

PROC = Path("/proc")

_NOT_FUZZERS = frozenset(
    {
        *(
            "bash",
            "busybox",
            "cat",
            "dash",
            "emacs",
            "env",
            "fish",
            "head",
            "ksh",
            "less",
            "logger",
        ),
        *("more", "multilog", "nano", "nohup", "rsyslogd", "screen", "script", "sh", "sshd", "su"),
        *("stdbuf", "sudo", "systemd", "tail", "tee", "timeout", "tmux", "ts", "vi", "vim", "zsh"),
    }
)
_MARK = b"libFuzzer: "


def is_afl_fuzz(pid: int, before: float, folder: Path) -> bool:
    """Whether the process is the afl-fuzz of a folder, and was there at that time (Unix time).

    A number of a process is used again: one that began later is another one. afl-fuzz has the
    folder of its instance open as long as it runs; a link to that of another one does not count.
    """
    if not _is_own(pid) or not _has_open(pid, _place(folder)):
        return False
    words = _command(pid)
    name = os.path.basename(os.fsdecode(words[0])) if words else ""  # noqa: PTH119
    began = _began(pid)
    return "afl-fuzz" in name and began is not None and began <= before + 2


def writers(path: Path) -> list[int]:
    """Own processes that have the file open to write, or write it through ``tee``; of a link none.

    Whoever trusts a link resolves it before.
    """
    wanted = _place(path)
    found: list[int] = []
    for pid in _own_processes():
        if not _has_open(pid, wanted, to_write=True):
            continue
        if _name(pid) == "tee":
            found += _feeders(pid)
        else:
            found.append(pid)
    return [pid for pid in dict.fromkeys(found) if _name(pid) not in _NOT_FUZZERS]


def is_libfuzzer(pid: int) -> bool:
    """Whether the program of a process, or a library it has loaded, holds libFuzzer."""
    return any(_holds_libfuzzer(*identity) for identity in _programs(pid))


def is_go_fuzzer(pid: int) -> bool:
    """Whether a process is a test of Go that is fuzzed: not the command go, nor a worker."""
    words = _command(pid)[1:]
    is_fuzzing = any(word.startswith((b"-test.fuzz=", b"--test.fuzz=")) for word in words)
    return is_fuzzing and b"-test.fuzzworker" not in words


def ancestors_like(pid: int) -> list[int]:
    """Processes above that run the same program: libFuzzer's -jobs starts itself."""
    program = _link(PROC / str(pid) / "exe")
    found: list[int] = []
    current = pid
    while program and (parent := _parent(current)) > 1 and len(found) < 8:
        if _link(PROC / str(parent) / "exe") == program:
            found.append(parent)
        elif _name(parent) not in _NOT_FUZZERS:
            break
        current = parent
    return found


def descendants_like(pid: int) -> list[int]:
    """Processes below that run the same program: libFuzzer's -fork starts itself."""
    program = _link(PROC / str(pid) / "exe")
    return [
        other
        for other in _own_processes()
        if other != pid
        and _link(PROC / str(other) / "exe") == program
        and pid in ancestors_like(other)
    ]


def lock_holders(path: Path) -> list[int]:
    """Own processes that hold a lock (flock) on the file, and may write it.

    None for a link, and for a file that is in another folder as well: that may be another's lock.
    """
    try:
        info = path.lstat()
        lines = (PROC / "locks").read_text().splitlines()
    except OSError:
        return []
    if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1:
        return []
    where = f"{os.major(info.st_dev):02x}:{os.minor(info.st_dev):02x}:{info.st_ino}"
    words = (line.split() for line in lines)
    pids = [int(w[4]) for w in words if len(w) > 5 and w[5] == where and w[4].isdigit()]
    wanted = info.st_dev, info.st_ino
    return [pid for pid in pids if _is_own(pid) and _has_open(pid, wanted, to_write=True)]


def _place(path: Path) -> tuple[int, int] | None:
    """What a file or a folder is for the kernel; of a link, what the link itself is."""
    try:
        info = path.lstat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _has_open(pid: int, wanted: tuple[int, int] | None, *, to_write: bool = False) -> bool:
    return any(
        (info := _stat(link)) is not None
        and (info.st_dev, info.st_ino) == wanted
        and (not to_write or _is_for_writing(pid, link.name))
        for link in _files(pid)
    )


def _is_own(pid: int) -> bool:
    info = _stat(PROC / str(pid))
    return info is not None and info.st_uid == os.geteuid()


def _feeders(pid: int) -> list[int]:
    """Processes whose output is the pipe that another one reads."""
    pipe = _link(PROC / str(pid) / "fd" / "0")
    if not pipe.startswith("pipe:"):
        return []
    return [
        other
        for other in _own_processes()
        if other != pid
        and any(_link(PROC / str(other) / "fd" / number) == pipe for number in ("1", "2"))
    ]


def _own_processes() -> Iterator[int]:
    me = os.getpid()
    try:
        entries = [int(name) for name in os.listdir(PROC) if name.isdigit()]  # noqa: PTH208
    except OSError:
        return
    for pid in entries:
        if pid != me and _is_own(pid):
            yield pid


def _files(pid: int) -> Iterable[Path]:
    folder = PROC / str(pid) / "fd"
    try:
        return [folder / name for name in os.listdir(folder)]  # noqa: PTH208
    except OSError:
        return []


def _is_for_writing(pid: int, descriptor: str) -> bool:
    try:
        lines = (PROC / str(pid) / "fdinfo" / descriptor).read_text().splitlines()
    except OSError:
        return False
    flags = next((line.split()[1] for line in lines if line.startswith("flags:")), "0")
    return int(flags, 8) & (os.O_WRONLY | os.O_RDWR) != 0


def _programs(pid: int) -> Iterator[tuple[str, int, int]]:
    """The program of a process and its fuzzing libraries, with size and time of change."""
    names = [str(PROC / str(pid) / "exe")]
    try:
        maps = (PROC / str(pid) / "maps").read_bytes().splitlines()
    except OSError:
        maps = []
    for line in maps:
        name = os.fsdecode(line.split(None, 5)[-1])
        if name.startswith("/") and any(word in name.lower() for word in ("atheris", "fuzz")):
            names.append(name)
    for name in dict.fromkeys(names):
        info = _stat(Path(name))
        if info is not None:
            yield _link(Path(name)) or name, info.st_size, info.st_mtime_ns


@lru_cache(maxsize=256)
def _holds_libfuzzer(name: str, size: int, modified: int) -> bool:  # noqa: ARG001
    try:
        with (
            Path(name).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return content.find(_MARK) >= 0
    except (OSError, ValueError):
        return False


def _command(pid: int) -> list[bytes]:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return []


def _status(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold any character."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _began(pid: int) -> float | None:
    """When a process began, in Unix time; None if it has ended."""
    fields = _status(pid)
    if len(fields) < 20 or fields[0] in ("Z", "X"):
        return None
    try:
        lines = (PROC / "stat").read_text().splitlines()
        boot = next(float(line.split()[1]) for line in lines if line.startswith("btime "))
        return boot + float(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, StopIteration):
        return None


def _parent(pid: int) -> int:
    fields = _status(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def _name(pid: int) -> str:
    try:
        return (PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return ""


def _link(path: Path) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115
    except OSError:
        return ""


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
