"""Snapshot files: observations of campaigns as JSON lines (``docs/snapshot-format.md``).

A header line opens a campaign, each following line is one observation of it. A line's
``discoveries`` are those since the line before, so that a log grows with what happens and not
with the square of it; the reader accumulates them.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from fuzzwise.errors import BadInput
from fuzzwise.files import whole_file
from fuzzwise.model import NO_INTS, Ints, Observation, SeedCounts, Truth
from fuzzwise.received import MOST_DATA, cannot_read, read_unpacked
from fuzzwise.validation import LARGEST, problems

T = TypeVar("T")

FORMAT = "fuzzwise-observations"
VERSION = 1


@dataclass(frozen=True)
class FirstShown:
    """A bug, and the inputs that the campaign had made when it first showed it."""

    id: str
    n: int


@dataclass(frozen=True)
class Campaign:
    """The observations of one campaign, oldest first; campaigns of one subject are comparable."""

    name: str
    observations: tuple[Observation, ...] = ()
    subject: str = ""
    species_kind: str = "feature"
    bugs: tuple[FirstShown, ...] = ()


@dataclass(frozen=True)
class Snapshots:
    """What a snapshot file holds, and what the reader had to leave out of it."""

    campaigns: tuple[Campaign, ...]
    warnings: tuple[str, ...] = ()


class _Kind(msgspec.Struct):
    format: object = None


class _Header(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    format: str
    version: int
    campaign: str = ""
    subject: str = ""
    species_kind: str = "feature"


class _Seeds(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    q: list[float]
    n: list[int]
    f1: list[int] | None = None
    f2: list[int] | None = None
    k: list[int] | None = None
    g: list[int] | None = None


class _Truth(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    probability: float | None = None
    discoveries: int | None = None
    inputs: int | None = None


class _Bug(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    n: int


class _Line(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    n: int
    seconds: float | None = None
    last_discovery_seconds: float | None = None
    species: int | None = None
    f: tuple[int, int, int, int] | None = None
    k: int | None = None
    discoveries: list[int] | None = None
    ages: list[int] | None = None
    seeds: _Seeds | None = None
    resets: dict[int, int] = {}
    truth: _Truth | None = None
    waiting: float | None = None
    tried: int | None = None
    corpus: int | None = None
    bugs: list[_Bug] = []
    counted_at: list[int] | None = None


class _FieldError(Exception):
    """A problem with one field of one line; the reader adds file and line."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}" if where else what)


def read(path: Path) -> Snapshots:
    """Read a snapshot file whole; a contradiction anywhere is an error with file, line and field.

    It may be packed by gzip.
    An incomplete last line (no line end: the log is still being written) is left out and reported
    in ``warnings``.
    """
    try:
        raw = read_unpacked(path, MOST_DATA)
    except OSError as error:
        raise cannot_read(path, error) from error
    lines = raw.split(b"\n")
    warnings: list[str] = []
    builders: list[_Builder] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            _take(line, builders)
        except _FieldError as error:
            still_written = number == len(lines) and _is_incomplete(line)
            if not still_written:
                raise BadInput(f"{path}, line {number}: {error}.") from error
            warnings.append(
                f"{path}, line {number}: incomplete last line left out "
                "(the file is still being written, or its writer was cut off)."
            )
    if not builders:
        raise BadInput(
            f"{path}: holds no campaign. A snapshot file starts with a line such as "
            f'{{"format":"{FORMAT}","version":{VERSION}}}.'
        )
    return Snapshots(tuple(b.campaign() for b in builders), tuple(warnings))


