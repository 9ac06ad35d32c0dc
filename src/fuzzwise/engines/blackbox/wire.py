"""What Python and the native loop tell each other: layouts as in native/blackbox.h."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from fuzzwise.engines.blackbox.model import Limits, Mutation
from fuzzwise.engines.blackbox.mutation import kind_mask

MAGIC = 0x31786F626B6C62FC
CONFIG_VARIABLE = "FUZZWISE_BLACKBOX"
PRELOAD_VARIABLE = "FUZZWISE_BLACKBOX_PRELOAD"
READS_STDIN, REPORT_ALL, KEEP_OUTPUT = 1, 2, 4

HEAD = struct.Struct("=6Q2d13Q")
BATCH = struct.Struct("=3Q")
RECORD = struct.Struct("=Ii4QIi")
MIB = 1 << 20
SERVER_KILLED = 3
"""How a warden ends whose server somebody killed."""

SCRATCH_FILES = 4
"""Times the largest file: what a run may have in its folder."""


class Type(IntEnum):
    """The types of records."""

    HELLO = 1
    CRASH = 2
    HANG = 3
    OUT_OF_MEMORY = 4
    EXIT = 5
    MARK = 6
    END = 7
    REFUSED = 8


@dataclass(frozen=True)
class Record:
    """One message of a server."""

    type: Type
    signal: int
    run: int
    microseconds: int
    trace: int
    input_hash: int
    input_length: int
    exit_code: int


def unpack(data: bytes) -> Record:
    """A record from its bytes."""
    kind, *fields = RECORD.unpack(data)
    return Record(Type(kind), *fields)


@dataclass(frozen=True)
class Settings:
    """All that a server must know, apart from the command."""

    seed: bytes
    random_seed: int
    mutation: Mutation
    limits: Limits
    flags: int
    sanitized: bool
    user_tasks: int


def pack(settings: Settings, control: int, results: int, input_path: str, scratch: str) -> bytes:
    """The configuration file of a server."""
    mutation, limits = settings.mutation, settings.limits
    paths = [path.encode(errors="surrogateescape") + b"\0" for path in (input_path, scratch)]
    others = b"".join(struct.pack("=Q", len(o)) + o for o in mutation.splice_with)
    memory = limits.memory_mib * MIB
    head = HEAD.pack(
        *(MAGIC, settings.flags, control, results, settings.random_seed, kind_mask(mutation)),
        *mutation.ratio,
        max(mutation.max_length, len(settings.seed)),
        *(round(limits.seconds * 1e6), 0 if settings.sanitized else memory, memory),
        *(limits.file_mib * MIB, SCRATCH_FILES * limits.file_mib * MIB),
        *(limits.processes, settings.user_tasks),
        *(len(paths[0]), len(paths[1]), len(settings.seed), len(others)),
        len(mutation.splice_with),
    )
    return b"".join((head, *paths, settings.seed, others))
