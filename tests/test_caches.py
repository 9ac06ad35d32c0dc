"""What is compiled has a place, also for users without a home that can be written to."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fuzzwise import caches
from fuzzwise.engines.cache import kept
from fuzzwise.errors import BadInput

NOWHERE = "/proc/no-such-folder"
"""Not even root can make it."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files; there is no other place to write to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", NOWHERE)
    return folder


def mine(folder: Path) -> Path:
    return folder / f"fuzzwise-{os.getuid()}"


def test_the_cache_of_the_user_is_the_best_place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert caches.usable() == tmp_path / "cache" / "fuzzwise"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert caches.usable() == tmp_path / "home" / ".cache" / "fuzzwise"


@pytest.mark.parametrize("home", [NOWHERE, None])
def test_without_a_home_it_is_a_folder_of_the_user_alone(temporary, monkeypatch, home):
    if home is None:
        monkeypatch.delenv("XDG_CACHE_HOME")

        def nobody(_: type[Path]) -> Path:
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.setattr(Path, "home", classmethod(nobody))
    assert caches.usable() == mine(temporary)
    assert mine(temporary).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path.write_text(""),
        lambda path: path.symlink_to(path.parent),
        lambda path: (path.mkdir(), path.chmod(0o777)),
    ],
)
def test_what_others_may_have_put_there_is_not_used(temporary, make):
    make(mine(temporary))
    with pytest.raises(BadInput, match="Set XDG_CACHE_HOME to a folder"):
        caches.usable()
    with pytest.raises(BadInput, match="Set XDG_CACHE_HOME to a folder"):
        kept("thing", lambda made, work: None)


def test_what_is_there_is_used_where_nothing_can_be_written(temporary, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = kept("thing", lambda made, work: (made / "file").touch())
    mine(temporary).write_text("")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert kept("thing", lambda made, work: pytest.fail("it is there")) == made


def test_a_folder_that_cannot_be_filled_is_a_sentence(temporary):
    def fails(made: Path, work: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(BadInput, match=r"thing: cannot be made \(No space left on device\)"):
        kept("thing", fails)


def test_numba_gets_a_place_where_the_source_is_write_protected(temporary, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "restored in the end")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    caches.for_numba()
    assert "NUMBA_CACHE_DIR" not in os.environ
    monkeypatch.setattr(caches, "__file__", f"{NOWHERE}/caches.py")
    caches.for_numba()
    assert os.environ["NUMBA_CACHE_DIR"] == str(mine(temporary) / "numba")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "mine")
    caches.for_numba()
    assert os.environ["NUMBA_CACHE_DIR"] == "mine"


@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME"])
def test_the_engine_is_built_without_a_cache(tmp_path, variable):
    environment = {k: v for k, v in os.environ.items() if k != "XDG_CACHE_HOME"}
    result = subprocess.run(
        [sys.executable, "-m", "fuzzwise", "engine"],
        capture_output=True,
        text=True,
        env={**environment, variable: NOWHERE, "TMPDIR": str(tmp_path)},
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert Path(result.stdout.strip()).is_file()
    assert result.stdout.startswith(str(tmp_path))
