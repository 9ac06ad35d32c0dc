"""Whatever stands in the place of a file: the commands end, within bounds, with a sentence."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from bounded import bounded
from fuzzwise.campaign.baseline import read_baseline
from fuzzwise.config.table import read_toml
from fuzzwise.engines.blackbox import tally
from fuzzwise.engines.observer.folder import CampaignFolder, DamagedState
from fuzzwise.engines.observer.observed import CorpusFiles, sound_state
from fuzzwise.engines.observer.state import Head, State
from fuzzwise.errors import BadInput
from fuzzwise.lab.recording.log import read_log
from fuzzwise.received import open_regular, parse_json, read_limited
from fuzzwise.snapshot import read as read_snapshots
from fuzzwise.store.places import open_reader
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.inputs import command_of
from fuzzwise.watch.recognise import read as watch
from observer_states import make_campaign, make_state
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
        file.truncate(1 << 40)
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


def test_a_state_whose_head_is_as_large_as_a_disk_is_read_all_the_same(tmp_path):
    make_campaign(tmp_path)
    with (tmp_path / "state" / "head").open("r+b") as file:
        file.truncate(1 << 40)
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


def test_a_record_of_a_bug_that_is_too_deep_is_made_again_from_its_report(tmp_path):
    make_campaign(tmp_path)
    (path,) = tmp_path.glob("crashes/*/bug.json")
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record).replace('"it crashed"', "[" * 100_000))
    assert BugBook(tmp_path / "crashes").bugs[record["id"]].kind == "SEGV"
