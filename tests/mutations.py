"""Ways in which files are damaged, or made by somebody who means ill; each follows from a seed."""

from __future__ import annotations

import os
import random
import re
import shutil
import socket
import sqlite3
import struct
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path

NUMBERS = (
    "0", "-1", "1", "7", "255", "65536", "2147483647", "4294967296", "1000000000000000",
    "9223372036854775807", "9223372036854775808", "18446744073709551615", "99999999999999999999",
    "9" * 400, "9" * 5000, "NaN", "nan", "inf", "-inf", "Infinity", "1e308", "1e400", "-1e308",
    "0.1", "1e-320", "0x10", "1_000", "", "null", "true", '""', "[]", "{}",
)  # fmt: skip
WORDS = (
    b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\x1b[31m", b"\r", b"\n\n",
    b"[" * 3000, b"{\"a\":" * 3000, b"'", b'"', b"\xef\xbb\xbf", b",", b":", b"#", b"=", b"\t",
    "‮é💥".encode(), b"x" * 70_000, b"../" * 20, b"%n%s", b"\xf5\x80\x80\x80",
)  # fmt: skip
WHOLE = (0, 1, 2, 0xFF, 0x7FFF, 1 << 31, (1 << 32) - 1, 1 << 36, 1 << 53, (1 << 63) - 1, 1 << 63,
         (1 << 64) - 1)  # fmt: skip


def of_bytes(rng: random.Random, content: bytes) -> bytes:
    """The content with one to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = rng.choice(_CHANGES)(rng, content)[: 1 << 20]
    return content


def of_tree(rng: random.Random, folder: Path, files: Sequence[Path]) -> str:
    """Damage one file of a folder, or put something else in its place; what was done."""
    path = rng.choice(files)
    kind = rng.random()
    if kind < 0.9:
        content = of_bytes(rng, path.read_bytes())
        path.write_bytes(content)
        return f"{path.relative_to(folder)} changed"
    change = rng.choice(_REPLACEMENTS)
    change(path, rng.choice(files))
    return f"{path.relative_to(folder)}: {change.__name__}"


# ── bytes ─────────────────────────────────────────────────────────────────────────────────────


def _flip(rng: random.Random, content: bytes) -> bytes:
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def _overwrite(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    put = rng.randbytes(rng.choice((1, 2, 4, 8, 64)))
    return content[:at] + put + content[at + len(put) :]


def _whole_number(rng: random.Random, content: bytes) -> bytes:
    width = rng.choice((2, 4, 8))
    put = (rng.choice(WHOLE) % (1 << 8 * width)).to_bytes(width, rng.choice(("little", "big")))
    at = rng.randrange(len(content) + 1)
    if rng.random() < 0.5:
        at -= at % width
    return content[:at] + put + content[at + width :]


def _cut(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _leave_out(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[at + rng.choice((1, 2, 8, 100, 1000)) :]


def _insert(rng: random.Random, content: bytes) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(WORDS) + content[at:]


def _number(rng: random.Random, content: bytes) -> bytes:
    """Another number in the place of one, as text."""
    found = list(re.finditer(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", content[: 1 << 16]))
    if not found:
        return content
    where = rng.choice(found)
    return content[: where.start()] + rng.choice(NUMBERS).encode() + content[where.end() :]


def _repeat(rng: random.Random, content: bytes) -> bytes:
    """A part many times over: as a whole line, or as any bytes."""
    start = rng.randrange(len(content) + 1)
    if rng.random() < 0.5:
        start = content.rfind(b"\n", 0, start) + 1
        end = content.find(b"\n", start) + 1 or len(content)
    else:
        end = start + rng.choice((1, 8, 100))
    again = content[start : min(end, start + 1000)]
    return content[:end] + again * rng.choice((1, 2, 50, 2000)) + content[end:]


def _exchange(rng: random.Random, content: bytes) -> bytes:
    """Two lines in each other's place."""
    lines = content.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _nothing_but_zeros(rng: random.Random, content: bytes) -> bytes:
    """What a disk may have after a power cut: a page of zeros."""
    at = rng.randrange(len(content) + 1) // 512 * 512
    return content[:at] + bytes(len(content[at : at + 512])) + content[at + 512 :]


_CHANGES: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    *(_flip, _overwrite, _whole_number, _cut, _leave_out, _insert, _number, _number, _repeat),
    *(_exchange, _nothing_but_zeros),
)


# ── something else in the place of a file ─────────────────────────────────────────────────────


def _missing(path: Path, other: Path) -> None:
    path.unlink()


def _empty(path: Path, other: Path) -> None:
    path.write_bytes(b"")


