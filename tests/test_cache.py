"""The cache of compiled libraries: nobody else can have put there what is loaded."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from fuzzwise.engines.blackbox.build import native
from fuzzwise.engines.cache import cache_folder, kept
from fuzzwise.errors import BadInput


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fuzzwise"


def made(name: str = "library") -> Path:
    return kept(name, lambda made, _: (made / "file.so").touch())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_private_also_where_groups_share_their_files(home: Path) -> None:
    before = os.umask(0o002)
    try:
        folder = made()
    finally:
        os.umask(before)
    assert folder == home / "library"
    assert mode(home) == 0o700
    assert made() == folder


def test_one_that_others_could_only_read_becomes_private(home: Path) -> None:
    made()
    home.chmod(0o755)
    assert cache_folder() == home
    assert mode(home) == 0o700


@pytest.mark.parametrize("bits", [0o770, 0o777, 0o702])
def test_one_that_others_may_write_is_refused(home: Path, bits: int) -> None:
    made()
    home.chmod(bits)
    for use in (made, native):
        with pytest.raises(BadInput, match="fuzzwise can be written by other users"):
            use()


def test_one_in_a_folder_in_which_anybody_may_put_another_is_refused(home: Path) -> None:
    made()
    home.parent.chmod(0o777)
    with pytest.raises(BadInput, match="can be written by other users"):
        made()
    home.parent.chmod(0o1777)
    made()


def test_links_are_refused(home: Path, tmp_path: Path) -> None:
    library = made()
    (library / "file.so").unlink()
    (library / "file.so").symlink_to("/lib/other.so")
    with pytest.raises(BadInput, match=r"file\.so is a link"):
        made()
    (home / "other").symlink_to(library)
    with pytest.raises(BadInput, match="other is a link"):
        made("other")
    home.rename(tmp_path / "elsewhere")
    home.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="fuzzwise is a link"):
        made()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("name", ["", "library", "library/file.so"])
def test_what_another_user_has_made_is_not_loaded(home: Path, name: str) -> None:
    made()
    os.chown(home / name, 12345, 12345)
    with pytest.raises(BadInput, match="belongs to another user"):
        made()


def test_one_in_the_current_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    with pytest.raises(BadInput, match="relative to the current folder"):
        made()
    assert not (tmp_path / "cache").exists()
