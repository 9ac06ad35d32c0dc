"""Folders that somebody else made: nothing is written, read or signalled through a link in them."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import sqlite3
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from commands import fuzzwise
from fuzzer_files import afl_instance, seed_name, stats_text
from fuzzwise.cli import COMMANDS, main
from fuzzwise.engines.blackbox import MUTATOR_VERSION, input_hash
from fuzzwise.engines.observer.seeds import name_of, without_comma
from fuzzwise.errors import BadInput
from fuzzwise.files import locked_file, make_private, new_file, refuse_links, write_whole
from fuzzwise.lab.recording.log import CRASH, Configuration, Event, Events, Header, write_log
from fuzzwise.lab.recording.triaged import input_of
from fuzzwise.store import lock
from fuzzwise.store.places import open_reader, open_store
from fuzzwise.triage.inputs import find
from fuzzwise.watch import processes
from fuzzwise.watch.recognise import read
from stored import begun, epoch, found, turn

SECRET = b"top secret, of nobody's business\n"
_TOUCHED = 0x1 | 0x2 | 0x4 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200  # inotify: IN_ACCESS … IN_DELETE
_OF_A_FOLDER, _OPENED = 0x4000_0000, 0x1 | 0x20
_EVENT = struct.Struct("iIII")

HOLDS = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""


class Outside:
    """A folder beside a received one, and whatever is done to the files in it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.file = folder / "precious"
        self.file.write_bytes(SECRET)
        (folder / "things").mkdir()
        (folder / "things" / "one").write_bytes(SECRET)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._handle = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for path in (folder, folder / "things"):
            assert self._libc.inotify_add_watch(self._handle, os.fsencode(path), _TOUCHED) >= 0

    def touched(self) -> list[str]:
        """The files that were opened, read, changed, made or removed since the last time."""
        try:
            data = os.read(self._handle, 1 << 16)
        except BlockingIOError:
            return []
        found = []
        while data:
            _, mask, _, size = _EVENT.unpack_from(data)
            name = data[_EVENT.size : _EVENT.size + size].rstrip(b"\0").decode()
            data = data[_EVENT.size + size :]
            is_listing = mask & _OF_A_FOLDER and mask & _OPENED
            if name and not is_listing:
                found.append(name)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    with Outside(tmp_path / "outside") as made:
        yield made


def campaign(folder: Path) -> Path:
    """A campaign of one target, with a store."""
    with begun(folder, "a") as store:
        epoch(store, 1.0, "a", turn(100))
    return folder


def test_that_the_watch_over_the_outside_sees_a_reader(outside: Outside) -> None:
    outside.file.read_bytes()
    assert "precious" in outside.touched()


def test_new_files_have_names_that_nobody_can_plant(tmp_path: Path, outside: Outside) -> None:
    path, seen = tmp_path / "report.html", set[str]()
    for planted in (f"report.html.{os.getpid()}.part", "report.html.part", ".report.html.part"):
        (tmp_path / planted).symlink_to(outside.file)
    path.symlink_to(outside.file)
    write_whole(path, b"page")
    assert path.read_bytes() == b"page"
    assert not path.is_symlink()
    for _ in range(5):
        file, name = new_file(path)
        file.close()
        name.unlink()
        assert name.name not in seen
        seen.add(name.name)
    assert outside.touched() == []


@pytest.mark.parametrize("name", ["lock", "campaign.db", "campaign.db-wal", "campaign.db-shm"])
def test_a_campaign_is_opened_through_no_link(name: str, tmp_path: Path, outside: Outside) -> None:
    folder = campaign(tmp_path / "received")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside.file)
    with pytest.raises(BadInput, match=f"{name} is a link"):
        open_store(folder)
    if name != "lock":
        with pytest.raises(BadInput, match=f"{name} is a link"):
            open_reader(folder).state()
    assert not lock.is_held(folder)
    assert outside.touched() == []


