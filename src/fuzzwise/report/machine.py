"""What would tell a reader of the machine that a report was made on: taken out of its texts."""

from __future__ import annotations

import os
import platform
import pwd
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

LEFT_OUT = "…"
_ORDINARY = {
    *("admin", "build", "builder", "debian", "dev", "docker", "fuzz", "fuzzer", "home", "jenkins"),
    *("localdomain", "localhost", "nobody", "root", "runner", "test", "tester", "ubuntu", "user"),
}
"""Names that tell nothing, and that programs may have as words of their own."""
_SHORTEST = 3

_PROCESS = re.compile(r"==\d+==|\b((?:p?pid|tid|lwp|process(?: id)?)\b\s?[=:#]?\s?)\d+", re.I)
_VARIABLE = re.compile(r"\b([A-Z][A-Z0-9_]{2,}=)(?!=)(?:'[^'\n]*'|\"[^\"\n]*\"|[^\s'\"]+)")


class Machine:
    """Takes out of texts: users, the host, process numbers, and values of environment variables.

    Users are whoever makes the report and the owner of the campaign's folder, the host is this one:
    of a campaign that was made elsewhere, neither is known. ``kept`` are names of the campaign's
    own, which stay whatever they are.
    """

    def __init__(self, folder: Path, kept: Iterable[str] = ()) -> None:
        own = {name.lower() for name in kept}
        names = dict.fromkeys(_users(folder), "user") | dict.fromkeys(_hosts(), "host")
        self._names = {
            name.lower(): word
            for name, word in names.items()
            if len(name) >= _SHORTEST and name.lower() not in _ORDINARY | own
        }
        self._pattern = _any_of(self._names)

    def __call__(self, text: str) -> str:
        """A text without what tells of the machine; paths are not its business."""
        text = _PROCESS.sub(_without_number, text)
        text = _VARIABLE.sub(rf"\1{LEFT_OUT}", text)
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._names[found[0].lower()], text)


def _without_number(found: re.Match[str]) -> str:
    return f"{found[1]}{LEFT_OUT}" if found[1] else f"=={LEFT_OUT}=="


def _any_of(names: Mapping[str, str]) -> re.Pattern[str] | None:
    """Any of the names as a word of its own, the longest first."""
    if not names:
        return None
    longest = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest))})(?![^\W_])", re.I)


def _users(folder: Path) -> set[str]:
    names = {os.environ.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER")}
    numbers = {os.getuid()}
    with suppress(OSError):  # what is not there has no owner
        numbers.add(folder.stat().st_uid)
    for number in numbers:
        try:
            entry = pwd.getpwuid(number)
        except KeyError:
            continue
        names |= {entry.pw_name, entry.pw_gecos.partition(",")[0], Path(entry.pw_dir).name}
    return names


def _hosts() -> set[str]:
    """The names of this host, the longest with its domain and the first part alone."""
    names = {platform.node(), os.environ.get("HOSTNAME", "")}
    return names | {name.partition(".")[0] for name in names}
