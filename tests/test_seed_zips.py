"""Archives of seeds, also those that somebody made to do harm."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from fuzzwise import seed_zips
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.seeds import unpack_seeds
from fuzzwise.errors import BadInput
from fuzzwise.seed_zips import count, unpack


def archive(folder: Path, *entries: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    path = folder / "seeds.zip"
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in entries:
            file.writestr(name, data)
    return path


def seeds(folder: Path) -> set[bytes]:
    return {path.read_bytes() for path in folder.iterdir()}


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_all_files_are_seeds_whatever_their_folders(tmp_path: Path) -> None:
    path = archive(tmp_path, ("a", b"1"), ("deep/er/b.xml", b"2"), ("empty", b""), ("c/", b""))
    found = unpack(path, tmp_path / "home")
    assert seeds(found.folder) == {b"1", b"2", b""}
    assert (found.files, found.notes) == (3, ())
    assert count(path) == 3


def test_an_archive_is_unpacked_once_and_again_when_it_changes(tmp_path: Path) -> None:
    first = unpack(archive(tmp_path, ("a", b"1"), ("../b", b"2")), tmp_path / "home")
    made = first.folder.stat().st_ino
    again = unpack(tmp_path / "seeds.zip", tmp_path / "home")
    assert again == first
    assert again.folder.stat().st_ino == made
    other = unpack(archive(tmp_path, ("a", b"other")), tmp_path / "home")
    assert seeds(other.folder) == {b"other"}


def test_what_a_power_cut_has_left_empty_is_unpacked_again(tmp_path: Path) -> None:
    first = unpack(archive(tmp_path, ("a", b"1"), ("b", b"2")), tmp_path / "home")
    next(first.folder.iterdir()).write_bytes(b"")
    assert unpack(tmp_path / "seeds.zip", tmp_path / "home") == first
    assert seeds(first.folder) == {b"1", b"2"}


@pytest.mark.parametrize("name", ["../../up", "/etc/abs", "a/../../b", "C:\\x", "..\\x"])
def test_names_that_lead_elsewhere_write_nothing_there(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path, ("plain", b"1"), (name, b"2"))
    found = unpack(path, tmp_path / "one" / "two")
    assert seeds(found.folder) == {b"1", b"2"}
    assert len(found.notes) == 1
    assert "named so as to lead out of a folder" in found.notes[0]
    outside = everything(tmp_path) - {"seeds.zip", "one", "one/two"}
    assert all(path.startswith("one/two/") for path in outside)


def test_links_are_told_and_left_out(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "seeds.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(link, "/etc/passwd")
        file.writestr("plain", b"1")
    found = unpack(path, tmp_path / "home")
    assert seeds(found.folder) == {b"1"}
    assert "1 file of it ('link'): no plain file, but a link" in found.notes[0]


def test_bombs_are_told_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seed_zips, "LARGEST", 1 << 20)
    path = archive(tmp_path, ("small", b"1"), ("bomb", bytes(8 << 20)), ("last", b"3"))
    found = unpack(path, tmp_path / "home")
    assert seeds(found.folder) == {b"1", b"3"}
    assert "larger than 1,048,576 bytes" in found.notes[0]


def test_no_more_is_unpacked_than_a_whole_archive_may_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seed_zips, "MOST_BYTES", 1000)
    path = archive(tmp_path, *((f"{i}", bytes([i]) * 300) for i in range(10)))
    found = unpack(path, tmp_path / "home")
    assert sum(map(len, seeds(found.folder))) <= 1000
    assert found.notes
    monkeypatch.setattr(seed_zips, "MOST_FILES", 4)
    path = archive(tmp_path, *((f"{i}", bytes([i])) for i in range(10)))
    found = unpack(path, tmp_path / "home")
    assert found.files == 4
    assert "6 files of it" in found.notes[0]
    assert "beyond what is taken" in found.notes[0]


def test_a_long_list_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seed_zips, "MOST_DIRECTORY", 70_000)
    path = archive(tmp_path, *((f"{i:0200}", b"") for i in range(1000)))
    with pytest.raises(BadInput, match="lists more than"):
        unpack(path, tmp_path / "home")
    assert not list((tmp_path / "home").iterdir())


def test_encrypted_files_are_told(tmp_path: Path) -> None:
    path = archive(tmp_path, ("secret", b"1"), ("plain", b"2"))
    content = bytearray(path.read_bytes())
    at = content.find(b"PK\x01\x02")
    struct.pack_into("<H", content, at + 8, 1)
    struct.pack_into("<H", content, 6, 1)
    path.write_bytes(content)
    found = unpack(path, tmp_path / "home")
    assert seeds(found.folder) == {b"2"}
    assert "('secret'): encrypted" in found.notes[0]


def test_other_compressions_are_told(tmp_path: Path) -> None:
    path = archive(tmp_path, ("a", b"1" * 100), method=zipfile.ZIP_LZMA)
    found = unpack(path, tmp_path / "home")
    assert found.files == 0
    assert "compressed in a way" in found.notes[0]


def test_damaged_files_are_told_and_the_others_taken(tmp_path: Path) -> None:
    path = archive(tmp_path, ("a", os.urandom(500)), ("b", b"2"), method=zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    content[100] ^= 255
    path.write_bytes(content)
    found = unpack(path, tmp_path / "home")
    assert seeds(found.folder) == {b"2"}
    assert "('a'): damaged" in found.notes[0]


@pytest.mark.parametrize("kind", ["truncated", "text", "empty", "folder", "missing"])
def test_what_is_no_archive_is_a_sentence(tmp_path: Path, kind: str) -> None:
    path = archive(tmp_path, ("a", b"1" * 1000), ("b", b"2"))
    content = {"truncated": path.read_bytes()[:-30], "text": b"hello", "empty": b""}
    if kind in content:
        path.write_bytes(content[kind])
    else:
        path.unlink()
        if kind == "folder":
            path.mkdir()
    for read in (count, lambda path: unpack(path, tmp_path / "home")):
        with pytest.raises(BadInput, match=r"seeds\.zip: .*\."):
            read(path)
    home = tmp_path / "home"
    assert not home.exists() or not list(home.iterdir())


def plan_with(folder: Path, corpus: str):
    file = folder / "c.toml"
    target = f'[[target]]\nprogram = "t"\nengine = "stock"\ncorpus = {corpus}\n'
    file.write_text(f'[campaign]\nout = "made"\n{target}')
    return read_plan(file)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    program = tmp_path / "t"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (tmp_path / "made").mkdir()
    return tmp_path


def test_a_zip_that_a_campaign_names_becomes_a_corpus(home: Path) -> None:
    archive(home, ("a", b"1"), ("/b", b"2")).rename(home / "s.zip")
    (home / "more").mkdir()
    said: list[str] = []
    plan, notes = unpack_seeds(plan_with(home, '["s.zip", "more"]'), said.append)
    more, unpacked = plan.targets[0].corpus
    assert more == home / "more"
    assert unpacked.is_relative_to(home / "made")
    assert seeds(unpacked) == {b"1", b"2"}
    assert list(notes) == ["t"]
    assert [f"t: {note}" for note in notes["t"]] == said


def test_zips_that_a_pattern_names_are_inputs_unless_oss_fuzz_calls_them_seeds(home: Path) -> None:
    for name in ("x.zip", "y.zip", "t_seed_corpus.zip"):
        (home / name).write_bytes(archive(home, (name, b"1")).read_bytes())
    (home / "seeds.zip").unlink()
    target = plan_with(home, '"*.zip"').targets[0]
    assert [path.name for path in target.corpus] == ["x.zip", "y.zip"]
    assert [path.name for path in target.seed_zips] == ["t_seed_corpus.zip"]


def test_a_target_with_a_bad_archive_is_fuzzed_without_it(home: Path) -> None:
    (home / "s.zip").write_bytes(b"no archive")
    plan, notes = unpack_seeds(plan_with(home, '"s.zip"'), lambda _: None)
    assert plan.targets[0].corpus == ()
    assert "is no zip archive" in notes["t"][0]


def test_archives_that_are_no_longer_named_leave_nothing(home: Path) -> None:
    archive(home, ("a", b"1")).rename(home / "s.zip")
    unpack_seeds(plan_with(home, '"s.zip"'), lambda _: None)
    archive(home, ("a", b"2")).rename(home / "s.zip")
    plan, _ = unpack_seeds(plan_with(home, '"s.zip"'), lambda _: None)
    kept = {path for path in (home / "made" / "seeds").iterdir() if path.is_dir()}
    assert kept == set(plan.targets[0].corpus)


def test_zip_of_a_stream_with_leading_bytes_is_read(tmp_path: Path) -> None:
    """As self-extracting archives have them."""
    made = io.BytesIO(archive(tmp_path, ("a", b"1")).read_bytes())
    path = tmp_path / "led.zip"
    path.write_bytes(b"#!/bin/sh\n" + made.getvalue())
    assert seeds(unpack(path, tmp_path / "home").folder) == {b"1"}
