"""The process around a command: interrupts, standard streams, and exceptions nobody expected."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzwise.cli import COMMANDS

START = "from fuzzwise.__main__ import start; start()"

INTERRUPTING = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r} and (sys.meta_path.remove(self) or True):
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
"""
"""Ctrl-C at the moment in which a module begins to be loaded."""


def run(
    *words: object, script: str = "", shell: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """A command, with something before it in its process, or with a shell's words behind it."""
    environment = {**os.environ, "COLUMNS": "200", **variables}
    environment.pop("PYTHONUNBUFFERED", None)
    environment.update({k: v for k, v in variables.items() if k == "PYTHONUNBUFFERED"})
    command = [sys.executable, "-c", f"{script}\n{START}", *map(str, words)]
    if shell:
        command = ["bash", "-c", f'set -o pipefail; "$0" "$@" {shell}', *command]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=600, check=False
    )


@pytest.fixture
def snapshots(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"format":"fuzzwise-observations","version":1,"campaign":"café"}\n'
        '{"n":5000,"seconds":9,"species":2,"discoveries":[1,40]}\n'
    )
    return path


# ── interrupts ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_while_a_command_is_loaded_is_a_word(name):
    result = run(name, "x", script=INTERRUPTING.format(module=f"fuzzwise.cli.{name}"))
    assert (result.returncode, result.stderr) == (130, "Interrupted.\n")


@pytest.mark.parametrize(
    "module", ["fuzzwise.streams", "fuzzwise.cli", "click", "numpy", "scipy", "rich"]
)
def test_an_interrupt_at_any_import_is_a_word(module, snapshots):
    result = run("estimate", snapshots, script=INTERRUPTING.format(module=module))
    assert result.returncode == 130
    assert result.stderr.strip() == "Interrupted."


def test_interrupts_that_are_ignored_stay_so(snapshots):
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    script = ignoring + INTERRUPTING.format(module="fuzzwise.cli.estimate")
    assert run("estimate", snapshots, script=script).returncode == 0


def test_an_interrupt_that_python_has_nobody_to_give_to_ends_the_command(snapshots):
    script = (
        "class Late:\n"
        "    def __del__(self): raise KeyboardInterrupt\n"
        "def read(path): Late(); print('still there')\n"
        "import fuzzwise.snapshot; fuzzwise.snapshot.read = read\n"
    )
    result = run("estimate", snapshots, script=script)
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr == "Interrupted.\n"


# ── what nobody expected ──────────────────────────────────────────────────────────────────────

BREAKING = """
import fuzzwise.snapshot
def read(path):
    return {{}}["no such\\nkey"]
fuzzwise.snapshot.read = read
{more}
"""


def test_what_nobody_expected_is_a_sentence_with_what_to_do(snapshots):
    result = run("estimate", snapshots, script=BREAKING.format(more=""))
    assert result.returncode == 70
    assert result.stderr.startswith("fuzzwise estimate: unexpected: KeyError: 'no such\\nkey' (")
    assert "FUZZWISE_TRACEBACK=1" in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_whole_story_is_told_on_demand(snapshots):
    result = run("estimate", snapshots, script=BREAKING.format(more=""), FUZZWISE_TRACEBACK="1")
    assert result.returncode == 70
    assert "Traceback (most recent call last)" in result.stderr


def test_an_exception_in_a_thread_is_a_sentence_too(snapshots):
    script = (
        "import threading, fuzzwise.snapshot\n"
        "real = fuzzwise.snapshot.read\n"
        "def fails(): raise ValueError('in a thread')\n"
        "def read(path):\n"
        "    t = threading.Thread(target=fails); t.start(); t.join(); return real(path)\n"
        "fuzzwise.snapshot.read = read\n"
    )
    result = run("estimate", snapshots, script=script)
    assert result.returncode == 0
    assert "unexpected: ValueError: in a thread" in result.stderr
    assert "Traceback" not in result.stderr


# ── standard streams ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    ("shell", "why"), [(">&-", "Bad file descriptor"), ("> /dev/full", "No space left on device")]
)
@pytest.mark.parametrize("words", [("--help",), ("--version",), ("estimate",)])
def test_output_that_cannot_be_written_is_a_sentence(words, shell, why, buffered, snapshots):
    if words == ("estimate",):
        words = ("estimate", snapshots)
    variables = {} if buffered else {"PYTHONUNBUFFERED": "1"}
    result = run(*words, shell=shell, **variables)
    assert result.returncode == 74
    assert f"standard output cannot be written to ({why})" in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [("--help",), ("estimate",)])
def test_a_pipe_that_nobody_reads_ends_it_quietly(words, snapshots):
    if words == ("estimate",):
        words = ("estimate", snapshots)
    reader, writer = os.pipe()
    os.close(reader)
    try:
        result = subprocess.run(
            [sys.executable, "-m", "fuzzwise", *map(str, words)],
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=600,
            check=False,
        )
    finally:
        os.close(writer)
    assert (result.returncode, result.stderr) == (141, b"")


def test_no_stream_at_all_is_no_traceback_and_no_file_gets_the_output(tmp_path, snapshots):
    result = run("estimate", snapshots, shell="<&- >&- 2>&-")
    assert result.returncode == 74
    assert run("estimate", tmp_path / "absent", shell="2>&-").returncode == 2
    assert run("estimate", tmp_path / "absent", shell="2> /dev/full").returncode == 2


@pytest.mark.parametrize("words", [("--help",), ("estimate",), ("estimate", "--json")])
def test_a_terminal_that_knows_ascii_only_gets_ascii(words, snapshots):
    full = (*words, snapshots) if "estimate" in words else words
    result = run(*full, PYTHONIOENCODING="ascii", TERM="dumb", LC_ALL="C")
    assert result.returncode == 0, result.stderr
    assert result.stdout.isascii()
    if "--json" in words:
        (campaign,) = json.loads(result.stdout)["campaigns"]
        assert "café" in campaign.values()


def test_names_that_are_no_text_can_be_told(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xff\x1b[31m")
    result = run("estimate", path)
    assert result.returncode == 2
    assert "cannot be read" in result.stderr
    assert "\x1b" not in result.stderr
