"""Tables of a TOML file, read key by key; every mistake is kept, and all are told at once."""

from __future__ import annotations

import difflib
import glob
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fuzzwise.errors import BadInput
from fuzzwise.received import read_limited
from fuzzwise.units import parse_duration

_REQUIRED: Any = object()
_LONGEST = 80
"""Characters of a value that a message shows."""

MOST_TOLD = 50
"""Mistakes that are told; of the others, how many there are."""


class Table:
    """One table: each method reads a key, checks it, and remembers what is wrong with it."""

    def __init__(self, name: str, values: dict[str, Any], problems: list[str]) -> None:
        """A table that is called ``name`` in messages, "" for the file itself."""
        self.name = name
        self.foreign: Mapping[str, str] = {}
        """Keys that have no place here, with what to do about them; "a.b" is one of a table a."""
        self._values = values
        self._problems = problems
        self._known: list[str] = []

    def problem(self, key: str, message: str) -> None:
        """Remember what is wrong with a key."""
        place = f"{self.name}.{key}" if self.name else key
        self._problems.append(f"{place} {message}")

    def where(self, key: str, value: Any) -> Table:
        """The same table with another value of a key; its problems are those of this one."""
        other = Table(self.name, {**self._values, key: value}, self._problems)
        other.foreign = self.foreign
        return other

    def names(self) -> list[str]:
        """All keys that are given."""
        return list(self._values)

    def has(self, key: str) -> bool:
        """Whether the key is given, with whatever value."""
        return key in self._values

    def refuse(self, key: str, remedy: str) -> None:
        """A key that is known but has no place here."""
        self._known.append(key)
        if key in self._values:
            self.problem(key, f"is {shown(self._values[key])}; {remedy}")

    def value(self, key: str, expected: str, read: Callable[[Any], Any], default: Any) -> Any:
        """A key through ``read``, which raises ValueError or BadInput for what it does not like."""
        self._known.append(key)
        if key not in self._values:
            if default is _REQUIRED:
                self.problem(key, f"is missing; expected {expected}.")
            return _or_nothing(default)
        given = self._values[key]
        try:
            return read(given)
        except (BadInput, ValueError, TypeError, OverflowError) as error:
            reason = str(error).rstrip(".")
            because = f" ({reason})" if isinstance(error, BadInput) else ""
            self.problem(key, f"is {shown(given)}{because}; expected {expected}.")
            return _or_nothing(default)

    def text(self, key: str, default: Any = _REQUIRED, expected: str = "some text") -> str:
        """A string that is not empty."""
        found: str = self.value(key, expected, _text, default)
        return found

    def secret(self, key: str) -> str | None:
        """A text that no message may show, None where there is none."""
        self._known.append(key)
        given = self._values.get(key)
        if given is None or isinstance(given, str):
            return given
        self.problem(key, "is no text.")
        return None

    def glimpse(self, key: str) -> str:
        """A text before it is read, for what depends on it; "" where there is none."""
        given = self._values.get(key)
        return given if isinstance(given, str) else ""

    def first_word(self, key: str) -> str:
        """The first word of a command, "" where there is none; read without a complaint."""
        try:
            return _words(self._values[key])[0]
        except (KeyError, IndexError, ValueError, TypeError):
            return ""

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """A number between two bounds, both included."""
        expected = f"a number from {low:g} to {high:g}"
        found: float = self.value(key, expected, lambda v: _between(_number(v), low, high), default)
        return found

    def whole(self, key: str, default: int, low: int, high: int) -> int:
        """A whole number between two bounds, both included."""
        expected = f"a whole number from {low} to {high}"
        found: int = self.value(key, expected, lambda v: _between(_whole(v), low, high), default)
        return found

    def probability(self, key: str, default: Any = _REQUIRED) -> float:
        """A number between 0 and 1, both excluded."""

        def read(value: Any) -> float:
            number = _number(value)
            if not 0 < number < 1:
                raise ValueError
            return number

        found: float = self.value(key, "a number between 0 and 1, such as 0.0001", read, default)
        return found

    def duration(self, key: str, default: Any = _REQUIRED, low: str = "", high: str = "") -> float:
        """A time such as 90, "90s" or "4h", in seconds; bounds are written as such times too."""
        expected = 'a time such as "90s", "15m" or "4h"'
        if low and high:
            expected = f'a time from "{low}" to "{high}"'

        def read(value: Any) -> float:
            seconds = duration(value)
            if low and high:
                _between(seconds, parse_duration(low), parse_duration(high))
            return seconds

        found: float = self.value(key, expected, read, default)
        return found

    def choice(self, key: str, options: Sequence[str], default: str) -> str:
        """One of the options; the nearest is suggested."""

        def read(value: Any) -> str:
            if value not in options:
                near = difflib.get_close_matches(str(value), options, n=1)
                raise BadInput(f"did you mean {near[0]!r}?") if near else ValueError
            return str(value)

        found: str = self.value(key, f"one of {', '.join(options)}", read, default)
        return found

    def words(self, key: str, default: Any = _REQUIRED) -> tuple[str, ...]:
        """A command: one string, split as a shell would, or a list of strings."""
        expected = 'a command such as "program @@"'
        found: tuple[str, ...] = self.value(key, expected, _words, default)
        return found

    def texts(
        self, key: str, default: Any = _REQUIRED, expected: str = "some text, or a list of texts"
    ) -> tuple[str, ...]:
        """One string or a list of them."""
        found: tuple[str, ...] = self.value(key, expected, _texts, default)
        return found

    def choices(self, key: str, options: Sequence[str], default: Any) -> tuple[str, ...]:
        """Some of the options."""
        expected = f"a list out of {', '.join(options)}"

        def read(value: Any) -> tuple[str, ...]:
            chosen = _texts(value)
            if not set(chosen) <= set(options):
                raise ValueError
            return chosen

        found: tuple[str, ...] = self.value(key, expected, read, default)
        return found

    def table(self, key: str) -> Table:
        """A table inside; an empty one if there is none."""
        self._known.append(key)
        given = self._values.get(key, {})
        name = f"{self.name}.{key}" if self.name else key
        if not isinstance(given, dict):
            self.problem(key, f"is {shown(given)}; expected a table [{name}].")
            given = {}
        inside = Table(name, given, self._problems)
        within = f"{key}."
        inside.foreign = {
            other.removeprefix(within): remedy
            for other, remedy in self.foreign.items()
            if other.startswith(within)
        }
        return inside

    def tables(self, key: str) -> list[Table]:
        """The tables of a list of tables; there must be at least one."""
        self._known.append(key)
        given = self._values.get(key, [])
        if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
            self.problem(key, f"is {shown(given)}; expected tables [[{key}]].")
            return []
        if not given:
            self.problem(key, f"is missing; expected at least one table [[{key}]].")
        return [
            Table(f"{key}[{number}]", item, self._problems)
            for number, item in enumerate(given, start=1)
        ]

    def variants(self, key: str) -> list[Table]:
        """The tables of a list inside, each with the other values of this one where it has none."""
        self._known.append(key)
        given = self._values.get(key, [])
        if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
            inner = re.sub(r"\[\d+\]", "", f"{self.name}.{key}")
            self.problem(key, f"is {shown(given)}; expected tables [[{inner}]].")
            return []
        shared = {name: value for name, value in self._values.items() if name != key}
        return [
            Table(f"{self.name}.{key}[{number}]", {**shared, **item}, self._problems)
            for number, item in enumerate(given, start=1)
        ]

    def finish(self) -> None:
        """Report the keys that nobody asked for."""
        for key, value in self._values.items():
            if key in self._known:
                continue
            if key in self.foreign:
                self.problem(key, f"is {shown(value)}; {self.foreign[key]}")
            else:
                self.problem(_plain(key), f"is not a known key{self._hint(key)}")

    def _hint(self, key: str) -> str:
        """What may have been meant; it takes its time, so only where it will be told."""
        if len(self._problems) > MOST_TOLD:
            return "."
        near = difflib.get_close_matches(key, self._known, n=1)
        return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(self._known)}."


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file, or a sentence about why there is none."""
    try:
        return tomllib.loads(read_limited(path).decode())
    except IsADirectoryError as error:
        raise BadInput(f"{path} is a folder. Give a file in TOML.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not a text file in UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not valid TOML: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"{path} is not valid TOML: it has a number too long or tables too deep to read."
        ) from error


def complain(path: Path, problems: Sequence[str]) -> None:
    """Raise all problems as one error, if there are any; each is told once, up to MOST_TOLD."""
    problems = list(dict.fromkeys(problems))
    if problems:
        lines = "".join(f"\n  {problem}" for problem in problems[:MOST_TOLD])
        if len(problems) > MOST_TOLD:
            lines += f"\n  and {len(problems) - MOST_TOLD:,} more"
        count = "1 mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        raise BadInput(f"{path} has {count}; nothing was started:{lines}")


def shown(value: Any) -> str:
    """A value of the file as a message shows it: on one line, and never long.

    What is left out is the middle: the end of a path is the name that its reader looks for.
    """
    try:
        text = repr(value)
    except ValueError:  # a number of more digits than Python writes
        return "a huge number"
    if len(text) <= _LONGEST:
        return text
    half = (_LONGEST - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def files(pattern: str, folder: Path) -> list[Path]:
    """The files that a path or a glob pattern names, in order; a path is relative to ``folder``."""
    if "\0" in pattern:
        return []
    exact = folder / pattern
    try:
        if exact.is_file():
            return [exact]
        # Path.glob refuses absolute patterns, and some with stars.
        names = glob.glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207
        return sorted(path for name in names if (path := folder / name).is_file())
    except OSError:  # a name that is too long
        return []


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern of names, unless something is called just that."""
    return any(sign in text for sign in "*?[")


def duration(value: Any) -> float:
    """Seconds from a number of them or from a text such as "15m"."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    return parse_duration(str(value))


def _or_nothing(default: Any) -> Any:
    """The default; where there is none, nothing: a problem was noted, so nobody uses it."""
    return None if default is _REQUIRED else default


def _plain(key: str) -> str:
    """A key as it stands in the file: in quotes where it needs them."""
    return key if re.fullmatch(r"[\w-]{1,60}", key, re.ASCII) else shown(key)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def _texts(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ValueError
    return tuple(_text(item) for item in values)


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return _texts(value)
    return tuple(shlex.split(_text(value)))


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError
    return float(value)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError
    return value


def _between(value: Any, low: float, high: float) -> Any:
    if not low <= value <= high:
        raise ValueError
    return value