def write(path: Path, campaigns: Iterable[Campaign]) -> None:
    """Write campaigns to a snapshot file, in a new folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_stream = path.exists() and not path.is_file()  # as /dev/stdout
    with path.open("wb") if is_stream else whole_file(path) as file:
        for campaign in campaigns:
            for line in dump(campaign):
                file.write(f"{line}\n".encode())


def dump(campaign: Campaign) -> Iterator[str]:
    """The lines of a campaign, without line ends."""
    yield header_line(campaign)
    written = 0
    for observation in campaign.observations:
        bugs = [bug for bug in campaign.bugs if written < bug.n <= observation.n]
        yield observation_line(observation, since=written, bugs=bugs)
        written = observation.n


def header_line(campaign: Campaign) -> str:
    """The line that opens a campaign."""
    header = _Header(FORMAT, VERSION, campaign.name, campaign.subject, campaign.species_kind)
    return msgspec.json.encode(header).decode()


def observation_line(
    observation: Observation, since: int = 0, bugs: Iterable[FirstShown] = ()
) -> str:
    """One observation as a line; ``since`` is the n of the line before it, ``bugs`` are new."""
    seeds = observation.seeds
    truth = observation.truth
    found = observation.discoveries
    line = _Line(
        n=observation.n,
        seconds=observation.seconds,
        last_discovery_seconds=observation.last_discovery_seconds,
        species=observation.species,
        f=observation.f,
        k=observation.k,
        discoveries=None if found is None else found[found > since].tolist(),
        ages=_new_ages(observation, since),
        seeds=None
        if seeds is None
        else _Seeds(
            q=seeds.q.tolist(),
            n=seeds.n.tolist(),
            f1=_as_list(seeds.f1),
            f2=_as_list(seeds.f2),
            k=_as_list(seeds.k),
            g=_as_list(seeds.g),
        ),
        resets=dict(observation.resets),
        truth=None if truth is None else _raw_truth(truth),
        waiting=observation.waiting,
        tried=observation.tried,
        corpus=observation.corpus,
        bugs=[_Bug(bug.id, bug.n) for bug in bugs],
        counted_at=_as_list(observation.counted_at),
    )
    return msgspec.json.encode(line).decode()


@dataclass
class _Builder:
    """A campaign while its lines come in."""

    header: _Header
    observations: list[Observation] = field(default_factory=list)
    measured: tuple[tuple[int, float], ...] = ()
    found: Ints = field(default_factory=lambda: np.zeros(1024, dtype=np.int64))
    count: int | None = None
    bugs: list[FirstShown] = field(default_factory=list)
    ages: list[int] | None = field(default_factory=list)

    def campaign(self) -> Campaign:
        header = self.header
        seen = tuple(self.observations)
        bugs = tuple(self.bugs)
        return Campaign(header.campaign, seen, header.subject, header.species_kind, bugs)

    def add(self, line: _Line) -> None:
        observation = Observation(
            n=line.n,
            seconds=line.seconds,
            last_discovery_seconds=line.last_discovery_seconds,
            species=line.species,
            f=line.f,
            k=line.k,
            discoveries=self._discoveries(line.discoveries),
            ages=self._ages(line),
            seeds=None if line.seeds is None else _seed_counts(line.seeds),
            resets=line.resets,
            truth=None if line.truth is None else _checked_truth(line.truth),
            measured=self.measured,
            waiting=line.waiting,
            tried=line.tried,
            corpus=line.corpus,
            counted_at=None if line.counted_at is None else _ints("counted_at", line.counted_at),
        )
        self._check_order(observation)
        for where, what in problems(observation):
            raise _FieldError(where, what)
        if observation.truth is not None:
            self.measured = (*self.measured, (observation.n, observation.truth.probability))
        self.bugs += self._bugs(line)
        self.observations.append(observation)

    def _bugs(self, line: _Line) -> list[FirstShown]:
        for bug in line.bugs:
            if not 0 <= bug.n <= line.n:
                raise _FieldError("bugs", f"has one at input {bug.n}, outside of 0 … {line.n}")
        return [FirstShown(bug.id, bug.n) for bug in line.bugs]

    def _discoveries(self, new: list[int] | None) -> Ints | None:
        if new is None:
            if self.count:
                raise _FieldError("discoveries", "is missing, but earlier lines have it")
            return None
        if self.count is None:
            if self.observations:
                raise _FieldError("discoveries", "appears here, but the lines before have none")
            self.count = 0
        needed = self.count + len(new)
        if needed > len(self.found):
            # A new array: observations made earlier keep their view of the old one.
            self.found = np.concatenate([self.found[: self.count], np.zeros(needed, np.int64)])
        self.found[self.count : needed] = _ints("discoveries", new)
        self.count = needed
        return self.found[:needed] if needed else NO_INTS

    def _ages(self, line: _Line) -> Ints | None:
        """Those of all discoveries so far; None from the first line on without."""
        if line.ages is not None and len(line.ages) != len(line.discoveries or ()):
            raise _FieldError("ages", "needs one number for each of the discoveries")
        if line.ages is None or self.ages is None:
            self.ages = None
            return None
        self.ages = [*self.ages, *line.ages]
        return _ints("ages", self.ages)

    def _check_order(self, now: Observation) -> None:
        if not self.observations:
            return
        before = self.observations[-1]
        for name in ("n", "species", "seconds"):
            old, new = getattr(before, name), getattr(now, name)
            if old is not None and new is not None and new < old:
                raise _FieldError(name, f"is {new} after {old}; it cannot fall within a campaign")
        if now.discoveries is not None and before.discoveries is not None:
            fresh = now.discoveries[len(before.discoveries) :]
            if len(fresh) and fresh[0] <= before.n:
                raise _FieldError(
                    "discoveries",
                    f"names input {fresh[0]}, but the line before already covers inputs up to "
                    f"{before.n}; list only the discoveries since then",
                )


def _new_ages(observation: Observation, since: int) -> list[int] | None:
    ages, found = observation.ages, observation.discoveries
    return None if ages is None or found is None else ages[found > since].tolist()


def _take(line: bytes, builders: list[_Builder]) -> None:
    if _decode(line, _Kind).format is not None:
        builders.append(_Builder(_checked_header(_decode(line, _Header))))
    elif not builders:
        raise _FieldError(
            "format",
            "is missing: the first line must be a header such as "
            f'{{"format":"{FORMAT}","version":{VERSION}}}',
        )
    else:
        builders[-1].add(_decode(line, _Line))


def _decode(line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.ValidationError as error:
        raise _FieldError(*_explain(str(error), kind)) from error
    except msgspec.DecodeError as error:
        raise _FieldError(*_explain_syntax(line, error)) from error
    except UnicodeDecodeError as error:
        raise _FieldError("", f"is not UTF-8 text ({error.reason})") from error
    except RecursionError as error:
        raise _FieldError("", "has values that are too deep inside of each other") from error


def _explain(message: str, kind: type) -> tuple[str, str]:
    """A msgspec message as (field, sentence), with the nearest known key for an unknown one."""
    text, _, where = message.partition(" - at `$")
    path = re.sub(r"^\.", "", where.rstrip("`")).replace("[...]", "")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", text)
    if unknown:
        holder: dict[str, type] = {"seeds": _Seeds, "truth": _Truth, "bugs": _Bug}
        known = list(holder.get(path, kind).__annotations__)
        near = difflib.get_close_matches(unknown[1], known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known fields are {', '.join(known)}"
        name = f"{path}.{unknown[1]}" if path else unknown[1]
        return name, f"is an unknown field; {hint}"
    missing = re.fullmatch(r"Object missing required field `(.*)`", text)
    if missing:
        return f"{path}.{missing[1]}" if path else missing[1], "is missing"
    return path, text[0].lower() + text[1:].replace("`", "")


def _explain_syntax(line: bytes, error: msgspec.DecodeError) -> tuple[str, str]:
    """What is wrong with a line that is not JSON; NaN and Infinity are named with their field."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        if _is_incomplete(line):
            return "", "ends in the middle of a value; the line was cut off"
        return "", f"is not valid JSON ({error})"
    for path, number in _numbers("", value):
        if not math.isfinite(number):
            return path, f"is {number}; numbers must be finite"
    return "", f"is not valid JSON ({error})"


