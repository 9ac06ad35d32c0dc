"""Files that a [[target]] names: whether they are there and can be used, without running them."""

from __future__ import annotations

import re
from pathlib import Path

from fuzzwise.config.table import Table, shown
from fuzzwise.engines.compilers import CXX_SUFFIXES
from fuzzwise.errors import BadInput
from fuzzwise.received import read_limited

_SOURCES = {".c", *CXX_SUFFIXES}
_NOT_A_PROGRAM = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-shared", "-r"}
_NAMES_A_FILE = re.compile(r"(-I|-L|-iquote|-isystem|-include)?(.+)", re.DOTALL)
_ENTRY = re.compile(rb'[^"]*"(?:[^\\"]|\\\\|\\"|\\x[0-9a-fA-F]{2})+"')


def existing(table: Table, key: str, text: str, home: Path) -> Path | None:
    """The file or folder of that name beside the campaign file; a problem where there is none."""
    if not text:
        return None
    path = home / text
    try:
        if path.exists():
            return path
    except (OSError, ValueError):
        pass
    table.problem(key, f"is {shown(text)}; there is no such file or folder beside the file.")
    return None


def find_sources(table: Table, home: Path) -> tuple[Path, ...]:
    """The C and C++ files of the key ``sources``; none where it is not given."""
    found: list[Path] = []
    for text in table.texts("sources", ()):
        path = existing(table, "sources", text, home)
        if path is None:
            continue
        if path.suffix not in _SOURCES or not path.is_file():
            table.problem("sources", f"has {shown(text)}; expected a C or C++ file.")
            continue
        found.append(path)
    return tuple(found)


def flags_from(table: Table, home: Path) -> tuple[str, ...]:
    """Flags for the compiler; files and folders in them are relative to the campaign file."""
    flags = []
    for word in table.texts("flags", ()):
        if word in _NOT_A_PROGRAM or word.startswith("-o") or "\0" in word:
            table.problem("flags", f"has {shown(word)}; remove it: fuzzwise makes the program.")
            continue
        prefix, rest = _NAMES_A_FILE.fullmatch(word).groups(default="")  # type: ignore[union-attr]
        try:
            there = (home / rest).exists()
        except OSError:  # too long for a file's name
            there = False
        flags.append(f"{prefix}{home / rest}" if there else word)
    return tuple(flags)


def wrong_line(dictionary: Path) -> str:
    """The first line of a dictionary that libFuzzer would not read; "" where all are well."""
    try:
        lines = read_limited(dictionary).splitlines()
    except OSError as error:
        return f"the problem that it cannot be read ({error.strerror})"
    except BadInput:
        return "the problem that it is no plain file of a size that a dictionary can have"
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text and not text.startswith(b"#") and not _ENTRY.fullmatch(text):
            return f"{shown(text.decode(errors='replace'))} in line {number}"
    return ""
