"""The .options file of a target of OSS-Fuzz: sections of names with values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.received import read_limited
from fuzzwise.text import printable

MOST = 1 << 20
"""Bytes of such a file."""

_SECTION = re.compile(r"\[([^\[\]]{1,60})\]")
_LINE = re.compile(r"([A-Za-z0-9_.-]{1,100})\s*[=:]\s*(.*)")
_SHOWN = 60


@dataclass(frozen=True)
class OptionsFile:
    """The values of each section by their names; and what could not be read, a sentence each."""

    sections: dict[str, dict[str, str]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def section(self, name: str) -> dict[str, str]:
        """The values of a section; none where there is no such section."""
        return self.sections.get(name, {})


def read_options_file(path: Path) -> OptionsFile:
    """What the file says; what is wrong with it is a sentence, and the rest is taken."""
    try:
        text = read_limited(path, MOST).decode()
    except UnicodeDecodeError:
        return OptionsFile(problems=("it is not text in UTF-8, and is not used",))
    except OSError as error:
        return OptionsFile(problems=(f"it cannot be read ({error.strerror}), and is not used",))
    except BadInput:
        return OptionsFile(problems=(f"it has more than {MOST:,} bytes, and is not used",))
    return _parsed(text)


def _parsed(text: str) -> OptionsFile:
    sections: dict[str, dict[str, str]] = {}
    problems: list[str] = []
    now: dict[str, str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        if found := _SECTION.fullmatch(line):
            now = sections.setdefault(found[1].strip().lower(), {})
        elif (found := _LINE.fullmatch(line)) and now is not None:
            name, value = found[1].lower(), found[2].strip()
            if now.get(name, value) != value:
                problems.append(f"line {number} says {name} again; the later one counts")
            now[name] = value
        else:
            what = "is in no section" if found else "is neither a [section] nor name = value"
            problems.append(f"line {number} ({printable(line)[:_SHOWN]!r}) {what}, and is not used")
    return OptionsFile(sections, tuple(problems))
