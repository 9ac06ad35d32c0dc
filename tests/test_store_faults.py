"""The store of a campaign when things go wrong: kills, cut files, full disks, other versions."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from fuzzwise.campaign.finished import run_entry
from fuzzwise.errors import BadInput
from fuzzwise.store import sqlite as database
from fuzzwise.store.contract import Damaged, StoreFull
from fuzzwise.store.sql.migrations import STEPS, migrate, version_of
from fuzzwise.store.sql.store import SqlStore
from fuzzwise.store.sqlite import FILE, open_for_writing
from reading import read_history, read_observations, read_state
from stored import PER_EPOCH, Writers, begun, epoch, found, is_consistent, plan, target, turn


def test_killing_the_writer_loses_nothing_that_was_said(tmp_path: Path) -> None:
    kills = 25
    chance = random.Random(5)
    said: dict[str, int] = {}
    numbers: set[int] = set()
    with Writers(tmp_path) as writers:
        for _ in range(kills):
            pid = writers.start()
            lines = [writers.line() for _ in range(chance.randrange(6))]
            time.sleep(chance.choice((0.05, 0.005)) * chance.random())
            for line in [*lines, *writers.kill(pid)]:
                number, name, n = line.split()
                numbers.add(int(number))
                said[name] = int(n)
            if numbers:
                assert is_consistent(tmp_path)
                for shown in read_state(tmp_path).targets:
                    assert shown.inputs >= said.get(shown.name, 0)
                    assert len(shown.bugs) == shown.inputs // 500
    assert len(numbers) > kills
    raw = sqlite3.connect(tmp_path / FILE)
    ended = {row[0] for row in raw.execute("SELECT id FROM epochs WHERE ended IS NOT NULL")}
    (lost,) = raw.execute("SELECT count(*) FROM epochs WHERE ended IS NULL").fetchone()
    raw.close()
    assert numbers <= ended
    assert lost <= kills
    assert not list(tmp_path.glob("*.damaged*"))


def test_who_was_told_of_damage_holds_on_to_no_file(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(100))
        epoch(store, 2.0, "b", turn(100))
    with closing(sqlite3.connect(tmp_path / FILE)) as raw:
        raw.execute("UPDATE observations SET content = x'81'")
        raw.commit()
    with pytest.raises(Damaged) as told:
        read_observations(tmp_path)
    assert told.traceback  # as long as the error is known, so is what was being read
    files = [path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    assert tmp_path / FILE not in files


def test_a_reader_sees_whole_epochs_while_another_process_writes(tmp_path: Path) -> None:
    with Writers(tmp_path) as writers:
        pid = writers.start()
        first = writers.line()
        seen = []
        while len(seen) < 20 or (seen[-1] < 20 and len(seen) < 2000):
            state = read_state(tmp_path)
            seen.append(state.epochs)
            assert sum(t.inputs for t in state.targets) == PER_EPOCH * state.epochs
            assert all(len(t.bugs) == t.inputs // 500 for t in state.targets)
        said = [first, *writers.kill(pid)]
    assert seen == sorted(seen)
    assert 1 <= seen[0] < seen[-1] <= len(said) + 1


def copied(folder: Path, to: Path, wal: int | None = None) -> Path:
    """The files as they are now, as a kill would leave them; the log cut to so many bytes."""
    to.mkdir()
    shutil.copy(folder / FILE, to)
    log = (folder / f"{FILE}-wal").read_bytes()
    (to / f"{FILE}-wal").write_bytes(log if wal is None else log[:wal])
    return to


def test_a_log_that_was_cut_loses_only_the_last_transactions(tmp_path: Path) -> None:
    folder = tmp_path / "whole"
    with begun(folder) as store:
        for i in range(1, 31):
            epoch(store, float(i), "a", turn(100 * i))
        size = (folder / f"{FILE}-wal").stat().st_size
        kept = []
        for cut in [*np.linspace(size // 3, size, 12).astype(int).tolist(), size - 1, size - 5000]:
            copy = copied(folder, tmp_path / f"cut-{cut}", cut)
            with SqlStore.open(copy) as again:
                assert again.notes == ()
                again.begin_run(run_entry(plan(copy), None))
                assert epoch(again, 31.0, "a", turn(4000)) == ()
            assert is_consistent(copy)
            kept.append((cut, read_state(copy).targets[0].epochs - 1))
        copy = copied(folder, tmp_path / "spoilt")
        log = bytearray((copy / f"{FILE}-wal").read_bytes())
        log[size // 2 : size // 2 + 100] = b"\xff" * 100
        (copy / f"{FILE}-wal").write_bytes(log)
        assert is_consistent(copy)
        assert 0 < read_state(copy).epochs < 30
    epochs = [count for _, count in sorted(kept)]
    assert epochs == sorted(epochs)
    assert epochs[0] < 20 < epochs[-2] < epochs[-1] == 30


def test_a_log_that_was_cut_never_puts_old_pages_over_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever the log's pages go to the main file, and wherever the log is cut after that."""
    monkeypatch.setattr(database, "MOST_WAL", 60_000)
    chance = random.Random(3)
    folder = tmp_path / "whole"
    lowest = 0
    with begun(folder) as store:
        for i in range(1, 31):
            epoch(store, float(i), "a", turn(100 * i))
            size = (folder / f"{FILE}-wal").stat().st_size
            copy = copied(folder, tmp_path / f"cut-{i}", chance.randrange(size + 1))
            with SqlStore.open(copy) as again:
                assert again.notes == ()
            assert is_consistent(copy)
            count = read_state(copy).targets[0].epochs
            assert count >= lowest
            lowest = max(lowest, count - 15)
    assert lowest >= 10


