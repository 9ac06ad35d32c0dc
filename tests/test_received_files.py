"""Whatever stands in the place of a file: the commands end, within bounds, with a sentence."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import pytest

from bounded import bounded
from fuzzwise.campaign.baseline import read_baseline
from fuzzwise.cli import load
from fuzzwise.config.table import read_toml
from fuzzwise.engines.blackbox import MUTATOR_VERSION, tally
from fuzzwise.engines.observer.folder import CampaignFolder, DamagedState
from fuzzwise.engines.observer.observed import CorpusFiles, sound_state
from fuzzwise.engines.observer.state import Head, State
from fuzzwise.errors import BadInput
from fuzzwise.lab.recording import log as logs
from fuzzwise.lab.recording.log import read_log
from fuzzwise.lab.recording.triaged import input_of
from fuzzwise.received import open_regular, parse_json, read_limited
from fuzzwise.snapshot import read as read_snapshots
from fuzzwise.store import sqlite, sqlite_folder
from fuzzwise.store.contract import Damaged
from fuzzwise.store.places import open_reader
from fuzzwise.store.sql import soundness
from fuzzwise.store.sql.store import SqlStore
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.inputs import command_of
from fuzzwise.watch.recognise import read as watch
from observer_states import make_campaign, make_state
from stored import begun, epoch, found, turn
from test_log import crashes, header
from test_watch_tables import CENTIPEDE, HONGGFUZZ, centipede_row, honggfuzz_row

READERS: dict[str, Callable[[Path], object]] = {
    "snapshot": read_snapshots,
    "recording": read_log,
    "baseline": read_baseline,
    "campaign file": read_toml,
    "watched": lambda path: watch([path]),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("what", ["pipe", "socket", "folder", "device"])
def test_what_is_no_regular_file_is_refused_at_once(name, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    path = Path("here")
    if what == "pipe":
        os.mkfifo(path)
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("here")
    elif what == "folder":
        path.mkdir()
    else:
        path = Path("/dev/zero")
    with bounded(), pytest.raises(BadInput):
        READERS[name](path)


def test_a_link_is_followed_where_the_user_named_it_and_nowhere_else(tmp_path):
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    assert read_limited(tmp_path / "link") == b"text"
    with pytest.raises(BadInput, match="is a link"):
        open_regular(tmp_path / "link", follow=False)


def test_a_file_that_is_too_large_is_refused_and_not_cut(tmp_path):
    (tmp_path / "file").write_bytes(bytes(11))
    assert len(read_limited(tmp_path / "file", 11)) == 11
    with pytest.raises(BadInput, match="more than 10 bytes"):
        read_limited(tmp_path / "file", 10)
    with (tmp_path / "file").open("wb") as file:
        file.truncate(1 << 39)
    with bounded(), pytest.raises(BadInput, match="too large"):
        read_limited(tmp_path / "file")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "[" * 70 + "]" * 70, "NaN", "1e999", '"\\ud800"', "9" * 5000, "{", ""]
)
def test_what_no_program_writes_as_json_is_refused_without_a_traceback(text):
    with pytest.raises(ValueError, match=r"\w"):
        parse_json(text)
    assert parse_json('{"name": "\\udcff", "n": [1, 2.5, null]}')["n"] == [1, 2.5, None]


@pytest.mark.parametrize("place", ["campaign.json", "state/head", "state/discoveries"])
def test_a_pipe_inside_of_a_campaign_of_one_target_is_damage(place, tmp_path):
    make_campaign(tmp_path)
    (tmp_path / place).unlink()
    os.mkfifo(tmp_path / place)
    folder = CampaignFolder(tmp_path)
    with bounded():
        with pytest.raises(BadInput, match=Path(place).name):
            watch([tmp_path])
        with pytest.raises(DamagedState, match=Path(place).name):
            _go_on(folder)


def _go_on(folder: CampaignFolder) -> None:
    """What `fuzzwise fuzz` does with a folder before it goes on."""
    folder.agreed("f" * 64, {"species": "feature"})
    state = sound_state(folder, 1000)
    assert state is not None
    state.observation(12.5)
    CorpusFiles(folder).write(state)


def test_pipes_in_the_place_of_records_are_passed_over(tmp_path):
    make_campaign(tmp_path)
    for path in (tmp_path / "campaign.json", *tmp_path.glob("crashes/*/bug.json")):
        path.unlink()
        os.mkfifo(path)
    os.mkfifo(tmp_path / "lock")
    with bounded():
        assert BugBook(tmp_path / "crashes").bugs.keys() == {"00112233445566aa"}
        assert command_of([tmp_path / "crashes"]) is None
        assert not open_reader(tmp_path).is_running()
        with pytest.raises(BadInput):
            tally.load(tmp_path / "lock")


@pytest.mark.parametrize("name", ["inputs", "species", "discoveries", "seeds", "k"])
def test_counts_that_the_files_cannot_hold_are_damage_and_no_allocation(name, tmp_path):
    make_campaign(tmp_path)
    for count in (1 << 52, (1 << 64) - 1):
        head = make_state(tmp_path / "state")
        setattr(head, name, count)
        (tmp_path / "state" / "head").write_bytes(bytes(head) + bytes(256))
        with bounded(), pytest.raises(DamagedState):
            _go_on(CampaignFolder(tmp_path))


def test_a_seed_outside_of_the_data_is_damage(tmp_path):
    make_campaign(tmp_path)
    path = tmp_path / "state" / "seeds"
    content = bytearray(path.read_bytes())
    content[8:16] = (1 << 40).to_bytes(8, "little")
    path.write_bytes(content)
    folder = CampaignFolder(tmp_path)
    with bounded():
        with pytest.raises(DamagedState, match="seed 0"):
            sound_state(folder, 1000)
        with pytest.raises(DamagedState, match="cut off"):
            CorpusFiles(folder).write(State(folder.state))


@pytest.mark.parametrize(("name", "at"), [("discoveries", 0), ("seeds", 16)])
def test_inputs_that_the_rest_of_the_state_knows_nothing_of_are_damage(name, at, tmp_path):
    make_campaign(tmp_path)
    path = tmp_path / "state" / name
    content = bytearray(path.read_bytes())
    content[at : at + 8] = (1 << 31).to_bytes(8, "little")
    path.write_bytes(content)
    with pytest.raises(DamagedState, match=name):
        sound_state(CampaignFolder(tmp_path), 1000)


def test_a_state_whose_head_is_as_large_as_a_disk_is_read_all_the_same(tmp_path):
    make_campaign(tmp_path)
    with (tmp_path / "state" / "head").open("r+b") as file:
        file.truncate(1 << 39)
    with bounded():
        assert watch([tmp_path])[0].observation.n == 1000
    assert bytes(State(tmp_path / "state").head)[:8] == bytes(Head(magic=0x31657369777A7566))[:8]


def test_a_short_log_that_tells_of_endless_discoveries_is_damage(tmp_path):
    lines = [
        f"#{1000 * i}: cov: 9 ft: {10 + i * 200_000} corp: {1 + i * 200_000} exec/s 1 "
        f"oom/timeout/crash: 0/0/0 time: {i}s job: 1 dft_time: 0\n"
        for i in range(2, 2000)
    ]
    files = {
        "fork.log": "INFO: -fork=1: fuzzing in separate process(s)\n" + "".join(lines),
        "stats": HONGGFUZZ
        + "".join(honggfuzz_row(i, 10**6 * i, i * 200_000) for i in range(1, 2000)),
        "fuzzing-stats-x.000000.csv": CENTIPEDE
        + "".join(centipede_row(9 * i, 40, 10**6 * i, 6, 200_000 * i, 3) for i in range(2000)),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        with bounded(), pytest.raises(BadInput, match="damaged"):
            watch([tmp_path / name])


def test_a_number_that_is_next_to_nothing_makes_no_endless_shards(tmp_path):
    path = tmp_path / "fuzzing-stats-x.000000.csv"
    names = "NumExecs_Min,NumExecs_Max,NumExecs_Sum,UnixMicros_Max"
    path.write_text(f"{names}\n" + "".join(f"1e-320,1e-320,{n},{n}\n" for n in (10, 20)))
    assert watch([path])[0].observation.n == 10


def test_a_record_of_a_bug_that_is_too_deep_is_made_again_from_its_report(tmp_path):
    make_campaign(tmp_path)
    (path,) = tmp_path.glob("crashes/*/bug.json")
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record).replace('"it crashed"', "[" * 100_000))
    assert BugBook(tmp_path / "crashes").bugs[record["id"]].kind == "SEGV"


def test_a_short_recording_that_asks_for_endless_memory_is_read_up_to_there(tmp_path):
    path = tmp_path / "a.fuzzlog"
    logs.write_log(path, header(), logs.Events.of(crashes(500)))
    content = path.read_bytes()
    length = (8 * 500).to_bytes(8, "little")  # of a column, before it was compressed
    at = content.index(length, content.index(length) + 8)
    for asked in (1 << 40, (1 << 63) - 1, 1 << 63):
        path.write_bytes(content[:at] + asked.to_bytes(8, "little") + content[at + 8 :])
        with bounded():
            log = read_log(path)
        assert len(log.events) == 0
        assert "cut off or damaged" in log.warnings[0]


def test_zeros_that_were_compressed_a_million_times_are_no_events(tmp_path):
    path = tmp_path / "a.fuzzlog"
    logs.write_log(path, header(), logs.Events.of([logs.Event(0, logs.MARK, 0, 0)] * 2_000_000))
    assert path.stat().st_size < 100_000
    with bounded():
        assert len(read_log(path).events) == 0


def test_a_recording_with_a_clock_that_no_replay_reaches_the_end_of_is_refused(tmp_path):
    path = tmp_path / "a.fuzzlog"
    events = [logs.Event(0, logs.CRASH, 5, 10, bug=0), logs.Event(0, logs.MARK, 9, 1 << 62)]
    logs.write_log(path, header(bugs=1), logs.Events.of(events))
    words = [str(path), "--scheduler", "fixed-time/round-robin", "--repeats", "1"]
    with bounded(), pytest.raises(BadInput, match="--budget"):
        load("replay").main(words, standalone_mode=False)


def test_a_recording_whose_settings_are_no_numbers_is_refused(tmp_path):
    mutation = {"ratio": [0.1, 10**400], "kinds": ["bits"], "max_length": 9}
    one = header().configurations[0]
    with pytest.raises(BadInput, match="its header has no mutation that can be"):
        input_of(msgspec.structs.replace(one, mutator=MUTATOR_VERSION, mutation=mutation), 1)


def test_a_log_with_a_hole_of_half_a_terabyte_is_read_to_its_end(tmp_path):
    path = tmp_path / "stats"
    path.write_text(HONGGFUZZ + honggfuzz_row(0, 100, 1))
    with path.open("r+b") as file:
        file.truncate(1 << 39)
    with path.open("ab") as file:
        file.write(b"\n" + honggfuzz_row(9, 500, 2).encode())
    with bounded():
        assert watch([path])[0].observation.n == 500


ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT"


@pytest.mark.parametrize("table", ["schema_version", "runs", "targets", "events"])
def test_a_view_in_the_place_of_a_table_is_damage_and_not_run(table, tmp_path):
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(100))
    with closing(sqlite3.connect(tmp_path / "campaign.db")) as connection:
        names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute(f"DROP TABLE {table}")
        columns = ", ".join(f"x AS {name}" for name in names)
        connection.execute(f"CREATE VIEW {table} AS {ENDLESS} {columns} FROM r")
        connection.commit()
    with bounded(), pytest.raises(Damaged, match=f"view.*{table}"):
        open_reader(tmp_path).state()
    with bounded(), begun(tmp_path) as store:
        assert "damaged" in store.notes[0]  # put aside, and the campaign goes on


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ("UPDATE targets SET epochs = 'many'", "targets.epochs"),
        ("UPDATE targets SET seconds = 9e999", "targets.seconds"),
        ("UPDATE bugs SET crashes = -7", "bugs.crashes"),
        ("UPDATE events SET detail = x'00'", "events.detail"),
        ("UPDATE targets SET warnings = 'no list'", "damaged"),
        ("UPDATE bugs SET frames = '[1]'", "damaged"),
        ("UPDATE targets SET name = CAST(x'fffe' AS TEXT)", "UTF-8"),
        ("""UPDATE targets SET risk = '{"value": "low"}'""", "damaged"),
        ("UPDATE targets SET warnings = replace(hex(zeroblob(5000)), '0', '[')", "damaged"),
        ("ALTER TABLE bugs RENAME COLUMN line TO other", "bugs.*line"),
        ("ALTER TABLE runs ADD COLUMN more AS (1)", "computed"),
    ],
)
def test_a_value_that_nobody_has_written_is_damage_with_its_place(change, place, tmp_path):
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(100, found("bug")))
        store.event(1.0, "bug", "a", "It crashed.")
    with closing(sqlite3.connect(tmp_path / "campaign.db")) as connection:
        connection.execute("PRAGMA ignore_check_constraints=ON")
        with suppress(sqlite3.IntegrityError):
            connection.execute(change.replace("UPDATE targets", "UPDATE OR REPLACE targets"))
        connection.commit()
    with bounded(), pytest.raises(Damaged, match=place):
        open_reader(tmp_path).state()
    with begun(tmp_path) as store:
        assert "damaged" in store.notes[0]


@pytest.mark.parametrize(
    ("column", "value"),
    [("ended", "'late'"), ("total_inputs", "'many'"), ("reason", "x'00'"), ("risk", "x'00'")],
)
def test_an_epoch_that_nobody_has_written_is_damage_where_it_is_read(
    column, value, tmp_path, monkeypatch
):
    monkeypatch.setattr(soundness, "LATEST_EPOCHS", 3)
    with begun(tmp_path) as store:
        for number in range(1, 9):
            epoch(store, float(number), "a", turn(100 * number))
    change_epoch(tmp_path, 2, column, value)
    with begun(tmp_path) as store:
        assert not store.notes, "nobody reads it when a campaign goes on"
    reader = open_reader(tmp_path)
    assert reader.state().epochs == 8
    read = reader.decisions if column == "reason" else reader.history
    with pytest.raises(Damaged, match=r"epochs.*move the file away and run the campaign again"):
        read()
    change_epoch(tmp_path, 7, column, value)
    with begun(tmp_path) as store:
        assert "damaged" in store.notes[0]  # one of the latest: put aside


def change_epoch(folder, number, column, value):
    with closing(sqlite3.connect(folder / "campaign.db")) as connection:
        connection.execute(f"UPDATE epochs SET {column} = {value} WHERE id = {number}")
        connection.commit()


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
def test_a_pipe_beside_a_database_is_refused(end, tmp_path):
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(100))
    path = tmp_path / f"campaign.db{end}"
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with bounded():
        with pytest.raises(BadInput, match="regular file"):
            open_reader(tmp_path).state()
        with pytest.raises(BadInput, match="regular file"):
            SqlStore.open(tmp_path)


def test_what_takes_too_long_to_read_is_broken_off(tmp_path, monkeypatch):
    with begun(tmp_path) as store:
        epoch(store, 1.0, "a", turn(100))
    monkeypatch.setattr(sqlite, "READ_SECONDS", 0.2)
    monkeypatch.setattr(sqlite_folder, "check_kinds", lambda connection: connection.exec_driver_sql(
        f"{ENDLESS} max(x) FROM r"
    ))  # fmt: skip
    with bounded(), pytest.raises(Damaged, match="could not be read within"):
        open_reader(tmp_path).state()
