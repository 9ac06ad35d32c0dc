"""Tables of a TOML file, read key by key; every mistake is kept, and all are told at once."""

from __future__ import annotations

import difflib
import shlex
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fuzzwise.errors import BadInput
from fuzzwise.units import parse_duration

_REQUIRED: Any = object()


class Table:
    """One table: each method reads a key, checks it, and remembers what is wrong with it."""

    def __init__(self, name: str, values: dict[str, Any], problems: list[str]) -> None:
        """A table that is called ``name`` in messages, "" for the file itself."""
        self.name = name
        self._values = values
        self._problems = problems
        self._known: list[str] = []

    def problem(self, key: str, message: str) -> None:
        """Remember what is wrong with a key."""
        place = f"{self.name}.{key}" if self.name else key
        self._problems.append(f"{place} {message}")

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
        except (BadInput, ValueError, TypeError) as error:
            reason = str(error).rstrip(".")
            because = f" ({reason})" if isinstance(error, BadInput) else ""
            self.problem(key, f"is {given!r}{because}; expected {expected}.")
            return _or_nothing(default)

    def text(self, key: str, default: Any = _REQUIRED, expected: str = "some text") -> str:
        """A string that is not empty."""
        found: str = self.value(key, expected, _text, default)
        return found

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

    def duration(self, key: str, default: Any = _REQUIRED) -> float:
        """A time such as 90, "90s" or "4h", in seconds."""
        expected = 'a time such as "90s", "15m" or "4h"'
        found: float = self.value(key, expected, duration, default)
        return found

    def words(self, key: str, default: Any = _REQUIRED) -> tuple[str, ...]:
        """A command: one string, split as a shell would, or a list of strings."""
        expected = 'a command such as "program @@"'
        found: tuple[str, ...] = self.value(key, expected, _words, default)
        return found

    def texts(self, key: str, default: Any = _REQUIRED) -> tuple[str, ...]:
        """One string or a list of them."""
        expected = "some text, or a list of texts"
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
            self.problem(key, f"is {given!r}; expected a table [{name}].")
            given = {}
        return Table(name, given, self._problems)

    def tables(self, key: str) -> list[Table]:
        """The tables of a list of tables; there must be at least one."""
        self._known.append(key)
        given = self._values.get(key, [])
        if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
            self.problem(key, f"is {given!r}; expected tables [[{key}]].")
            return []
        if not given:
            self.problem(key, f"is missing; expected at least one table [[{key}]].")
        return [
            Table(f"{key}[{number}]", item, self._problems)
            for number, item in enumerate(given, start=1)
        ]

    def finish(self) -> None:
        """Report the keys that nobody asked for."""
        for key in self._values:
            if key not in self._known:
                near = difflib.get_close_matches(key, self._known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(self._known)}."
                self.problem(key, f"is not a known key; {hint}")


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file, or a sentence about why there is none."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not a text file in UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not valid TOML: {error}.") from error


def complain(path: Path, problems: Sequence[str]) -> None:
    """Raise all problems as one error, if there are any."""
    if problems:
        lines = "".join(f"\n  {problem}" for problem in problems)
        count = "1 mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        raise BadInput(f"{path} has {count}; nothing was started:{lines}")


def duration(value: Any) -> float:
    """Seconds from a number of them or from a text such as "15m"."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    return parse_duration(str(value))


def _or_nothing(default: Any) -> Any:
    """The default; where there is none, nothing: a problem was noted, so nobody uses it."""
    return None if default is _REQUIRED else default


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