@pytest.mark.parametrize("name", ["corpus", "crashes", "state", "campaign.json", "targets"])
def test_a_campaign_does_not_go_on_in_a_folder_with_links(
    name: str, tmp_path: Path, outside: Outside
) -> None:
    for place in ("", "targets/a/"):
        folder = campaign(tmp_path / f"received{len(place)}")
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / f"{place}{name}").symlink_to(outside.folder / "things")
        with pytest.raises(BadInput, match="is a link"):
            open_store(folder)
    assert outside.touched() == []


def test_links_that_targets_make_where_they_run_do_not_matter(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "own")
    for name in ("scratch", "state/seed-links"):
        place = folder / "targets" / "a" / name
        place.mkdir(parents=True)
        (place / "link").symlink_to("/etc/hostname")
    with open_store(folder) as store:
        assert store.has_runs()


def test_a_lock_is_a_plain_file_of_ones_own_and_keeps_its_content(
    tmp_path: Path, outside: Outside
) -> None:
    link, pipe, other = tmp_path / "link", tmp_path / "pipe", tmp_path / "other"
    link.symlink_to(outside.file)
    os.mkfifo(pipe)
    os.link(tmp_path / "outside" / "precious", other)
    for path, why in ((link, "is a link"), (pipe, "no plain file"), (other, "a hard link")):
        with pytest.raises(BadInput, match=why):
            locked_file(path)
    outside.touched()  # the hard link is the file itself
    assert outside.file.read_bytes() == SECRET
    plain = tmp_path / "plain"
    plain.write_bytes(SECRET)
    with locked_file(plain):
        assert plain.read_bytes() == SECRET


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_lock_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    os.chown(path, 12345, 12345)
    with pytest.raises(BadInput, match="another user's"):
        locked_file(path)


