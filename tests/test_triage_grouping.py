"""Grouping of crashing inputs: what counts once, what is flaky, and what is contained."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from fuzzwise.errors import BadInput
from fuzzwise.triage.examine import Limits, absolute, examine
from fuzzwise.triage.grouping import Triage, group
from fuzzwise.triage.inputs import CrashingInput
from fuzzwise.triage.processes import running
from fuzzwise.triage.workers import Task, Workers

SOURCE = Path(__file__).parent / "targets" / "unruly.c"
Run = Callable[..., Triage]


@pytest.fixture(scope="module", params=["address", "plain"])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unruly program; gdb looks at the plain one."""
    compiler = shutil.which("clang")
    if compiler is None or shutil.which("gdb") is None:
        pytest.skip("clang or gdb is not installed")
    path = tmp_path_factory.mktemp("grouping") / f"unruly-{request.param}"
    flags = ["-fsanitize=address"] if request.param == "address" else []
    subprocess.run([compiler, "-O1", "-g", *flags, SOURCE, "-o", path], check=True)
    return path


def crash(
    name: str, data: bytes, target: Path, *more: str, seconds: float = 120, trace: str | None = None
) -> CrashingInput:
    command = (str(target), "@@", *more)
    return CrashingInput(name, partial(bytes, data), command, Limits(seconds), trace)


def names(crashes: tuple[CrashingInput, ...]) -> list[str]:
    return [crash.name for crash in crashes]


def test_bugs_timeouts_and_inputs_that_do_not_crash(target: Path) -> None:
    crashes = [
        *(crash("2", b"aa", target), crash("1", b"aaa", target), crash("3", b"b", target)),
        *(crash("4", b"n", target), crash("5", b"h", target, seconds=2), crash("6", b"", target)),
        *(crash("7", b"l", target, seconds=2), crash("8", b"x", target)),
    ]
    random.Random(5).shuffle(crashes)
    found = group(crashes, jobs=2)
    assert [names(bug.inputs) for bug in found.bugs] == [["1", "2"], ["3"]]
    assert [bug.identity.frames for bug in found.bugs] == [("bug_a",), ("bug_b",)]
    assert [bug.identity.severity for bug in found.bugs] == ["null dereference", "abort"]
    assert [bug.reproducer.name for bug in found.bugs] == ["2", "3"]
    assert not any(bug.flaky for bug in found.bugs)
    assert names(found.timeouts) == ["5", "7"]
    assert names(found.silent) == ["4", "6", "8"]
    assert "bug_a" in found.bugs[0].verdict.report


def test_the_order_of_inputs_and_the_jobs_do_not_matter(target: Path) -> None:
    crashes = [crash(str(i), data, target) for i, data in enumerate((b"a", b"ab", b"b", b"n"))]
    found = group(crashes, jobs=1, checks=0)
    again = group(reversed(crashes), jobs=3, checks=1)
    assert [names(bug.inputs) for bug in found.bugs] == [names(bug.inputs) for bug in again.bugs]
    assert [bug.reproducer.name for bug in found.bugs] == [
        bug.reproducer.name for bug in again.bugs
    ]
    assert [bug.verdict.bug for bug in found.bugs] == [bug.verdict.bug for bug in again.bugs]


def counted(counter: Path) -> int:
    return int(counter.read_text() or "0")


# gdb runs a program a second time, which would spoil the counting.
counting = pytest.mark.parametrize("target", ["address"], indirect=True)


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    path = tmp_path / "counter"
    path.touch()
    return path


@counting
def test_the_same_content_runs_once(target: Path, counter: Path) -> None:
    crashes = [crash(name, b"a", target, str(counter)) for name in "zyx"]
    found = group([*crashes, crash("w", b"aa", target, str(counter))], checks=0)
    assert counted(counter) == found.runs == 2
    assert names(found.bugs[0].inputs) == ["w", "x", "y", "z"]
    assert found.bugs[0].reproducer.name == "x"


@counting
def test_the_same_trace_of_the_same_command_runs_once(target: Path, counter: Path) -> None:
    crashes = [crash(f"{i}", b"a" * i, target, str(counter), trace="t") for i in range(1, 9)]
    other = crash("other", b"b", target, trace="t")
    different = crash("different", b"aaaaaaaaa", target, str(counter), trace="u")
    found = group([*crashes, other, different], checks=0)
    assert counted(counter) == 2
    assert [names(bug.inputs) for bug in found.bugs] == [
        [*"12345678", "different"],
        ["other"],
    ]
    assert found.bugs[0].reproducer.name == "1"


@counting
def test_a_bug_that_does_not_show_every_time_is_flaky(target: Path, counter: Path) -> None:
    found = group([crash("1", b"f", target, str(counter))])
    assert [bug.flaky for bug in found.bugs] == [True]
    assert found.bugs[0].reproducer.name == "1"
    counter.write_text("0")
    assert not group([crash("1", b"f", target, str(counter))], checks=0).bugs[0].flaky


@counting
def test_the_reproducer_is_the_smallest_input_that_is_not_flaky(
    target: Path, counter: Path
) -> None:
    flaky = crash("flaky", b"f", target, str(counter))
    steady = [crash(f"steady {n}", b"a" * n, target, str(counter)) for n in (30, 20)]
    (bug,) = group([flaky, *steady]).bugs
    assert names(bug.inputs) == ["flaky", "steady 20", "steady 30"]
    assert (bug.reproducer.name, bug.flaky) == ("steady 20", False)


