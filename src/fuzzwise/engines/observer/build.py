"""What the observer is compiled from, whichever fuzzer it goes into."""

from __future__ import annotations

import hashlib
from pathlib import Path

NATIVE = Path(__file__).parent / "native"
COUNTING = ("process.c", "state.c", "inputs.c", "shown.c", "counts.c", "schedule.c", "log.c")
"""What counts, whichever fuzzer is observed."""

FLAGS = ("-O2", "-g", "-fPIC", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{NATIVE}")


def fingerprint_of(words: str, *folders: Path) -> str:
    """What tells two libraries apart: the words that say how they are made, and all sources."""
    digest = hashlib.sha256(words.encode())
    for path in sorted(path for folder in folders for path in folder.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]