def _pipe(path: Path, other: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _a_folder(path: Path, other: Path) -> None:
    path.unlink()
    path.mkdir()


def _a_link(path: Path, other: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _a_link_to_itself(path: Path, other: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _a_socket(path: Path, other: Path) -> None:
    path.unlink()
    with socket.socket(socket.AF_UNIX) as server, suppress(OSError):  # a name that is too long
        server.bind(str(path))


def _another_file(path: Path, other: Path) -> None:
    if path != other:
        shutil.copyfile(other, path)


def _huge(path: Path, other: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(1 << 39)


_REPLACEMENTS = (
    *(_missing, _empty, _pipe, _a_folder, _a_link, _a_link_to_itself, _a_socket, _another_file),
    _huge,
)


# ── databases ─────────────────────────────────────────────────────────────────────────────────

_VALUES: tuple[object, ...] = (
    None, 0, 1, -1, 2**31, 2**53, 2**63 - 1, -(2**63), 0.5, -1.5, 1e308, float("inf"),
    float("-inf"), "", "text", "9" * 400, "a\x00b", "\x1b[31m", "[" * 5000, "{}", "[]", "[1]",
    '"text"', '{"value": 1}', '[null]', "NaN", "[NaN]", b"", b"\xff\xfe\x00", b"x" * 50_000,
    '{"value":NaN,"low":null,"high":null,"confidence":null,"method":"x","n":1,"note":""}',
    '{"value":1e999,"low":"a","high":[],"confidence":7,"method":9,"n":-1,"note":""}',
    '["\\ud800"]', "null", "true", "12", "1e999", "x" * 100_000,
)  # fmt: skip

_ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT {} FROM r"


def of_database(rng: random.Random, path: Path) -> str:
    """Change values or the schema of a database by its own language; what was done."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.text_factory = bytes
        tables = {
            name.decode(): [row[1].decode() for row in _columns(connection, name.decode())]
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        }
        name = rng.choice(sorted(tables))
        change = rng.choice((_cells, _cells, _cells, _cells, _cells, _rows, _structure))
        with suppress(sqlite3.Error, OverflowError):
            change(rng, connection, name, tables[name])
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return f"{name}: {change.__name__}"


def _columns(connection: sqlite3.Connection, name: str) -> list[tuple[bytes, ...]]:
    return connection.execute(f"PRAGMA table_info({name})").fetchall()


def _cells(
    rng: random.Random, connection: sqlite3.Connection, name: str, columns: list[str]
) -> None:
    connection.execute("PRAGMA ignore_check_constraints=ON")
    for _ in range(rng.choice((1, 1, 2, 5))):
        column, value = rng.choice(columns), rng.choice(_VALUES)
        if isinstance(value, str) and rng.random() < 0.1:
            connection.execute(f"UPDATE {name} SET {column} = CAST(x'fffe80' AS TEXT)")
        else:
            connection.execute(f"UPDATE {name} SET {column} = ?", (value,))


def _rows(
    rng: random.Random, connection: sqlite3.Connection, name: str, columns: list[str]
) -> None:
    if rng.random() < 0.3:
        connection.execute(f"DELETE FROM {name}")
        return
    others = [column for column in columns if column != "id"]
    listed = ", ".join(others)
    for _ in range(rng.choice((1, 5, 10))):
        connection.execute(f"INSERT INTO {name} ({listed}) SELECT {listed} FROM {name} LIMIT 2000")


def _structure(
    rng: random.Random, connection: sqlite3.Connection, name: str, columns: list[str]
) -> None:
    kind = rng.randrange(5)
    if kind == 0:
        connection.execute(f"DROP TABLE {name}")
    elif kind == 1:
        connection.execute(f"DROP TABLE {name}")
        values = ", ".join(f"x AS {column}" for column in columns)
        connection.execute(f"CREATE VIEW {name} AS {_ENDLESS.format(values)}")
    elif kind == 2:
        connection.execute(f"ALTER TABLE {name} RENAME COLUMN {rng.choice(columns)} TO other")
    elif kind == 3:
        endless = _ENDLESS.format("max(x)")
        connection.execute(f"ALTER TABLE {name} ADD COLUMN more AS (({endless}))")
    else:
        connection.execute("PRAGMA writable_schema=ON")
        text = rng.choice(("", "CREATE TABLE x(", "CREATE VIEW runs AS SELECT 1", "\x00"))
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (text, name))


def of_words(rng: random.Random, content: bytes, width: int = 8) -> bytes:
    """One aligned whole number replaced: what lies in memory as it lies in the file."""
    if len(content) < width:
        return content
    at = rng.randrange(len(content) // width) * width
    return content[:at] + struct.pack("<Q", rng.choice(WHOLE))[:width] + content[at + width :]
