"""Log files: every event of a recording in one columnar file (docs/log-format.md).

A log is an Arrow IPC stream with the ending ``.fuzzlog``: a header, then batches of events, each
compressed and whole in itself. So a log can be read up to the point where it was cut off, and any
program that reads Arrow reads it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from fuzzwise import __version__
from fuzzwise.errors import BadInput, need_extra
from fuzzwise.files import new_file, see_to_disk
from fuzzwise.lab.recording.batch_size import declared_bytes
from fuzzwise.model import Ints
from fuzzwise.received import MOST_DATA, read_limited

SUFFIX = ".fuzzlog"
FORMAT = "fuzzwise-log"
VERSION = 1

MARK, CRASH, HANG, OUT_OF_MEMORY = 0, 1, 2, 3
"""The kinds of events. A mark only says how many runs had been made by then."""

NO_BUG = -1

LARGEST_RATIO = 100
"""How much larger than its file a log may be: what was recorded is so about ten times."""

LEAST = 1 << 20

_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""What a finished Arrow stream ends with."""

Words = NDArray[np.uint64]


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """What was fuzzed, with everything that makes any of its inputs again.

    A program with a slash in its name, unless absolute, is beside the file that ordered the
    recording; ``folder`` is where that was.
    """

    name: str
    command: tuple[str, ...]
    seed: bytes
    suffix: str = ""
    random_seed: int
    mutator: int = 0
    mutation: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    mode: str = ""
    folder: str = ""


class LoggedBug(msgspec.Struct, frozen=True, kw_only=True):
    """A bug that triage found behind crashes of the log."""

    id: str
    kind: str = ""
    severity: str = ""
    frames: tuple[str, ...] = ()
    crashes: int = 0
    reproducer: str = ""
    """The name of the configuration, a hyphen, and the run whose input shows the bug."""
    flaky: bool = False


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a log says about all its events."""

    configurations: tuple[Configuration, ...]
    bugs: tuple[LoggedBug, ...] = ()
    seconds: float = 0.0
    """The time that each configuration was to be fuzzed."""
    triaged: bool = False
    """Whether crashes were grouped into bugs."""
    note: str = ""
    written_by: str = f"fuzzwise {__version__}"
    format: str = FORMAT
    version: int = VERSION


class Event(NamedTuple):
    """One row of a log; clocks are the configuration's own.

    ``trace`` is a hash of the raw stack (0: unknown), ``input`` one of the input; ``bug`` an index
    into the header's bugs.
    """

    configuration: int
    kind: int
    run: int
    microseconds: int
    signal: int = 0
    trace: int = 0
    input: int = 0
    bug: int = NO_BUG


@dataclass(frozen=True, eq=False)
class Events:
    """The rows of a log as columns, in the order of ``Event``."""

    configuration: Ints
    kind: Ints
    run: Ints
    microseconds: Ints
    signal: Ints
    trace: Words
    input: Words
    bug: Ints

    def __len__(self) -> int:
        return len(self.run)

    def rows(self, chosen: Any = slice(None)) -> Events:
        """Those rows that a mask, a slice or an array of positions names."""
        return Events(*(getattr(self, name)[chosen] for name in COLUMNS))

    @classmethod
    def of(cls, events: Sequence[Event]) -> Events:
        """Columns from single rows."""
        columns = zip(*events, strict=True) if events else ((),) * len(COLUMNS)
        typed = zip(COLUMNS, columns, strict=True)
        return cls(*(np.array(column, _TYPES[name]) for name, column in typed))


COLUMNS = Event._fields
_TYPES: dict[str, type] = dict.fromkeys(COLUMNS, np.int64) | {
    "trace": np.uint64,
    "input": np.uint64,
}


@dataclass(frozen=True, eq=False)
class Log:
    """What a file holds: its header, its events in order, and what is wrong with it."""

    path: Path
    header: Header
    events: Events
    warnings: tuple[str, ...] = ()


def load_pyarrow() -> Any:
    """The pyarrow module, or the command that installs it."""
    try:
        import_module("pyarrow.ipc")
        return import_module("pyarrow")
    except ImportError as error:
        raise need_extra("A log", "pyarrow", "lab") from error


class LogWriter:
    """Appends batches of events to a log; each batch is on the disk, whole, once added."""

    def __init__(self, path: Path, header: Header, events: Events | None = None) -> None:
        """Start the log, or start it again with the events that it had: all or nothing."""
        self._pa = load_pyarrow()
        self._path = path
        metadata = {"fuzzwise": msgspec.json.encode(header)}
        self._schema = _schema(self._pa).with_metadata(metadata)
        options = self._pa.ipc.IpcWriteOptions(compression="zstd")
        try:
            self._file, partial = new_file(path)
        except OSError as error:
            raise _cannot_write(path, error) from error
        try:
            self._stream = self._pa.ipc.new_stream(self._file, self._schema, options=options)
            # The stream writes its header with the first batch, be it empty.
            self._add(Events.of(()) if events is None else events)
            partial.replace(path)
            see_to_disk(path.parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise _cannot_write(path, error) from error

    def add(self, events: Events) -> None:
        """Append a batch."""
        if len(events):
            try:
                self._add(events)
            except OSError as error:
                raise _cannot_write(self._path, error) from error

    def _add(self, events: Events) -> None:
        columns = [
            self._pa.array(getattr(events, name), type=kind) for name, kind in _columns(self._pa)
        ]
        self._stream.write_batch(self._pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Write the end."""
        try:
            with self._file:
                self._stream.close()
        except OSError as error:
            raise _cannot_write(self._path, error) from error


