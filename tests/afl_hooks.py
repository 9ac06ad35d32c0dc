"""Calls the observer's hooks as some version of afl-fuzz would; run as a process of its own.

Reads steps, a line of JSON each, and does them: ["run", input, {edge: byte}] executes, after which
the map has these bytes; ["entry", name] and ["havoc"] begin a stage, ["keep", name] keeps the last
run, ["crash"] makes the map that of a crash.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path

MAP = 64
FILL = 1


def main() -> None:
    """Do all steps."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(0, 1 << 16, 0o1600)  # IPC_CREAT
    address = libc.shmat(segment, None, 0)
    area = (ctypes.c_uint8 * MAP).from_address(address)
    library = ctypes.CDLL(sys.argv[1])
    library.afl_custom_init.restype = ctypes.c_void_p
    data = ctypes.c_void_p(library.afl_custom_init(None, 1))
    libc.setenv(b"__AFL_SHM_ID", str(segment).encode(), 1)
    os.chdir(sys.argv[2])
    last = b""
    for line in sys.stdin:
        what, *more = json.loads(line)
        if what == "run":
            last = bytes.fromhex(more[0])
            buffer, out = ctypes.create_string_buffer(last, len(last)), ctypes.c_void_p()
            size = ctypes.c_size_t(len(last))
            library.afl_custom_post_process(data, buffer, size, ctypes.byref(out))
            ctypes.memset(area, 0, MAP)
            for edge, byte in more[1].items():
                area[int(edge)] = byte
        elif what == "entry":
            library.afl_custom_queue_get(data, os.fsencode(more[0]))
        elif what == "havoc":
            library.afl_custom_havoc_mutation_probability(data)
        elif what == "crash":
            for edge in range(MAP):
                area[edge] = 128 if area[edge] else FILL
        elif what == "keep":
            Path(more[0]).write_bytes(last)
            library.afl_custom_queue_new_entry(data, os.fsencode(more[0]), None)
    library.afl_custom_deinit(data)


if __name__ == "__main__":
    main()
