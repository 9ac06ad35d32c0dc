"""Log files: what was written is read, up to the cut; what is no log is refused."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzwise.errors import BadInput
from fuzzwise.lab.recording import log as logs
from fuzzwise.lab.recording.load import TRIAGED, read_recording
from fuzzwise.lab.recording.log import (
    Configuration,
    Event,
    Events,
    Header,
    LoggedBug,
    LogWriter,
    read_log,
    write_log,
)

SEED = bytes(range(256))


def header(*names: str, bugs: int = 0, triaged: bool = True) -> Header:
    return Header(
        configurations=tuple(
            Configuration(name=name, command=("prog", "@@"), seed=SEED, random_seed=7)
            for name in names or ("one",)
        ),
        bugs=tuple(LoggedBug(id=f"{b:016x}", kind="SEGV") for b in range(bugs)),
        seconds=60.0,
        triaged=triaged,
    )


def crashes(count: int, first_run: int = 1) -> list[Event]:
    rng = np.random.default_rng(first_run)
    return [
        Event(
            0, logs.CRASH, first_run + i, 1000 * (first_run + i), 11, *rng.integers(2**63, size=2)
        )
        for i in range(count)
    ]


def rows(events: Events) -> list[tuple[int, ...]]:
    return list(zip(*(getattr(events, name).tolist() for name in logs.COLUMNS), strict=True))


def test_events_come_back_as_written(tmp_path):
    path = tmp_path / "a.fuzzlog"
    events = [*crashes(50), Event(0, logs.MARK, 60, 60_000, 0, 2**64 - 1, 2**64 - 1, -1)]
    write_log(path, header(bugs=2), Events.of(events))
    log = read_log(path)
    assert rows(log.events) == [tuple(event) for event in events]
    assert log.header == header(bugs=2)
    assert log.header.configurations[0].seed == SEED
    assert log.warnings == ()


def test_any_program_that_reads_arrow_reads_it(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.fuzzlog"
    write_log(path, header(), Events.of(crashes(20)))
    table = polars.read_ipc_stream(path)
    assert table.columns == list(logs.COLUMNS)
    assert table["run"].to_list() == list(range(1, 21))


def test_batches_are_readable_while_the_log_is_still_written(tmp_path):
    path = tmp_path / "a.fuzzlog"
    writer = LogWriter(path, header())
    assert len(read_log(path).events) == 0
    writer.add(Events.of(crashes(10)))
    during = read_log(path)
    assert len(during.events) == 10
    assert "was not finished" in during.warnings[0]
    writer.close()
    assert read_log(path).warnings == ()


def test_a_cut_log_is_read_up_to_the_cut_and_says_so(tmp_path):
    whole = tmp_path / "whole.fuzzlog"
    writer = LogWriter(whole, header())
    for batch in range(8):
        writer.add(Events.of(crashes(100, 1 + 100 * batch)))
    writer.close()
    data, full = whole.read_bytes(), rows(read_log(whole).events)
    write_log(tmp_path / "empty.fuzzlog", header(), Events.of(()))
    start = (tmp_path / "empty.fuzzlog").stat().st_size - 8  # without the mark of the end
    cut = tmp_path / "cut.fuzzlog"
    counts = set()
    for size in range(start, len(data) - 8, max(1, len(data) // 150)):
        cut.write_bytes(data[:size])
        log = read_log(cut)
        counts.add(len(log.events))
        assert len(log.events) % 100 == 0
        assert rows(log.events) == full[: len(log.events)]
        assert len(log.warnings) == 1
    assert counts == set(range(0, 800, 100))


def test_zeros_behind_the_cut_are_noticed(tmp_path):
    path = tmp_path / "a.fuzzlog"
    writer = LogWriter(path, header())
    writer.add(Events.of(crashes(100)))
    size = path.stat().st_size
    writer.add(Events.of(crashes(100, 101)))
    writer.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:size] + bytes(len(whole) - size))
    log = read_log(path)
    assert len(log.events) == 100
    assert "cut off or damaged" in log.warnings[0]


@pytest.mark.parametrize("content", [b"", b"{}", b"\x00" * 100, b"\xff" * 100, b"ARROW1" * 20])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "a.fuzzlog"
    path.write_bytes(content)
    with pytest.raises(BadInput, match="is not a log"):
        read_log(path)


def test_other_arrow_files_and_newer_versions_are_refused(tmp_path):
    pa = logs.load_pyarrow()
    path = tmp_path / "a.fuzzlog"
    for metadata, said in (
        (None, "does not say so"),
        ({"fuzzwise": b"[]"}, "does not say so"),
        ({"fuzzwise": b'{"format": "fuzzwise-log", "version": 2}'}, "Update fuzzwise"),
        ({"fuzzwise": b'{"format": "other", "configurations": []}'}, "its format is 'other'"),
    ):
        with pa.ipc.new_stream(path, pa.schema([("x", pa.int64())]).with_metadata(metadata)):
            pass
        with pytest.raises(BadInput, match=said):
            read_log(path)


@settings(max_examples=100)
@given(where=st.floats(0, 1), bit=st.integers(0, 7))
def test_a_flipped_bit_never_brings_a_traceback(tmp_path_factory, where, bit):
    path = tmp_path_factory.mktemp("flip") / "a.fuzzlog"
    write_log(path, header(bugs=1), Events.of([e._replace(bug=0) for e in crashes(30)]))
    data = bytearray(path.read_bytes())
    data[int(where * (len(data) - 1))] ^= 1 << bit
    path.write_bytes(data)
    read = 0
    with suppress(BadInput):
        read = len(read_recording([path]).configurations)
    assert read in (0, 1)


def test_logs_become_one_recording_with_shared_bugs(tmp_path):
    first, second = tmp_path / "x.fuzzlog", tmp_path / "y.fuzzlog"
    bugs = tuple(LoggedBug(id=name) for name in ("aa", "bb"))
    end = Event(0, logs.MARK, 100, 100_000)
    ours = header("c")
    write_log(
        first,
        Header(configurations=ours.configurations, bugs=bugs, triaged=True),
        Events.of([Event(0, logs.CRASH, 5, 5000, bug=1), Event(0, logs.HANG, 6, 6000), end]),
    )
    write_log(
        second,
        Header(configurations=header("c", "d").configurations, bugs=bugs[1:], triaged=True),
        Events.of([Event(1, logs.CRASH, 7, 7000, bug=0), end._replace(configuration=1), end]),
    )
    recording = read_recording([first, second])
    assert [log.name for log in recording.configurations] == ["x:c", "y:c", "d"]
    assert recording.bugs == ("aa", "bb")
    assert recording.shares_bugs
    assert [log.first_shown[0].tolist() for log in recording.configurations] == [[1], [], [1]]
    assert recording.configurations[0].bugs.tolist() == [1, -1, -1]


def test_crashes_without_bugs_must_be_triaged_first(tmp_path):
    write_log(tmp_path / "a.fuzzlog", header(triaged=False), Events.of(crashes(3)))
    with pytest.raises(BadInput, match=r"3 crashes .* fuzzwise triage"):
        read_recording([tmp_path])
    write_log(tmp_path / TRIAGED, header("t"), Events.of([Event(0, logs.MARK, 9, 9)]))
    assert [log.name for log in read_recording([tmp_path]).configurations] == ["t"]


def test_impossible_events_are_refused(tmp_path):
    path = tmp_path / "a.fuzzlog"
    for event, said in (
        (Event(4, logs.CRASH, 1, 1), "a configuration it does not have"),
        (Event(0, logs.CRASH, 1, 1, bug=3), "a bug it does not have"),
    ):
        write_log(path, header(), Events.of([event]))
        with pytest.raises(BadInput, match=said):
            read_recording([path])
    write_log(path, header(), Events.of([Event(0, 0, 5, 5), Event(0, 0, 4, 6)]))
    with pytest.raises(BadInput, match="runs backwards"):
        read_recording([path])


def test_a_log_that_cannot_be_written_is_reported(tmp_path):
    with pytest.raises(BadInput, match="cannot be written"):
        write_log(tmp_path / "missing" / "a.fuzzlog", header(), Events.of(()))
