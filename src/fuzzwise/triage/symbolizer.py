"""The settings with which sanitizers write reports that name functions."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from fuzzwise.programs import find
from fuzzwise.sanitizers import MAY_WRAP

_LLVM = Path("/usr/lib")
_OPTIONS = "LLVM_SYMBOLIZER_OPTS"


def symbolizer(search_path: str | None = None, llvm: Path = _LLVM) -> Path | None:
    """The program llvm-symbolizer from the PATH, else that of the newest LLVM installed.

    ``search_path`` replaces the PATH; ``llvm`` is the directory with the llvm-VERSION
    directories of Debian.
    """
    if found := find("llvm-symbolizer", search_path):
        return found
    candidates = sorted(llvm.glob("llvm-*/bin/llvm-symbolizer"), key=_version, reverse=True)
    return next((path for path in candidates if os.access(path, os.X_OK)), None)


def environment(
    detect_leaks: bool = False, base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables to add to the environment of a target built with sanitizers.

    Options already set in ``base`` (default: the environment of this process) are kept, except
    where they contradict the ones that a readable report needs. Separate debug files, which may or
    may not be installed, are left out, as with gdb: a bug has the same name on every machine, and
    those of the C library take most of a symbolizer's time.
    """
    base = os.environ if base is None else base
    common = ("symbolize=1", "abort_on_error=0", "handle_abort=1")
    # The last one of contradicting options counts.
    options = {
        "ASAN_OPTIONS": (base.get("ASAN_OPTIONS"), *common, f"detect_leaks={int(detect_leaks)}"),
        "UBSAN_OPTIONS": (MAY_WRAP, base.get("UBSAN_OPTIONS"), *common, "print_stacktrace=1"),
    }
    result = {name: ":".join(filter(None, words)) for name, words in options.items()}
    path = symbolizer()
    if path is not None:
        for tool in ("ASAN", "MSAN", "TSAN", "UBSAN"):
            result[f"{tool}_SYMBOLIZER_PATH"] = str(path)
    result[_OPTIONS] = base.get(_OPTIONS) or "--debug-file-directory=/dev/null"
    return result


def _version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", path.parts[-3]))