def _numbers(path: str, value: object) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(f"{path}.{key}" if path else key, item)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _numbers(f"{path}[{i}]", item)
    elif isinstance(value, float):
        yield path, value


def _is_incomplete(line: bytes) -> bool:
    """Whether a line that failed to parse is the start of a JSON object that goes on."""
    try:
        msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        return "truncated" in str(error)
    except (UnicodeDecodeError, RecursionError):
        return False
    return False


def _checked_header(header: _Header) -> _Header:
    if header.format != FORMAT:
        raise _FieldError("format", f"is {header.format!r}; expected {FORMAT!r}")
    if header.version != VERSION:
        raise _FieldError(
            "version",
            f"is {header.version}; this fuzzwise reads version {VERSION}. "
            "Update fuzzwise, or ask the writer of the file for that version",
        )
    return header


def _checked_truth(raw: _Truth) -> Truth:
    if raw.discoveries is not None and raw.inputs is not None:
        if raw.probability is not None:
            raise _FieldError("truth", "gives both a measurement and a probability; give one")
        share = (
            raw.discoveries / raw.inputs
            if 0 < raw.inputs <= LARGEST and abs(raw.discoveries) <= LARGEST
            else 0.0
        )
        return Truth(share, raw.discoveries, raw.inputs)
    if raw.probability is None or raw.discoveries is not None or raw.inputs is not None:
        raise _FieldError("truth", "needs either discoveries and inputs, or a probability")
    return Truth(raw.probability)


def _raw_truth(truth: Truth) -> _Truth:
    if truth.discoveries is None:
        return _Truth(probability=truth.probability)
    return _Truth(discoveries=truth.discoveries, inputs=truth.inputs)


def _seed_counts(raw: _Seeds) -> SeedCounts:
    optional = {
        name: None if (column := getattr(raw, name)) is None else _ints(f"seeds.{name}", column)
        for name in ("f1", "f2", "k", "g")
    }
    return SeedCounts(q=np.array(raw.q, dtype=np.float64), n=_ints("seeds.n", raw.n), **optional)


def _ints(where: str, values: list[int]) -> Ints:
    try:
        column = np.array(values, dtype=np.int64)
        if not len(column) or -LARGEST <= column.min() <= column.max() <= LARGEST:
            return column
    except OverflowError:
        pass
    raise _FieldError(where, "has a number beyond 2^53; counts must be smaller")


def _as_list(column: Ints | None) -> list[int] | None:
    return None if column is None else column.tolist()
