"""Black-box runs of real programs: what is reported, in both modes, and how batches end."""

from __future__ import annotations

import itertools
import shutil
import signal
from pathlib import Path

import pytest

from blackbox_target import TARGETS, build, processes_with
from fuzzwise.engines.blackbox import (
    Event,
    Limits,
    Mutation,
    Runner,
    Target,
    input_hash,
    make_input,
)
from fuzzwise.engines.blackbox import (
    build as native_build,
)
from fuzzwise.engines.blackbox.program import is_injectable
from fuzzwise.errors import BadInput
from fuzzwise.sanitizers import is_sanitized
from waiting import wait_until

LIMITS = Limits(seconds=60.0, memory_mib=256)
"""More than any run takes that ends, however busy the machine is."""

SHORT = Limits(seconds=0.5, memory_mib=256)
"""For runs that never end."""

MUTATION = Mutation(ratio=(0.001, 0.05))
RUNS = 60
SEED = b"abcdefghijklmnopqrstuvwxyz0123456789" * 4


def parser(*flags: str, stdin: bool = False, compiler: str = "cc") -> Target:
    program = str(build("parser", *flags, compiler=compiler))
    return Target((program,) if stdin else (program, "@@"), SEED)


def events(
    target: Target, runs: int, mode: str, limits: Limits = LIMITS, first: int = 1
) -> list[Event]:
    with Runner(target, 1, MUTATION, limits, mode) as runner:
        found = list(runner.run(first, runs))
        assert runner.mode == mode
        assert runner.restarts == 0
    return found


def ends(found: list[Event]) -> list[tuple[str, int, int, int, int]]:
    return [
        (e.kind, e.run, e.signal, e.input_hash, e.input_length) for e in found if e.kind != "mark"
    ]


def expected(data: bytes) -> tuple[str, int] | None:
    """What the parser does with an input: the first letter with a bug decides."""
    outcomes = {
        "S": ("crash", signal.SIGSEGV),
        "T": ("crash", signal.SIGSEGV),
        "A": ("crash", signal.SIGABRT),
        "F": ("crash", signal.SIGFPE),
        "R": ("crash", signal.SIGSEGV),
        "H": ("hang", signal.SIGKILL),
    }
    for byte in data[:4096]:
        if chr(byte) == "X":
            return None
        if chr(byte) == "M":  # memory is never given back, and never enough: it spins
            return ("hang", signal.SIGKILL)
        if chr(byte) in outcomes:
            return outcomes[chr(byte)]
    return None


def hangs(run: int) -> bool:
    return (expected(make_input(SEED, 1, run, MUTATION)) or ("",))[0] == "hang"


def of_all_runs(target: Target, mode: str) -> list[Event]:
    """Batch after batch, in order: of runs that never end, and of those that do."""
    found = []
    for is_endless, batch in itertools.groupby(range(1, RUNS + 1), hangs):
        first, *more = batch
        limits = SHORT if is_endless else LIMITS
        found += events(target, 1 + len(more), mode, limits, first)
    return found


@pytest.mark.parametrize("stdin", [False, True], ids=["file", "stdin"])
def test_both_modes_report_exactly_what_the_inputs_cause(stdin):
    target = parser(stdin=stdin)
    served = of_all_runs(target, "fork-server")
    spawned = of_all_runs(target, "spawn")
    assert ends(served) == ends(spawned)
    truth = []
    for run in range(1, RUNS + 1):
        data = make_input(SEED, 1, run, MUTATION)
        if outcome := expected(data):
            truth.append((outcome[0], run, outcome[1], input_hash(data), len(data)))
    assert ends(served) == truth
    assert {kind for kind, *_ in truth} == {"crash", "hang"}
    assert served[-1].kind == "mark"
    assert served[-1].run == RUNS


def crashing_runs(first: int, last: int) -> list[int]:
    """Those that crash, so that a test need not wait for the hangs."""
    outcomes = {run: expected(make_input(SEED, 1, run, MUTATION)) for run in range(first, last + 1)}
    return [run for run, outcome in outcomes.items() if outcome and outcome[0] == "crash"]


def crashes(target: Target, runs: list[int], mode: str) -> list[Event]:
    with Runner(target, 1, MUTATION, LIMITS, mode) as runner:
        found = [event for run in runs for event in runner.run(run, 1)]
    return [event for event in found if event.kind == "crash"]