def write_log(path: Path, header: Header, events: Events) -> None:
    """Write a whole log at once; an existing file is replaced."""
    LogWriter(path, header, events).close()


def read_log(path: Path) -> Log:
    """Read a log as far as it goes; a warning says where it was cut off."""
    pa = load_pyarrow()
    try:
        data = read_limited(path, MOST_DATA)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.") from error
    source = pa.BufferReader(data)
    header, schema, messages = _open(path, source)
    batches, good, is_whole = _batches(messages, schema, source, LARGEST_RATIO * len(data) + LEAST)
    events = _events(pa.Table.from_batches(batches, schema))
    if is_whole and data.endswith(_END) and source.tell() == len(data):
        return Log(path, header, events)
    if good < len(data):
        warning = (
            f"{path} is cut off or damaged after byte {good:,} of {len(data):,}: "
            f"read up to there, {len(events):,} events."
        )
    else:
        warning = f"{path} was not finished: {len(events):,} events up to the last one saved."
    return Log(path, header, events, (warning,))


def _open(path: Path, source: Any) -> tuple[Header, Any, Any]:
    """The header, the columns, and the messages behind them."""
    pa = load_pyarrow()
    try:
        messages = pa.ipc.MessageReader.open_stream(source)
        schema = pa.ipc.read_schema(messages.read_next_message())
        header = _header(path, schema.metadata or {})
    except (pa.ArrowException, OSError, StopIteration) as error:
        raise BadInput(
            f"{path} is not a log: it has no readable header. Record it again with: "
            "fuzzwise record CONFIG.toml"
        ) from error
    if not schema.equals(_schema(pa)):
        raise BadInput(f"{path} is not a log of version {VERSION}: its columns are different.")
    return header, schema, messages


def _batches(messages: Any, schema: Any, source: Any, room: int) -> tuple[list[Any], int, bool]:
    """The batches up to the first bad one, where the last good one ends, and whether all are.

    ``room`` is what all of them may take in memory.
    """
    pa = load_pyarrow()
    batches: list[Any] = []
    good = source.tell()
    try:
        for message in messages:
            room -= declared_bytes(message.metadata.to_pybytes(), memoryview(message.body))
            if room < 0:
                raise ValueError("more than a file of this size can hold")
            batch = pa.ipc.read_record_batch(message, schema)
            batch.validate(full=True)
            if any(column.null_count for column in batch.columns):
                raise ValueError("a value is missing")
            batches.append(batch)
            good = source.tell()
    except (pa.ArrowException, OSError, ValueError, TypeError):
        return batches, good, False
    return batches, good, True


def _events(table: Any) -> Events:
    return Events(*(table[name].to_numpy().astype(_TYPES[name]) for name in COLUMNS))


def _header(path: Path, metadata: dict[bytes, bytes]) -> Header:
    try:
        said = msgspec.json.decode(metadata.get(b"fuzzwise", b"{}"))
        if said.get("format") == FORMAT and said.get("version", 0) > VERSION:
            raise BadInput(
                f"{path} has version {said['version']} of the log format; this fuzzwise knows "
                f"{VERSION}. Update fuzzwise."
            )
        header = msgspec.convert(said, Header)
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not a log of fuzzwise: its header does not say so.") from error
    if header.format != FORMAT:
        raise BadInput(f"{path} is not a log of fuzzwise: its format is {header.format!r}.")
    return header


def _columns(pa: Any) -> tuple[tuple[str, Any], ...]:
    return (
        ("configuration", pa.uint16()),
        ("kind", pa.uint8()),
        ("run", pa.int64()),
        ("microseconds", pa.int64()),
        ("signal", pa.uint8()),
        ("trace", pa.uint64()),
        ("input", pa.uint64()),
        ("bug", pa.int32()),
    )


def _schema(pa: Any) -> Any:
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in _columns(pa)])


def _cannot_write(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path} cannot be written: {error.strerror or error}.")