def test_a_new_campaign_is_private_and_an_old_one_stays_as_it_is(tmp_path: Path) -> None:
    folder = campaign(tmp_path / "deep" / "new")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    make_private(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755


def test_a_journal_that_names_another_file_deletes_nothing(
    tmp_path: Path, outside: Outside
) -> None:
    folder = campaign(tmp_path / "received")
    name = os.fsencode(outside.file)
    with sqlite3.connect(folder / "campaign.db") as database:
        database.execute("PRAGMA journal_mode=DELETE")
    pages = (folder / "campaign.db").stat().st_size // 4096
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 0, 0, pages, 512, 4096)
    end = struct.pack(">III", 0x40000001, len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
    journal = head.ljust(512, b"\0") + struct.pack(">I", 0) + name + end[4:]
    (folder / "campaign.db-journal").write_bytes(journal)
    with pytest.raises(BadInput, match="journal belongs to several databases"):
        open_store(folder)
    assert outside.touched() == []


def test_the_holder_of_a_lock_elsewhere_is_not_taken_for_the_campaign(tmp_path: Path) -> None:
    own, received = campaign(tmp_path / "own"), campaign(tmp_path / "received")
    with held(own / "lock") as pid:
        assert processes.lock_holders(own / "lock") == [pid]
        for make in (Path.symlink_to, Path.hardlink_to):
            (received / "lock").unlink()
            make(received / "lock", own / "lock")
            assert processes.lock_holders(received / "lock") == []
            assert [reading.processes for reading in read([received])] == [()]


def test_who_only_looks_whether_a_lock_is_held_is_not_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert processes.lock_holders(path) == []


def test_a_number_in_the_files_of_afl_is_no_proof(tmp_path: Path) -> None:
    """An afl-fuzz of the user is named by two folders; it has only one of them open."""
    program = tmp_path / "afl-fuzz"
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    own = tmp_path / "own" / "default"
    own.mkdir(parents=True)
    handle = os.open(own, os.O_RDONLY)
    process = subprocess.Popen([program, "600"], pass_fds=[handle])
    try:
        os.close(handle)
        received = tmp_path / "received" / "default"
        for folder in (own, received):
            afl_instance(folder, [seed_name(0)], stats_text(fuzzer_pid=process.pid))
        named = tmp_path / "linked" / "default"
        named.parent.mkdir()
        named.symlink_to(own)
        later = time.time() + 60
        assert processes.is_afl_fuzz(process.pid, later, own)
        assert not processes.is_afl_fuzz(process.pid, later, received)
        assert not processes.is_afl_fuzz(process.pid, later, named)
        assert read([received.parent])[0].processes == ()
    finally:
        process.kill()
        process.wait()


class held:  # noqa: N801 - used like a function
    """A process that holds a lock on a file; it is there at the end, too."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> int:
        command = [sys.executable, "-c", HOLDS, str(self._path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"held\n"
        return self._process.pid

    def __exit__(self, *_: object) -> None:
        self._process.communicate(b"\n")
        assert self._process.returncode == 0, "somebody has ended it"


def test_no_link_is_a_sentence_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "er").symlink_to("/nowhere")
    with pytest.raises(BadInput, match="deep/er is a link"):
        refuse_links(tmp_path)
    refuse_links(tmp_path, but_in=("deep",))


@pytest.fixture
def planted(tmp_path: Path) -> tuple[Path, Path]:
    """A program that leaves a mark when it runs, and the mark."""
    program, mark = tmp_path / "program", tmp_path / "it-ran"
    program.write_text(f"#!/bin/sh\n: > {mark}\nkill -SEGV $$\n")
    program.chmod(0o755)
    return program, mark


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_the_command_of_a_received_campaign_is_shown_and_not_run(
    depth: int,
    planted: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program, mark = planted
    above = tmp_path / "received"
    folder = above.joinpath(*["deeper"] * depth)
    (folder / "crashes").mkdir(parents=True)
    (folder / "crashes" / "one").write_bytes(b"x")
    words = [str(program), "-v", "\x1b[31m\nfuzzwise: all is well"]
    record = {"target": str(program), "command": words}
    (above / "campaign.json").write_text(json.dumps(record))
    assert main(["triage", str(folder), "--checks=0"]) == 2
    out, err = capsys.readouterr()
    assert not mark.exists()
    assert out == ""
    assert f"campaign.json names the command\n  {program} -v " in err
    assert "--trust-command" in err
    assert "\x1b" not in err
    assert "\nfuzzwise: all is well" not in err
    main(["triage", str(folder), "--checks=0", "--trust-command"])  # gdb cannot follow a script
    assert mark.exists()
    assert f"  {program} -v " in capsys.readouterr().err


def test_the_programs_of_a_received_recording_are_shown_and_not_run(
    planted: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    program, mark = planted
    configuration = Configuration(
        name="one", command=(str(program), "@@"), seed=b"x", random_seed=1, mutator=MUTATOR_VERSION,
        mutation={"ratio": [0.1, 0.2], "kinds": ["bits"], "max_length": 9},
        limits={"seconds": 1.0, "memory_mib": 512},
    )  # fmt: skip
    folder = tmp_path / "received"
    folder.mkdir()
    data = input_of(configuration, 1)
    crash = Event(0, CRASH, 1, 10, 11, 0, input_hash(data))
    header = Header(configurations=(configuration,), seconds=1.0)
    write_log(folder / "one.fuzzlog", header, Events.of([crash]))
    assert main(["triage", str(folder)]) == 2
    err = capsys.readouterr().err
    assert f"  {program} @@\n" in err
    assert "--trust-command" in err
    assert not mark.exists()
    main(["triage", str(folder), "--checks=0", "--trust-command"])  # gdb cannot follow a script
    assert mark.exists()


@pytest.mark.parametrize("name", ["crashes", "crashes/one", "one", "default/crashes"])
def test_triage_follows_no_link_out_of_a_received_folder(
    name: str, tmp_path: Path, outside: Outside, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "received"
    (folder / name).parent.mkdir(parents=True)
    is_folder = name.endswith("crashes")
    (folder / name).symlink_to(outside.folder / "things" if is_folder else outside.file)
    assert main(["triage", str(folder), "--out", str(tmp_path / "bugs"), "--", "cat", "@@"]) == 2
    assert "a link leads from here out of" in capsys.readouterr().err
    assert outside.touched() == []


def test_a_link_within_a_folder_of_crashes_is_followed(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x")
    (tmp_path / "same").symlink_to(tmp_path / "one")
    assert len(find([tmp_path])) == 2


def hostile_campaign(folder: Path, outside: Outside, program: Path) -> Path:
    """What looks like a campaign of `fuzz`, with a link wherever a file or a folder is expected."""
    campaign(folder)
    precious, things = outside.file, outside.folder / "things"
    record = {"target": str(program), "command": [str(program), "-v"], "settings": {}}
    (folder / "campaign.json").write_text(json.dumps(record))
    for name in ("corpus", "crashes", "scratch", "state", "targets", "programs", "not-shown"):
        (folder / name).symlink_to(things)
    names = ("report.html", "report.md", "bugs.sarif", "triaged.fuzzlog", "page.html")
    parts = [f"{name}.{os.getpid()}.part" for name in (*names, "campaign.json")]
    for name in (*names, *parts, "counts.lock", ".lock", "fuzz-0.log", "one.fuzzlog", "one.jsonl"):
        (folder / name).symlink_to(precious)
    return folder


BLACK_BOX = ["--engine", "black-box", "--arguments", "@@", "--inputs", "10"]
BRIEFLY = ["--port", "0", "--time", "1s"]
STOP = ["--then-stop", "--accept-risk", "0.9", "--time", "1s"]
CALLS = {
    "run": [["{plan}"]],
    "init": [["{read}", "-o", "{mine}/init.toml"], ["{mine}", "-o", "{read}/init.toml"]],
    "status": [["{linked}"], ["{read}"], ["{read}", "--decisions"]],
    "report": [["{linked}"], ["{read}"], ["{read}", "--markdown", "{read}/report.md"],
               ["{read}", "--sarif", "{read}/bugs.sarif"]],
    "serve": [["{linked}", *BRIEFLY], ["{read}", *BRIEFLY]],
    "fuzz": [["{target}", "{mine}/one", *BLACK_BOX, "--out", "{read}"],
             ["{target}", "{mine}/one", *BLACK_BOX, "--out", "{linked}"]],
    "watch": [["{linked}"], ["{read}"], ["{read}", *STOP], ["{linked}", *STOP]],
    "build": [["{read}/none.c", "-o", "{mine}/none"]],
    "cc": [["--version"]],
    "cxx": [["--version"]],
    "engine": [[]],
    "record": [["{recording}", "--out", "{read}"]],
    "triage": [["{read}"], ["{read}", "--", "{target}", "@@"], ["{read}/crashes"],
               ["{mine}/one", "--out", "{read}/crashes", "--", "/bin/cat", "@@"]],
    "replay": [["{read}"]],
    "estimate": [],  # a file that the user names is read, whatever its name leads to
    "evaluate": [],
    "simulate": [["--campaigns", "1", "--inputs", "50", "--snapshots", "{read}/one.jsonl"]],
    "fleet": [["certificates", "{read}"], ["certificates", "{linked}/corpus"]],
    "worker": [["192.0.2.1:9", "--work", "{read}"]],
    "doctor": [[]],
}  # fmt: skip


def test_no_command_writes_reads_signals_or_runs_what_a_received_folder_leads_to(
    planted: tuple[Path, Path], tmp_path: Path, outside: Outside
) -> None:
    assert CALLS.keys() == COMMANDS.keys()
    program, mark = planted
    own, mine = campaign(tmp_path / "own"), tmp_path / "mine"
    mine.mkdir()
    (mine / "one").write_bytes(b"x")
    target = mine / "target"
    target.write_text("#!/bin/sh\nread line < $1\n")
    target.chmod(0o755)
    read_one = hostile_campaign(tmp_path / "read", outside, program)
    linked = hostile_campaign(tmp_path / "linked", outside, program)
    (linked / "campaign.db").unlink()
    (linked / "campaign.db").symlink_to(own / "campaign.db")
    for folder in (read_one, linked):
        (folder / "lock").unlink()
        (folder / "lock").symlink_to(own / "lock")
    (mine / "plan.toml").write_text(
        f'[campaign]\nbudget = "1s"\nout = "{read_one}"\n'
        '[[target]]\nengine = "black-box"\ncommand = "./target @@"\ncorpus = "one"\n'
    )
    (mine / "recording.toml").write_text(
        '[recording]\ntime = "1s"\n[[configuration]]\ncommand = "./target @@"\nseed = "one"\n'
    )
    places = {
        "plan": mine / "plan.toml", "recording": mine / "recording.toml", "mine": mine,
        "target": target, "read": read_one, "linked": linked,
    }  # fmt: skip
    before = content(own)
    with held(own / "lock"):
        for command, calls in CALLS.items():
            for words in calls:
                done = fuzzwise(command, *(word.format(**places) for word in words), cwd=mine)
                said = (command, words, done.stderr)
                assert "Traceback" not in done.stderr, said
                assert SECRET.decode().strip() not in done.stdout + done.stderr, said
                assert outside.touched() == [], said
                assert content(own) == before, said
                assert not mark.exists(), said
                if command in ("fuzz", "run", "record"):
                    assert "is a link" in done.stderr, said
    assert not any(SECRET in path.read_bytes() for path in plain_files(mine))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in plain_files(folder)}


def plain_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


@pytest.mark.parametrize("name", ["../outside/precious", "{outside}/precious", "crashes/link"])
def test_a_store_names_no_input_outside_of_its_folder(
    name: str, tmp_path: Path, outside: Outside, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, name = tmp_path / "received", name.format(outside=outside.folder)
    (folder / "crashes").mkdir(parents=True)
    (folder / "crashes" / "link").symlink_to(outside.file)
    with_bug(folder, name, "/bin/cat input", but_links=True)
    words = ["triage", str(folder), "--trust-command", "--out", str(tmp_path / "bugs")]
    assert main(words) == 2
    assert "out of" in capsys.readouterr().err
    assert outside.touched() == []


@pytest.mark.parametrize("is_named", [True, False])
def test_a_campaign_file_answers_for_the_commands_that_it_names_alone(
    is_named: bool,
    planted: tuple[Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program, mark = planted
    folder = tmp_path / "received"
    crash = folder / "crashes" / "one"
    crash.parent.mkdir(parents=True)
    crash.write_bytes(b"x")
    with_bug(folder, "crashes/one", f"{program} {crash}")
    other = "program" if is_named else "other"
    (tmp_path / "other").write_bytes(program.read_bytes())
    (tmp_path / "other").chmod(0o755)
    (tmp_path / "seed").write_bytes(b"seed")
    file = tmp_path / "mine.toml"
    file.write_text(
        f'[campaign]\nout = "received"\n[[target]]\nname = "box"\nengine = "black-box"\n'
        f'command = "./{other} @@"\ncorpus = "seed"\n'
    )
    main(["triage", str(file), "--checks=0"])
    assert mark.exists() == is_named
    assert f"  {program} @@" in capsys.readouterr().err


def with_bug(folder: Path, name: str, command: str, *, but_links: bool = False) -> None:
    """A campaign in a folder, whose store names an input and a command for a bug."""
    links = [path for path in folder.rglob("*") if path.is_symlink()] if but_links else []
    targets = [link.readlink() for link in links]
    for link in links:
        link.unlink()
    with begun(folder, "box") as store:
        epoch(store, 2, "box", turn(300, found("x", inputs=(name,), command=command)))
    for link, target in zip(links, targets, strict=True):
        link.symlink_to(target)


def test_a_planted_link_to_a_seed_is_made_anew(tmp_path: Path, outside: Outside) -> None:
    seed, state = tmp_path / "id:0,orig:one", tmp_path / "state"
    seed.write_bytes(b"a seed")
    link = state / "seed-links" / name_of(seed)
    link.parent.mkdir(parents=True)
    link.symlink_to(outside.file)
    assert without_comma(seed, state) == link
    assert link.read_bytes() == b"a seed"
    assert outside.touched() == []