def test_equal_stacks_have_equal_traces_and_others_do_not():
    by_letter: dict[str, set[int]] = {}
    runs = crashing_runs(1, 500)
    found = crashes(parser(), runs, "fork-server")
    assert [event.run for event in found] == runs
    for event in found:
        data = make_input(SEED, 1, event.run, MUTATION)
        letter = next(chr(b) for b in data if chr(b) in "STAFRHMX")
        by_letter.setdefault(letter, set()).add(event.trace)
    assert {letter: len(traces) for letter, traces in by_letter.items()} == dict.fromkeys(
        "STAFR", 1
    )
    assert len(set.union(*by_letter.values())) == 5
    assert 0 not in set.union(*by_letter.values())


def test_a_smashed_stack_has_one_trace_whatever_it_was_smashed_with():
    program = str(build("smasher", "-fstack-protector-strong"))
    target = Target((program, "@@"), bytes(range(100, 228)))
    mutation = Mutation(ratio=(0.1, 0.5), kinds=("bits",))
    with Runner(target, 1, mutation, LIMITS, "fork-server") as runner:
        found = [event for event in runner.run(1, 40) if event.kind == "crash"]
    assert [event.signal for event in found] == [signal.SIGABRT] * 40
    assert len({event.input_hash for event in found}) > 30
    assert len({event.trace for event in found}) == 1
    assert found[0].trace != 0


def test_traces_do_not_change_from_server_to_server():
    runs = crashing_runs(1, 100)
    first = crashes(parser(), runs, "fork-server")
    second = crashes(parser(), runs[::-1], "fork-server")
    assert {e.run: e.trace for e in first} == {e.run: e.trace for e in second}


def test_spawned_crashes_have_no_trace():
    found = crashes(parser(), crashing_runs(1, 60), "spawn")
    assert found
    assert {e.trace for e in found} == {0}


def test_marks_say_how_far_the_runs_are():
    def come_in_the_midst_of_runs() -> bool:
        marks = list(runner.run(1, seconds=1.7))
        assert {mark.kind for mark in marks} == {"mark"}
        runs, times = [mark.run for mark in marks], [mark.microseconds for mark in marks]
        assert runs == sorted(runs)
        assert times == sorted(times)
        assert times[-1] >= 1_700_000
        assert len(marks) <= 1 + times[-1] / 500_000
        return len(set(runs)) >= 3  # on a busy machine, a run may take longer than two marks

    with Runner(Target(("/bin/cat", "@@"), SEED), 1, MUTATION, LIMITS) as runner:
        wait_until(come_in_the_midst_of_runs, "marks in the midst of runs")


def test_a_batch_ends_with_its_runs_or_its_time_whichever_is_first():
    with Runner(Target(("/bin/cat", "@@"), SEED), 1, MUTATION, LIMITS) as runner:
        assert list(runner.run(5, 10, 1000.0))[-1].run == 14
        last = list(runner.run(1, 10**9, 0.05))[-1]
        assert 1 <= last.run < 10**6


def test_an_abandoned_batch_does_not_disturb_the_next():
    target = parser()
    with Runner(target, 1, MUTATION, LIMITS) as runner:
        batch = runner.run(1, 10_000)
        next(batch)
        batch.close()  # type: ignore[attr-defined]
        assert list(runner.run(7, 3))[-1].run == 9


@pytest.mark.parametrize("mode", ["fork-server", "spawn"])
def test_too_much_memory_is_noticed(mode):
    """Without a limit on address space, as for sanitizers, resident memory is what counts."""
    program = build("parser", "-fsanitize=address", compiler="clang")
    assert is_sanitized(program)
    target = Target((str(program), "@@"), b"M" * 40)
    limits = Limits(seconds=20.0, memory_mib=200)
    with Runner(target, 1, Mutation((1e-9, 1e-9), ("bits",)), limits, mode) as runner:
        kinds = [event.kind for event in runner.run(1, 1)]
    assert kinds[0] == "out-of-memory"


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("mode", ["fork-server", "spawn"])
def test_a_sanitizer_error_is_an_abort(compiler, mode):
    target = parser("-fsanitize=address", compiler=compiler)
    runs = crashing_runs(1, 40)
    found = crashes(target, runs, mode)
    assert [e.run for e in found] == runs
    assert {e.signal for e in found} == {signal.SIGABRT}
    assert all((e.trace != 0) == (mode == "fork-server") for e in found)


def test_auto_takes_the_fork_server_where_it_can_and_spawns_where_not(tmp_path):
    with Runner(parser(), 1, MUTATION, LIMITS) as runner:
        assert runner.mode == "fork-server"
    static = parser("-static")
    assert not is_injectable(Path(static.command[0]))
    with Runner(static, 1, MUTATION, LIMITS) as runner:
        assert runner.mode == "spawn"
        runs = crashing_runs(1, 50)
        assert [e.signal for run in runs for e in runner.run(run, 1) if e.kind == "crash"] == [
            e.signal for e in crashes(parser(), runs, "fork-server")
        ]


