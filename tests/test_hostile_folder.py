"""A hostile current folder: every command is called in it, and nothing that lies there runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzwise.cli import COMMANDS
from fuzzwise.programs import find, search_path

FUZZWISE = Path(sys.executable).with_name("fuzzwise")
MODULES = (
    *("base64", "importlib", "json", "sitecustomize", "usercustomize", "traceback", "sysconfig"),
    *("subprocess", "ctypes", "typing", "click", "numpy", "atheris"),
)
PROGRAMS = (
    *("gdb", "clang", "clang++", "llvm-symbolizer", "afl-fuzz", "afl-clang-fast", "cc", "c++"),
    *("gcc", "ar", "ld", "as", "objcopy", "python3", "sh", "addr2line"),
)
CRASHING = """
#include <stdint.h>
#include <stddef.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 1 && data[0] == 'x') __builtin_trap();
  return 0;
}
"""
READER = """
#include <stdio.h>
int main(int argc, char **argv) {
  FILE *file = fopen(argv[1], "rb");
  if (file && fgetc(file) == 'x') __builtin_trap();
  return argc < 2;
}
"""
HARNESS = "def TestOneInput(data):\n    if data[:1] == b'x':\n        raise ValueError(data)\n"


class Hostile:
    """A folder full of planted modules and programs; each leaves a mark when it runs."""

    def __init__(self, home: Path) -> None:
        self.folder, self._marks = home / "received", home / "marks"
        self._marks.mkdir()
        (self.folder / "fuzzwise").mkdir(parents=True)
        for name in (*(f"{name}.py" for name in MODULES), "fuzzwise/__init__.py"):
            mark = self._marks / name.replace("/", "_")
            (self.folder / name).write_text(f"open({str(mark)!r}, 'w').close()\n")
        for name in PROGRAMS:
            program = self.folder / name
            program.write_text(f"#!/bin/sh\n: > {self._marks / name}\n")
            program.chmod(0o755)

    def ran(self) -> list[str]:
        return sorted(mark.name for mark in self._marks.iterdir())

    def call(self, *words: object, by: tuple[object, ...] = (FUZZWISE,), **environment: str) -> int:
        """Run a command in the folder; the PATH has the current folder first, in two ways."""
        done = subprocess.run(
            [*map(str, by), *map(str, words)],
            cwd=self.folder,
            env={**os.environ, "PATH": f":.:{os.environ['PATH']}", **environment},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert not self.ran(), (words, self.ran())
        return done.returncode


@pytest.fixture
def hostile(tmp_path: Path) -> Hostile:
    return Hostile(tmp_path)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """What the user wrote, elsewhere."""
    home = tmp_path / "own"
    (home / "crashes").mkdir(parents=True)
    (home / "crashes" / "one").write_bytes(b"xy")
    (home / "seed").write_bytes(b"abcd")
    (home / "crashing.c").write_text(CRASHING)
    (home / "reader.c").write_text(READER)
    (home / "harness.py").write_text(HARNESS)
    (home / "campaign.toml").write_text(
        '[campaign]\nbudget = "2s"\nepoch = "500ms"\naccepted_risk = 1e-9\nout = "campaign"\n'
        '[[target]]\nsources = "crashing.c"\nmax_length = 4\n'
    )
    (home / "recording.toml").write_text(
        '[recording]\ntime = "1s"\n[[configuration]]\ncommand = "./reader @@"\nseed = "seed"\n'
    )
    subprocess.run(["cc", "-g", home / "reader.c", "-o", home / "reader"], check=True)
    return home


def code_of(hostile: Hostile, words: tuple[object, ...]) -> int:
    """How a command ends; a campaign that came to no input on a busy machine has more time."""
    codes = [hostile.call(*words)]
    while words[0] == "run" and codes[-1] == 2 and len(codes) < 7:
        codes.append(hostile.call(*words, "--time", f"{2 ** len(codes)}s"))
    return codes[-1]


@pytest.mark.skipif(not find("clang"), reason="clang is not installed")
def test_no_command_runs_what_lies_in_the_current_folder(hostile: Hostile, own: Path) -> None:
    out = own / "campaign"
    calls: list[tuple[object, ...]] = [
        ("doctor",),
        ("build", own / "crashing.c", "-o", own / "crashing"),
        ("cc", own / "reader.c", "-o", own / "built"),
        ("cxx", "-c", own / "crashing.c", "-o", own / "crashing.o"),
        ("engine",),
        ("fuzz", own / "crashing", "--inputs", "3000", "--out", own / "fuzzed", "--quiet"),
        ("init", own, "-o", own / "init.toml"),
        ("run", own / "campaign.toml"),
        ("status", out),
        ("report", out, "--markdown", own / "report.md"),
        ("report", out),
        ("serve", out, "--port", "0", "--time", "1s"),
        ("watch", out),
        ("triage", own / "crashes", "--checks", "0", "--", own / "reader", "@@"),
        ("record", own / "recording.toml", "--out", own / "recording"),
        ("replay", own / "recording", "--repeats", "1"),
        ("simulate", "--campaigns", "1", "--inputs", "500", "--snapshots", own / "one.jsonl"),
        ("estimate", own / "one.jsonl"),
        ("evaluate", "--simulated", "1"),
        ("fleet", "certificates", own / "certificates"),
        ("worker", "192.0.2.1:8786", "--work", own / "work"),
    ]
    assert {words[0] for words in calls} == COMMANDS.keys()
    assert {words[0]: code_of(hostile, words) for words in calls} == dict.fromkeys(COMMANDS, 0) | {
        "run": 11,
        "replay": 2,  # the recording was not triaged
        "worker": 2,  # nothing beyond this machine without certificates
    }


def test_a_harness_in_a_hostile_folder_runs_with_what_it_imports_and_nothing_else(
    hostile: Hostile, own: Path
) -> None:
    pytest.importorskip("atheris")
    harness = hostile.folder / "harness.py"
    (hostile.folder / "beside.py").write_text("START = b'x'\n")
    harness.write_text(f"from beside import START\n{HARNESS.replace(repr(b'x'), 'START')}")
    words = ("fuzz", "harness.py", "--inputs", "2000", "--out", own / "fuzzed", "--quiet")
    assert hostile.call(*words) == 0
    assert hostile.call("triage", own / "crashes", "--", "harness.py", "@@") == 0


def test_python_m_fuzzwise_takes_modules_from_no_current_folder(
    hostile: Hostile, own: Path
) -> None:
    for name in ("importlib.py", "typing.py"):  # Python imports these before anything of ours
        (hostile.folder / name).unlink()
    (hostile.folder / "fuzzwise" / "__init__.py").unlink()
    (hostile.folder / "fuzzwise").rmdir()
    words = ("triage", own / "crashes", "--checks", "0", "--", own / "reader", "@@")
    assert hostile.call(*words, by=(sys.executable, "-m", "fuzzwise")) == 0


def test_programs_are_looked_up_in_absolute_places_only(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile.folder)
    for before in ("", ".", "received/..", "./"):
        monkeypatch.setenv("PATH", f"{before}:/usr/bin:/bin:{before}")
        assert search_path() == "/usr/bin:/bin"
        assert find("sh") != hostile.folder / "sh"
        assert find("addr2line-of-nobody") is None
    monkeypatch.setenv("PATH", "")
    assert find("gdb") is None
    assert find("./gdb") == hostile.folder / "gdb"  # a name with a slash is what the user wrote


def test_compiled_code_is_not_taken_from_where_the_current_folder_says(
    hostile: Hostile, tmp_path: Path
) -> None:
    """numba reads .numba_config.yaml wherever it is started, if there is a reader of YAML."""
    pytest.importorskip("numba")
    readers, planted = tmp_path / "readers", tmp_path / "planted"
    readers.mkdir()
    (readers / "yaml.py").write_text(
        f"def safe_load(file): return {{'cache_dir': {str(planted)!r}}}\n"
    )
    (hostile.folder / ".numba_config.yaml").write_text(f"cache_dir: {planted}\n")
    words = ("replay", "--synthetic", "2", "--budget", "10s", "--repeats", "1")
    assert hostile.call(*words, PYTHONPATH=str(readers)) == 0
    assert not planted.exists()
