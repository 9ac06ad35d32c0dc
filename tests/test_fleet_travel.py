"""Programs travel with all they need, and a machine that cannot run one says so."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from fuzzwise.campaign.fleet.elf import read_elf
from fuzzwise.campaign.fleet.station import Unfit
from fuzzwise.campaign.fleet.storage import Storage
from fuzzwise.campaign.fleet.travel import send, settle
from fuzzwise.engines.compilers import find_compiler
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.errors import BadInput


@pytest.fixture
def shared(tmp_path: Path) -> Storage:
    return Storage(f"file://{tmp_path / 'shared'}")


def compiled(folder: Path, *words: str) -> None:
    subprocess.run([find_compiler(), *words], cwd=folder, check=True)


def test_a_program_runs_elsewhere_with_its_library_and_its_files(tmp_path, shared):
    here = tmp_path / "here"
    (here / "lib").mkdir(parents=True)
    (here / "seeds").mkdir()
    (here / "seeds" / "one").write_bytes(b"1")
    (here / "words.dict").write_text('"a"\n')
    (here / "lib.c").write_text("int seven(void) { return 7; }\n")
    (here / "main.c").write_text("int seven(void); int main(void) { return seven(); }\n")
    compiled(here, "-shared", "-fPIC", "lib.c", "-o", "lib/libseven.so")
    compiled(here, "main.c", "-Llib", "-lseven", f"-Wl,-rpath,{here / 'lib'}", "-o", "program")
    plan = TargetPlan(
        *("t", "stock", (str(here / "program"),), (here / "seeds",), here / "words.dict")
    )
    name = send(shared, plan)
    assert send(shared, plan) == name
    shutil.rmtree(here)
    there = settle(shared, name, plan, tmp_path / "there")
    assert there.program.is_relative_to(tmp_path / "there")
    ran = subprocess.run(there.surroundings.before(there.command), check=False)
    assert ran.returncode == 7
    assert there.corpus[0].joinpath("one").read_bytes() == b"1"
    assert there.dictionary is not None
    assert there.dictionary.read_text() == '"a"\n'


def changed(path: Path, at: int, content: bytes) -> None:
    whole = bytearray(path.read_bytes())
    whole[at : at + len(content)] = content
    path.write_bytes(whole)


def test_a_machine_that_cannot_run_a_program_says_why(tmp_path, shared):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    compiled(tmp_path, "main.c", "-o", "sound")
    sound = tmp_path / "sound"
    loader = read_elf(sound).loader.encode()
    assert loader.startswith(b"/")
    for name, at, content, why in (
        ("foreign", 18, struct.pack("<H", 243), "its program is for riscv64, the machine"),
        ("libc", sound.read_bytes().index(loader), b"/lib/none", "another libc"),
    ):
        path = tmp_path / name
        shutil.copy(sound, path)
        changed(path, at, content)
        plan = TargetPlan("t", "stock", (str(path),))
        with pytest.raises(Unfit, match=why):
            settle(shared, send(shared, plan), plan, tmp_path / "there")


def test_a_tool_that_an_engine_needs_is_missed(tmp_path, shared, monkeypatch):
    (tmp_path / "p").write_text("#!/bin/sh\n")
    plan = TargetPlan("t", "afl++", (str(tmp_path / "p"),))
    name = send(shared, plan)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unfit, match="afl-fuzz is missing"):
        settle(shared, name, plan, tmp_path / "there")


def test_a_program_that_is_not_there_is_told(tmp_path, shared):
    with pytest.raises(BadInput, match="there is no such program"):
        send(shared, TargetPlan("t", "stock", (str(tmp_path / "none"),)))
    assert read_elf(tmp_path / "none") is None