def test_a_program_that_drops_the_library_is_spawned(tmp_path):
    """Its interpreter is static, which cannot be told from the script."""
    shell = tmp_path / "shell"
    source = tmp_path / "shell.c"
    source.write_text("int main(void) { return 0; }")
    native_build._run(["cc", "-static", str(source), "-o", str(shell)])
    script = tmp_path / "script"
    script.write_text(f"#!{shell}\n")
    script.chmod(0o755)
    target = Target((str(script), "@@"), SEED)
    with Runner(target, 1, MUTATION, LIMITS) as runner:
        assert runner.mode == "spawn"
        assert list(runner.run(1, 5))[-1].run == 5
    with pytest.raises(BadInput, match="fork server did not start"):
        Runner(target, 1, MUTATION, LIMITS, "fork-server")
    assert processes_with(str(script)) == []


def test_scripts_run(tmp_path):
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\ngrep -q 5 "$1" || kill -SEGV $$\n')
    script.chmod(0o755)
    target = Target((str(script), "@@"), SEED)
    assert ends(events(target, 40, "fork-server")) == ends(events(target, 40, "spawn"))


def test_the_mark_may_be_inside_of_a_word_and_the_file_may_have_a_suffix(tmp_path):
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\ncase "$1" in --in=/*.png) exit 0;; esac; kill -SEGV $$\n')
    script.chmod(0o755)
    good = Target((str(script), "--in=@@"), SEED, suffix=".png")
    bad = Target((str(script), "--in=@@"), SEED)
    assert ends(events(good, 3, "spawn")) == []
    assert len(ends(events(bad, 3, "spawn"))) == 3


def test_a_relative_program_and_variables(tmp_path, monkeypatch):
    shutil.copy(build("parser"), tmp_path / "here")
    monkeypatch.chdir(tmp_path)
    assert len(events(Target(("./here", "@@"), SEED), 5, "fork-server")) >= 1
    script = tmp_path / "script"
    script.write_text('#!/bin/sh\n[ "$COLOUR" = blue ] || kill -SEGV $$\n')
    script.chmod(0o755)
    target = Target((str(script), "@@"), SEED, environment={"COLOUR": "blue"})
    assert ends(events(target, 3, "fork-server")) == []


def test_bad_input_is_told(tmp_path):
    target = parser()
    for wrong, says in (
        (lambda: Runner(Target(("no-such-program", "@@"), b"")), "not on PATH"),
        (lambda: Runner(Target((str(tmp_path / "no"), "@@"), b"")), "does not exist"),
        (lambda: Runner(Target((str(tmp_path), "@@"), b"")), "is a folder"),
        (lambda: Runner(Target((str(TARGETS / "torn.c"), "@@"), b"")), "not executable"),
        (lambda: Runner(target, mode="fast"), "no mode 'fast'"),
        (lambda: Runner(target, random_seed=-1), "random seed"),
        (lambda: Runner(target, mutation=Mutation(max_length=2)), "max_length"),
        (lambda: Target((), b""), "empty"),
        (lambda: Target(("a\0b",), b""), "NUL"),
        (lambda: Target(("a",), b"", suffix="/x"), "suffix"),
        (lambda: Limits(seconds=0), "time limit"),
        (lambda: Limits(seconds=float("nan")), "time limit"),
        (lambda: Limits(memory_mib=0), "memory limit"),
        (lambda: Limits(processes=0), "processes"),
    ):
        with pytest.raises(BadInput, match=says):
            wrong()
    with Runner(target, 1, MUTATION, LIMITS) as runner:
        for first, runs, seconds in ((1, None, None), (-1, 5, None), (1, 0, None), (1, 5, -1.0)):
            with pytest.raises(BadInput, match="batch"):
                runner.run(first, runs, seconds)


def test_a_file_that_is_no_program_is_told(tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF\x02\x01nonsense")
    program.chmod(0o755)
    with (
        Runner(Target((str(program), "@@"), SEED), 1, MUTATION, LIMITS) as runner,
        pytest.raises(BadInput, match="Exec format error"),
    ):
        list(runner.run(1, 5))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_native_code_builds_without_warnings(tmp_path, monkeypatch, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("FUZZWISE_CC", compiler)
    parts = native_build.native()
    assert parts.warden.is_file()
    assert parts.preload.is_file()
    assert parts.mutator.is_file()


def test_a_missing_compiler_is_told(monkeypatch):
    monkeypatch.setenv("FUZZWISE_CC", "no-such-compiler")
    with pytest.raises(BadInput, match="no-such-compiler"):
        native_build.native()