@pytest.mark.parametrize("left", [0, 1, 50, 100, 5000, 0.5, -4096, -1])
def test_a_main_file_that_was_cut_is_put_aside(tmp_path: Path, left: float) -> None:
    with begun(tmp_path) as store:
        for i in range(1, 31):
            epoch(store, float(i), "a", turn(100 * i))
    (tmp_path / "targets").mkdir()
    data = (tmp_path / FILE).read_bytes()
    cut = data[: int(len(data) * left)] if isinstance(left, float) else data[:left]
    (tmp_path / FILE).write_bytes(cut)
    assert_put_aside(tmp_path, cut)


def assert_put_aside(folder: Path, content: bytes) -> None:
    with SqlStore.open(folder) as store:
        (note,) = store.notes
        assert "damaged" in note
        assert str(folder / f"{FILE}.damaged-1") in note
        store.begin_run(run_entry(plan(folder), None))
        assert store.recover(0.0, "a", turn(500, found("x"))).new_bugs == ("x",)
    assert (folder / f"{FILE}.damaged-1").read_bytes() == content
    assert is_consistent(folder)


def test_what_is_no_database_is_put_aside_with_its_log_each_time(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"Not a database. " * 1000)
    (tmp_path / f"{FILE}-wal").write_bytes(b"no log")
    with pytest.raises(BadInput, match="damaged"):
        read_state(tmp_path)
    assert_put_aside(tmp_path, b"Not a database. " * 1000)
    assert (tmp_path / f"{FILE}.damaged-1-wal").read_bytes() == b"no log"
    (tmp_path / FILE).write_bytes(b"Again. " * 1000)
    SqlStore.open(tmp_path).close()
    assert (tmp_path / f"{FILE}.damaged-2").read_bytes() == b"Again. " * 1000


