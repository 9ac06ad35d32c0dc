"""The observer's memory-mapped state, read (and, for a few flags, written) from Python."""

from __future__ import annotations

import ctypes
import mmap
import os
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

import numpy as np

from fuzzwise.engines.observer.folder import DamagedState
from fuzzwise.errors import BadInput
from fuzzwise.model import Ints, Observation
from fuzzwise.received import open_regular
from fuzzwise.text import MOST

MAGIC = 0x31657369777A7566
VERSION = 2
MAX_JOBS = 64
WINDOWS = (1, 10)
PATH = 2
BUCKETS = 8
"""Features of an edge, one for each class of hit counts: FW_BUCKETS of the C that counts."""


class _Slot(ctypes.Structure):
    _fields_ = (
        ("state", ctypes.c_uint32),
        ("seed", ctypes.c_uint32),
        ("seed_inputs", ctypes.c_uint64),
        ("measuring", ctypes.c_uint32),
        ("pid", ctypes.c_uint32),
    )


class Head(ctypes.Structure):
    """``struct fw_head`` of the observer, field by field (native/observer.h)."""

    _fields_ = (
        ("magic", ctypes.c_uint64),
        ("version", ctypes.c_uint32),
        ("species_kind", ctypes.c_uint32),
        ("features", ctypes.c_uint64),
        ("sequence", ctypes.c_uint64),
        ("inputs", ctypes.c_uint64),
        ("species", ctypes.c_uint64),
        ("f", ctypes.c_uint64 * 4),
        ("k", ctypes.c_uint64),
        ("discoveries", ctypes.c_uint64),
        ("seeds", ctypes.c_uint64),
        ("holders", ctypes.c_uint64),
        ("data_used", ctypes.c_uint64),
        ("lost", ctypes.c_uint64),
        ("initial", ctypes.c_uint64),
        ("executed", ctypes.c_uint64),
        ("next_point", ctypes.c_uint64),
        ("log_bytes", ctypes.c_uint64),
        ("logged", ctypes.c_uint64),
        ("measure", ctypes.c_uint64),
        ("measure_left", ctypes.c_uint64),
        ("measure_size", ctypes.c_uint64),
        ("measure_found", ctypes.c_uint64),
        ("per_seed", ctypes.c_uint64),
        ("local_pages", ctypes.c_uint64),
        ("local_off", ctypes.c_uint64),
        ("window_generation", ctypes.c_uint64 * len(WINDOWS)),
        ("window_singletons", ctypes.c_uint64 * len(WINDOWS)),
        ("added", ctypes.c_uint64),
        ("last_discovery_ms", ctypes.c_uint64),
        ("stop", ctypes.c_uint64),
        ("max_inputs", ctypes.c_uint64),
        ("schedule", ctypes.c_uint64),
        ("replaced", ctypes.c_uint64),
        ("slots", _Slot * MAX_JOBS),
        ("journal", ctypes.c_uint64 * 6),
        ("lock", ctypes.c_uint8 * 64),
        ("edges", ctypes.c_uint64),
        ("unstable", ctypes.c_uint64),
        ("reruns", ctypes.c_uint64),
        ("differed", ctypes.c_uint64),
    )


SEED = np.dtype(
    [
        (name, np.uint64)
        for name in (
            "where", "size", "inputs", "f1", "f2", "k", "g", "hash", "owned", "owned_count",
            "found_at", "parent", "pages",
        )
    ]
)  # fmt: skip
DISCOVERY = np.dtype([("input", np.uint64), ("milliseconds", np.uint64)])