def of_target(target: Path) -> Iterator[int]:
    for process in running():
        try:
            if Path(f"/proc/{process.pid}/exe").readlink() == target:
                yield process.pid
        except OSError:
            pass


@pytest.mark.parametrize("letter", ["d", "r", "h"])
def test_nothing_that_a_target_starts_survives(target: Path, letter: str, tmp_path: Path) -> None:
    # A copy, so that processes of tests that run at the same time are not mistaken for its own.
    copy = Path(shutil.copy(target, tmp_path / "copy"))
    found = group([crash("1", letter.encode(), copy, seconds=3)], checks=0)
    assert len(found.timeouts) + len(found.bugs) == 1
    # Nothing may come back, either.
    for _ in range(5):
        assert list(of_target(copy)) == []
        time.sleep(0.02)


def test_what_a_target_started_is_gone_before_the_next_input_runs(
    target: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copy(target, tmp_path / "copy"))
    task = Task(absolute((str(copy), "@@")), lambda: b"d", "1", Limits(20), 5)
    with Workers(1) as workers:
        (verdict,) = workers.examine([task])
        assert list(of_target(copy)) == []
    assert verdict.ending == "crash"


def test_output_without_end_is_contained(target: Path) -> None:
    found = group([crash("1", b"o", target, seconds=3)])
    assert names(found.timeouts) == ["1"]


def test_a_crash_is_found_behind_megabytes_of_escape_codes(target: Path) -> None:
    (bug,) = group([crash("1", b"p", target)]).bugs
    assert bug.identity.frames == ("bug_a",)
    assert "\x1b" not in bug.verdict.report
    assert len(bug.verdict.report) < 1 << 19


def test_memory_is_limited(target: Path) -> None:
    command = absolute((str(target), "@@"))
    verdict = examine(command, b"m", "1", Limits(20, 256))
    assert verdict.ending == "crash"
    assert verdict.bug is not None
    # An allocation that fails is null; AddressSanitizer ends a program that has too much.
    assert verdict.bug.kind == ("out-of-memory" if "address" in target.name else "SEGV")


def test_an_input_stays_what_it_is_whatever_the_target_writes(
    target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "input"
    path.write_bytes(b"w")
    found = group([CrashingInput("1", path.read_bytes, (str(target), "@@"))])
    assert [(bug.identity.frames, bug.flaky) for bug in found.bugs] == [(("bug_a",), False)]
    assert path.read_bytes() == b"w"
    assert list(tmp_path.iterdir()) == [path]


def test_input_on_the_standard_input(target: Path) -> None:
    found = group([CrashingInput("1", lambda: b"a", (str(target),))])
    assert [bug.identity.frames for bug in found.bugs] == [("bug_a",)]


def test_a_file_keeps_the_ending_of_its_name(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(
        '#!/bin/sh\ncase "$1" in *.png) echo "x.c:1:2: runtime error: png" >&2;; esac\n'
    )
    script.chmod(0o755)
    command = absolute((str(script), "@@"))
    assert examine(command, b"", "a.png", Limits()).ending == "crash"
    for name in ("a.txt", "id:000000,sig:11", "a.p n", "png"):
        assert examine(command, b"", name, Limits()).ending == "none"


def test_when_triage_is_killed_its_targets_end(target: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(target, tmp_path / "copy"))
    code = f"""
from fuzzwise.triage.grouping import group
from fuzzwise.triage.inputs import CrashingInput, Limits
group([CrashingInput("1", lambda: b"h", ({str(copy)!r}, "@@"), Limits(300))])
"""
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        _wait(lambda: bool(list(of_target(copy))))
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    _wait(lambda: not list(of_target(copy)))
    assert not list(of_target(copy))


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def test_bad_settings_say_what_is_wrong(tmp_path: Path) -> None:
    one = CrashingInput("1", lambda: b"", ("/bin/true", "@@"))
    with pytest.raises(BadInput, match="frames must be at least 1"):
        group([one], depth=0)
    with pytest.raises(BadInput, match="checks cannot be negative"):
        group([one], checks=-1)
    with pytest.raises(BadInput, match="positive number of seconds"):
        Limits(0)
    with pytest.raises(BadInput, match="at least 16 MiB"):
        Limits(1, 1)
    with pytest.raises(BadInput, match="no such program in the PATH"):
        group([CrashingInput("1", lambda: b"", ("surely-missing",))])
    plain = tmp_path / "plain"
    plain.touch()
    with pytest.raises(BadInput, match="is not executable"):
        absolute((str(plain),))
    with pytest.raises(BadInput, match="no such file"):
        absolute((str(tmp_path / "missing"),))
    with pytest.raises(BadInput, match="no command"):
        absolute(())
    assert group([]).bugs == ()
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nkill -SEGV $$\n")
    script.chmod(0o755)
    with pytest.raises(BadInput, match="not a script"):
        group([CrashingInput("1", lambda: b"", (str(script), "@@"))])


def test_files_named_in_a_command_work_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings").touch()
    monkeypatch.chdir(tmp_path)
    words = absolute(("sh", "settings", "-c", "@@", "missing"))
    assert words == (shutil.which("sh"), str(tmp_path / "settings"), "-c", "@@", "missing")
