"""Files written whole, hashed once, and held by one process at a time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

import pytest

from fuzzwise import files
from fuzzwise.engines.observer.folder import CampaignFolder
from fuzzwise.files import InUse, content_hash, is_locked, locked_file, write_whole
from fuzzwise.lab.recording.folder import locked_folder
from fuzzwise.store import lock

HOLDS_UNTIL_TOLD = """
import sys
from pathlib import Path
from fuzzwise.files import locked_file
with locked_file(Path(sys.argv[1])) as file:
    file.write(b"4711\\n")
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_lock_of_another_process_is_refused_with_what_it_says_until_that_ends(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDS_UNTIL_TOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(InUse) as refused:
            locked_file(path, 0.0)
        assert refused.value.holder == "4711"
        other.kill()
    with locked_file(path) as file:
        assert file.read() == b"4711\n"


def test_a_lock_is_waited_for_with_patience(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDS_UNTIL_TOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        other.kill()
        with locked_file(path, 60.0) as file:
            assert not file.closed
    assert file.closed


def test_a_closed_file_is_locked_no_more_while_a_forked_process_has_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked_file(path) as file:
        copy = os.dup(file.fileno())  # as a child has it between fork and exec
    try:
        with locked_file(path, 0.0):
            assert is_locked(path)
        assert not is_locked(path)
    finally:
        os.close(copy)


def test_a_forked_process_that_closes_its_copy_leaves_the_lock_where_it_is(tmp_path: Path) -> None:
    with locked_file(tmp_path / "lock") as file:
        child = os.fork()
        if child == 0:
            file.close()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert is_locked(tmp_path / "lock")


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    with lock.hold(folder):
        yield


@pytest.mark.parametrize(
    ("name", "held"),
    [
        (lock.FILE, held_folder),
        ("counts.lock", lambda folder: CampaignFolder(folder).only_one()),
        (".lock", locked_folder),
    ],
)
def test_what_a_killed_fuzzwise_held_is_waited_for(tmp_path: Path, monkeypatch, name, held) -> None:
    monkeypatch.setattr(files, "PATIENCE", 600.0)  # this machine may be busy

    def is_held() -> bool:
        with held(tmp_path):
            return is_locked(tmp_path / name)

    with locked_file(tmp_path / name) as file, ThreadPoolExecutor(1) as pool:
        copy = os.dup(file.fileno())
        FileIO.close(file)  # as a kill does: nobody has let go of it
        waiting = pool.submit(is_held)
        with pytest.raises(TimeoutError):
            waiting.result(0.1)
        os.close(copy)
        assert waiting.result()


def test_a_lock_in_a_missing_folder_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        locked_file(tmp_path / "missing" / "lock")


def test_a_hash_is_that_of_the_content_for_each_algorithm(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    assert content_hash(path) == hashlib.sha256(b"content").hexdigest()
    assert content_hash(path, "sha1") == hashlib.sha1(b"content").hexdigest()


def test_a_file_is_read_again_only_when_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    before = path.stat()
    known = content_hash(path)
    path.write_bytes(b"another")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert content_hash(path) == known
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert content_hash(path) == hashlib.sha256(b"another").hexdigest()


@pytest.mark.parametrize("to_disk", [True, False])
def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(
    tmp_path: Path, to_disk: bool
) -> None:
    write_whole(tmp_path / "file", b"content", to_disk=to_disk)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_whole(tmp_path / "folder", b"content", to_disk=to_disk)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_bytes() == b"content"