def test_pages_that_were_overwritten_are_found(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        for i in range(1, 31):
            epoch(store, float(i), "a", turn(100 * i))
    data = bytearray((tmp_path / FILE).read_bytes())
    data[4096 : 4096 * 8] = random.Random(1).randbytes(4096 * 7)
    (tmp_path / FILE).write_bytes(data)
    assert_put_aside(tmp_path, bytes(data))


def test_a_new_folder_is_not_damaged(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    with SqlStore.open(tmp_path) as store:
        assert store.notes == ()


@contextmanager
def mounted(place: Path, options: str) -> Iterator[Path]:
    place.mkdir(exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
    try:
        done = subprocess.run(words, capture_output=True, check=False)
    except OSError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip("a small file system may not be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_full_disk_is_said_and_then_forgotten(tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "size=3m") as folder, begun(folder) as store:

        def go_on() -> None:
            for n in range(100, 100_000, 100):
                epoch(store, float(n), "a", turn(n, found(str(n))))

        with pytest.raises(OSError, match="space"):
            fill(folder / "filler")
        with pytest.raises(StoreFull, match="full") as caught:
            go_on()
        assert str(folder) in str(caught.value)
        with pytest.raises(StoreFull):
            go_on()
        before = store.state()
        reached = before.targets[0].inputs
        assert len(before.bugs) == reached // 100
        (folder / "filler").unlink()
        bugs = [found(str(n)) for n in range(100, reached + 101, 100)]
        assert epoch(store, 1e6, "a", turn(reached + 100, *bugs)) == (str(reached + 100),)
        assert target(store, "a").inputs == reached + 100


def test_a_read_only_disk_can_be_read_but_not_written(tmp_path: Path) -> None:
    with mounted(tmp_path / "disk", "size=3m") as folder:
        with begun(folder) as store:
            epoch(store, 1.0, "a", turn(100))
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        assert read_state(folder).targets[0].inputs == 100
        with pytest.raises(BadInput, match=r"cannot be|cannot hold"):
            begun(folder).__enter__()


def test_folders_that_cannot_be_used_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no campaign"):
        read_state(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot hold a campaign"):
        SqlStore.open(tmp_path / "file")
    (tmp_path / FILE).mkdir()
    with pytest.raises(BadInput, match=FILE):
        SqlStore.open(tmp_path)
    SqlStore.open(tmp_path / "new").close()
    with pytest.raises(BadInput, match="holds no campaign"):
        read_state(tmp_path / "new")


def test_a_transaction_is_on_the_disk_when_it_ends(tmp_path: Path) -> None:
    with open_for_writing(tmp_path / FILE) as connection:
        names = ("synchronous", "journal_mode", "foreign_keys")
        settings = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names]
    assert settings == [2, "wal", 1]


# Versions.


def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    begun(tmp_path).__enter__().close()
    with open_for_writing(tmp_path / FILE) as connection, connection.begin():
        connection.execute(text("INSERT INTO schema_version VALUES (99, '9.9')"))
    before = (tmp_path / FILE).read_bytes()
    for use in (SqlStore.open, read_state, read_history):
        with pytest.raises(BadInput, match=r"newer fuzzwise .*version 99.* Update"):
            use(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_an_older_database_goes_through_the_steps_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / FILE

    def colour(connection) -> None:
        connection.execute(text("ALTER TABLE targets ADD COLUMN colour TEXT DEFAULT 'red'"))

    def half(connection) -> None:
        connection.execute(text("ALTER TABLE targets ADD COLUMN size INTEGER"))
        raise RuntimeError

    begun(tmp_path).__enter__().close()
    with open_for_writing(path) as connection:
        with pytest.raises(RuntimeError):
            migrate(connection, path, (*STEPS, colour, half))
        with connection.begin():
            assert version_of(connection) == len(STEPS) + 1
            row = connection.execute(text("SELECT * FROM targets")).mappings().first()
        assert row is not None
        assert (row["name"], row["colour"], "size" in row) == ("a", "red", False)
        migrate(connection, path, (*STEPS, colour))
    empty = tmp_path / "empty.db"
    with open_for_writing(empty) as connection:
        migrate(connection, empty, (*STEPS, colour))
        with connection.begin():
            assert version_of(connection) == len(STEPS) + 1


def test_an_older_database_is_read_but_not_changed_by_a_reader(tmp_path: Path) -> None:
    with begun(tmp_path) as store:
        epoch(store, 2.0, "a", turn(200))
    path = tmp_path / FILE
    with sqlite3.connect(path) as connection:  # as version 1 was
        connection.execute("DELETE FROM schema_version WHERE version > 1")
        connection.execute("ALTER TABLE bugs DROP COLUMN checked")
        connection.execute("ALTER TABLE targets DROP COLUMN seconds_to_decision")
        connection.execute("ALTER TABLE targets DROP COLUMN discovery_rate")
    connection.close()
    before = path.read_bytes()
    assert read_state(tmp_path).targets[0].inputs == 200
    assert path.read_bytes() == before