class State:
    """A campaign's state folder; every read is of one moment, whatever the fuzzer is doing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            with _open_head(folder / "head") as file:
                self._map = mmap.mmap(file.fileno(), ctypes.sizeof(Head))
            self.head = Head.from_buffer(self._map)
        except (OSError, ValueError, BadInput) as error:
            raise DamagedState(
                f"{folder / 'head'}: the state of the campaign cannot be read ({error})."
            ) from error
        if self.head.magic:
            self._check_version()

    def check(self, inputs: int = 0) -> None:
        """Refuse a state of which a part is missing; only while no fuzzing process runs.

        ``inputs``: how many it had when somebody last looked. Those that were under way then, one
        a job, may have been taken back.
        """
        head = self.head
        if inputs > MAX_JOBS and int(head.inputs) < inputs - MAX_JOBS:
            raise DamagedState(
                f"{self.folder / 'head'}: counts {head.inputs:,} inputs, but there were {inputs:,}."
            )
        self._check_counts()
        needed = {
            "features": int(head.features),
            "holder-of": 4 * int(head.features),
            "seeds": SEED.itemsize * int(head.seeds),
            "data": int(head.data_used),
            "discoveries": DISCOVERY.itemsize * int(head.discoveries),
            "holders": 8 * int(head.holders),
        }
        for name, least in needed.items() if self.ready else ():
            path = self.folder / name
            if (size := _size(path)) < least:
                raise _cut_off(path, size, least)
        if self.ready:
            self._check_records()

    @property
    def ready(self) -> bool:
        """Whether a fuzzing process has set the state up; DamagedState where it is another's."""
        if not self.head.magic:
            return False
        self._check_version()
        return True

    @property
    def map_size(self) -> int:
        """How many edges there is room for: the size of the map that is counted."""
        return int(self.head.features) // BUCKETS

    @property
    def stability(self) -> float | None:
        """The share of the edges shown that two runs of one input never showed otherwise.

        Where paths are the species, of the inputs that were run again, those that took the same
        path. None where no input was: in states of AFL++, and of targets built earlier.
        """
        head = self.head
        if not head.reruns:
            return None
        if head.species_kind == PATH:
            return 1 - float(head.differed / head.reruns)
        return 1 - float(head.unstable / max(1, head.edges))

    @property
    def is_measuring(self) -> bool:
        """Whether the truth is being measured, or is to be: a data point was reached for it."""
        head = self.head
        return bool(head.measure_left or (head.measure and head.inputs >= head.next_point))

    def stop(self) -> None:
        """Ask every fuzzing process to end after its present input."""
        self.head.stop = 1

    def resume(self) -> None:
        """Take back the request to stop."""
        self.head.stop = 0

    def seeds(self) -> np.ndarray[tuple[int], np.dtype[np.void]]:
        """The seed records that exist now."""
        return self._records("seeds", SEED, int(self.head.seeds))

    def discoveries(self) -> np.ndarray[tuple[int], np.dtype[np.void]]:
        """Input number and time of every discovery."""
        return self._records("discoveries", DISCOVERY, int(self.head.discoveries))

    def seed_bytes(self, first: int = 0) -> Iterator[bytes]:
        """The inputs in the corpus, from the given seed on."""
        records = self.seeds()[first:]
        if not len(records):
            return
        path = self.folder / "data"
        with _opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            for record in records:
                where, length = int(record["where"]), int(record["size"])
                if where + length > size:
                    raise _cut_off(path, size, where + length)
                yield os.pread(file.fileno(), length, where)

    def observation(self, seconds: float) -> Observation:
        """What is known at this moment; without counts per seed, which the log has.

        Read between two changes if there is a moment between them. A fuzzer that changes counts
        without pause is read as it goes, and what is an input ahead is brought in line.
        """
        head = self.head
        self._check_counts()
        for _ in range(200):
            before = head.sequence
            n, species, k, last = head.inputs, head.species, head.k, head.last_discovery_ms
            f1, f2, f3, f4 = head.f
            found = self.discoveries()
            if before % 2 == 0 and head.sequence == before:
                break
        times: Ints = np.sort(np.minimum(found["input"], np.uint64(_LIMIT)).astype(np.int64))
        if len(times) and (times[0] < 1 or times[-1] > MOST):
            raise DamagedState(
                f"{self.folder / 'discoveries'}: names input {times[0 if times[0] < 1 else -1]:,}, "
                "which there cannot be."
            )
        return Observation(
            n=max(int(n), int(times[-1]) if len(times) else 0),
            seconds=seconds,
            last_discovery_seconds=min(last / 1000, seconds) if len(times) else None,
            species=max(int(species), int(f1 + f2 + f3 + f4), len(times)),
            f=(int(f1), int(f2), int(f3), int(f4)),
            k=max(min(int(k), int(f1)), int(f1 > 0)),
            discoveries=times,
        )

    def _check_version(self) -> None:
        """A target brings the observer that it was built with; another layout is not read."""
        if self.head.magic != MAGIC or self.head.version != VERSION:
            raise DamagedState(
                f"{self.folder}: these counts are of another version of fuzzwise. Build the target "
                "again, and use another --out folder, with corpus/ of this one as CORPUS."
            )

    def _records(
        self, name: str, kind: np.dtype[np.void], count: int
    ) -> np.ndarray[tuple[int], np.dtype[np.void]]:
        if count == 0:
            return np.zeros(0, dtype=kind)
        path, least = self.folder / name, count * kind.itemsize
        with _opened(path) as file:
            # What the file cannot hold is never allocated.
            size = os.fstat(file.fileno()).st_size
            raw = b"" if size < least else os.pread(file.fileno(), least, 0)
        if len(raw) < least:
            raise _cut_off(path, size, least)
        return np.frombuffer(raw, dtype=kind)

    def _check_counts(self) -> None:
        """Refuse numbers that no fuzzer can have counted, whatever the files hold."""
        for name in _COUNTS:
            value = getattr(self.head, name)
            for count in value if isinstance(value, ctypes.Array) else (value,):
                if count > MOST:
                    raise DamagedState(
                        f"{self.folder / 'head'}: counts {count:,} {name.replace('_', ' ')}, more "
                        "than there can be."
                    )

    def _check_records(self) -> None:
        """Refuse seeds outside of the data or with inputs of their own, and discoveries of none.

        What processes that were killed had counted in one place only is far below a hundredth.
        """
        n = int(self.head.inputs)
        seeds, found = self.seeds(), self.discoveries()
        if len(found) and int(found["input"].max()) > n + MAX_JOBS:
            raise DamagedState(
                f"{self.folder / 'discoveries'}: names input {int(found['input'].max()):,}, but "
                f"there were {n:,}."
            )
        made = float(seeds["inputs"].astype(np.float64).sum())
        if len(seeds) and abs(made - n) > 1000 + n / 100:
            raise DamagedState(
                f"{self.folder / 'seeds'}: counts {made:,.0f} inputs of all seeds, but there were "
                f"{n:,}."
            )
        ends = np.minimum(seeds["where"], MOST) + np.minimum(seeds["size"], MOST)
        outside = np.flatnonzero(ends > self.head.data_used)
        if len(outside):
            raise DamagedState(
                f"{self.folder / 'seeds'}: seed {int(outside[0]):,} is outside of the data that "
                "there is."
            )


_COUNTS = ("inputs", "species", "f", "k", "discoveries", "seeds", "last_discovery_ms")
_LIMIT = 1 << 62


def _open_head(path: Path) -> FileIO:
    """The one file that is written to from here: two flags in it."""
    flags = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError("it is not a regular file")
    return FileIO(descriptor, "r+")


def _opened(path: Path) -> FileIO:
    try:
        return open_regular(path, follow=False)
    except (OSError, BadInput) as error:
        raise DamagedState(f"{path}: cannot be read ({error}).") from error


def _size(path: Path) -> int:
    """The bytes of a regular file; 0 where there is none."""
    try:
        info = path.lstat()
    except OSError:
        return 0
    return info.st_size if stat.S_ISREG(info.st_mode) else 0


def _cut_off(path: Path, size: int, least: int) -> DamagedState:
    return DamagedState(f"{path}: has {size:,} bytes, but there were {least:,}; it was cut off.")
