"""Bytes for people: places, codes and letters side by side."""

from __future__ import annotations

ROW = 16
WHOLE = 256
"""Bytes that are shown whole; of more, only the head is."""
HEAD = 128


def hex_dump(data: bytes, size: int | None = None) -> str:
    """The bytes in rows of 16; ``size`` is how many there are in all, if that is more."""
    total = len(data) if size is None else max(size, len(data))
    shown = data if total <= WHOLE and len(data) == total else data[:HEAD]
    rows = [_row(at, shown[at : at + ROW]) for at in range(0, len(shown), ROW)]
    if len(shown) < total:
        rows.append(f"… {total - len(shown):,} more bytes")
    return "\n".join(rows)


def _row(at: int, part: bytes) -> str:
    codes = " ".join(f"{byte:02x}" for byte in part)
    letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
    return f"{at:08x}  {codes:<{ROW * 3 - 1}}  {letters}"
