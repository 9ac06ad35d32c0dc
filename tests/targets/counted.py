"""A harness that keeps a count of its own: a byte in the file $CALLS for every call."""

import os
import struct

CALLS = os.open(os.environ.get("CALLS", os.devnull), os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def deep(data: bytes) -> int:
    if data.startswith(b"a"):
        if len(data) > 9:
            if data[3:5] == b"zz":
                return 3
            return 2
        return 1
    return 0


def late(data: bytes) -> None:
    """Code that is imported because of an input, and not before."""
    if len(data) == 7:
        import colorsys

        colorsys.rgb_to_hls(data[0] / 255, data[1] / 255, data[2] / 255)
    if len(data) == 11:
        import graphlib

        list(graphlib.TopologicalSorter({1: {2}, 2: set()}).static_order())


def TestOneInput(data: bytes) -> None:
    os.write(CALLS, b".")
    deep(data)
    late(data)
    if len(data) == 5:
        struct.unpack("<I", data)
