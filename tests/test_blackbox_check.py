"""Targets that would waste a campaign are found beforehand; single runs say how they ended."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace

import pytest

from blackbox_target import build
from fuzzwise.engines.blackbox import Limits, Target, check, execute
from fuzzwise.errors import BadInput

LIMITS = Limits(seconds=60, memory_mib=256)
SHORT = Limits(seconds=0.5, memory_mib=256)
SEED = b"a seed of no importance"


def reader(way: str, *more: str) -> Target:
    return Target((str(build("reader")), way, *more), SEED)


@pytest.mark.parametrize("more", [("@@",), ()], ids=["file", "stdin"])
@pytest.mark.parametrize("way", ["read", "pread", "mmap"])
def test_readers_of_all_sorts_are_fine(way, more):
    assert check(reader(way, *more), LIMITS) == []


def test_a_program_that_removes_its_input_is_fine():
    assert check(reader("unlink", "@@"), LIMITS) == []


@pytest.mark.parametrize("command", [("/bin/cat", "@@"), ("cksum",), ("cksum", "@@"), ("sh", "@@")])
@pytest.mark.parametrize("seed", [b"true", b""])
def test_real_programs_are_fine(command, seed):
    assert check(Target(command, seed), LIMITS) == []


@pytest.mark.parametrize("more", [("@@",), ()], ids=["file", "stdin"])
def test_a_program_that_never_reads_is_told(more):
    (problem,) = check(reader("size", *more), LIMITS)
    assert "never reads its input" in problem
    assert ("@@ stands for" in problem) == bool(more)


def test_a_file_reader_without_the_mark_never_reads():
    (problem,) = check(Target(("true",), SEED, name="nothing"), LIMITS)
    assert problem.startswith("nothing: the program never reads")


@pytest.mark.parametrize(
    ("seed", "says"),
    [(b"S", "crashes on its unchanged seed (SIGSEGV)"), (b"H", "longer than 0.5 s")],
)
def test_a_seed_that_fails_is_told(seed, says):
    limits = SHORT if seed == b"H" else LIMITS
    (problem,) = check(Target((str(build("parser")), "@@"), seed), limits)
    assert says in problem


NOT_AT_FIRST = """#!/bin/sh
if mkdir {0}/late 2> /dev/null; then sleep 60
elif mkdir {0}/killed 2> /dev/null; then kill -9 $$
fi
exec cat "$1"
"""


def test_a_run_that_was_late_and_one_that_was_killed_are_no_fault_of_the_program(tmp_path):
    script = tmp_path / "not-at-first"
    script.write_text(NOT_AT_FIRST.format(tmp_path))
    script.chmod(0o755)
    assert check(Target((str(script), "@@"), SEED), Limits(seconds=2, memory_mib=256)) == []
    assert (tmp_path / "killed").is_dir()


def test_a_check_that_is_interrupted_tells_nothing_that_may_be_chance():
    stop = threading.Event()
    stop.set()
    assert check(Target((str(build("parser")), "@@"), b"H"), SHORT, stop) == []
    assert check(Target((str(build("parser")), "@@"), b"S"), SHORT, stop) != []


def test_a_missing_program_is_told(tmp_path):
    (problem,) = check(Target((str(tmp_path / "no"), "@@"), SEED), LIMITS)
    assert "does not exist" in problem
    text = tmp_path / "text"
    text.write_text("no program")
    (problem,) = check(Target((str(text), "@@"), SEED), LIMITS)
    assert "chmod +x" in problem
    text.write_bytes(b"\x00\x01nonsense")
    text.chmod(0o755)
    (problem,) = check(Target((str(text), "@@"), SEED), LIMITS)
    assert "Exec format error" in problem


@pytest.mark.parametrize(
    ("data", "kind", "number", "code"),
    [
        (b"fine", "exit", 0, 0),
        (b"X", "exit", 0, 3),
        (b"S", "crash", signal.SIGSEGV, 0),
        (b"A", "crash", signal.SIGABRT, 0),
        (b"F", "crash", signal.SIGFPE, 0),
        (b"R", "crash", signal.SIGSEGV, 0),
        (b"H", "hang", signal.SIGKILL, 0),
    ],
)
@pytest.mark.parametrize("mark", [("@@",), ()], ids=["file", "stdin"])
def test_execute_says_how_it_ended(data, kind, number, code, mark):
    limits = SHORT if kind == "hang" else LIMITS
    outcome = execute([str(build("parser")), *mark], data, limits)
    while not outcome.output:  # on a busy machine it was ended before it came to print
        limits = replace(limits, seconds=2 * limits.seconds)
        outcome = execute([str(build("parser")), *mark], data, limits)
    assert (outcome.kind, outcome.signal, outcome.exit_code) == (kind, number, code)
    assert outcome.output == f"\033[31m{len(data)} bytes\033[0m\n".encode()


def test_execute_gives_the_sanitizer_report_and_the_variables():
    program = str(build("parser", "-fsanitize=address", compiler="clang"))
    outcome = execute([program, "@@"], b"S", LIMITS)
    assert outcome.kind == "crash"
    assert outcome.signal == signal.SIGABRT
    assert b"AddressSanitizer: SEGV" in outcome.output
    exits = {"ASAN_OPTIONS": "abort_on_error=0:exitcode=77"}
    assert execute([program, "@@"], b"S", LIMITS, exits).exit_code == 77


def test_execute_keeps_output_of_both_streams():
    outcome = execute(["sh", "@@"], b"echo out; echo err >&2; exit 5", LIMITS)
    assert (outcome.exit_code, outcome.output) == (5, b"out\nerr\n")


def test_execute_says_what_is_wrong(tmp_path):
    with pytest.raises(BadInput, match="not on PATH"):
        execute(["no-such-program"], b"")
