"""Targets that do not run, in the ways that they really do not: each is told, and soon.

One harness is broken in as many ways as it has names (targets/does_not_run.c). A row is a way to
break a target, with what ``fuzzwise fuzz`` says and how it ends: by what is wrong, and not by the
time that it had.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import afl_target
import broken_targets
import observed_target
import stock_target
from broken_targets import ENDLESS, STARTUP, fuzzed_in_time
from commands import Started, fuzzwise
from fuzzwise.engines.libfuzzer.lives import HOPELESS
from observed_target import TARGETS, fuzz
from reading import read_state, state_so_far
from waiting import wait_until

LIMITS = '[target.limits]\ntime = "2s"\n'
LOOPS = {"observed-loops-later", "stock-loops-later"}
DEAF = {"observed-deaf-later", "stock-deaf-later"}

# name of the target, words for `fuzz`, part of the sentence
BROKEN = [
    *broken_targets.BROKEN,
    ("loops-at-start", STARTUP, "in LLVMFuzzerInitialize or before main?"),
    ("stops-at-start", STARTUP, "has run no input within 2 s"),
    ("waits", ENDLESS, "its first input does not end"),
    ("dies-before-main", (), "crashed (SEGV in before_main) before it ran an input"),
    ("aborts-at-start", (), "crashed (abort in LLVMFuzzerInitialize) before it ran an input"),
    ("good", ("--libfuzzer", "-help=1"), "remove it: it makes libFuzzer do something else"),
    ("good", ("--libfuzzer", "nonsense"), "'nonsense' is none; expected one such as -use_cmp=1"),
]

# content of a harness in Python, part of the sentence
PYTHON = [
    ("while True: pass", "takes longer than 2 s to load"),
    ("import time; time.sleep(1000)", "takes longer than 2 s to load"),
    ("import sys; sys.exit(0)", "cannot be loaded: SystemExit"),
    ("import os; os._exit(3)", "with status 3 while it was loaded"),
    ("import nothing_of_that_name", "cannot be loaded: ModuleNotFoundError"),
    ("raise ValueError('x')", "cannot be loaded: ValueError: x (line 1)"),
    ("def TestOneInput(data:", "is not Python"),
    ("TestOneInput = 5", "has no function TestOneInput(data)"),
    ("def TestOneInput(data):\n  while True: pass", "its first input does not end"),
    ("import os\ndef TestOneInput(data): os._exit(0)", "while it ran its first input"),
]


# name of a target for AFL++, part of the sentence
AFL = [
    ("waits-before-main", "has run no input within 2 s of its start: does it wait"),
    ("exits-at-start", "afl-fuzz cannot fuzz"),
    ("aborts-at-start", "Fork server crashed with signal 6"),
    ("loops", "All test cases time out or crash"),
    ("aborts", "We need at least one valid input seed that does not crash"),
]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return observed_target.build(tmp_path_factory.mktemp("none"), TARGETS / "does_not_run.c")


@pytest.fixture
def named(harness: Path, tmp_path: Path) -> Path:
    """A folder for targets, each of which does what it is called."""
    folder = tmp_path / "targets"
    folder.mkdir()
    shutil.copy(harness, folder / "good")
    return folder


@pytest.mark.parametrize(("name", "words", "sentence"), BROKEN, ids=lambda value: str(value)[:30])
def test_a_target_that_does_not_run_is_told(
    named: Path, tmp_path: Path, name: str, words: tuple[str, ...], sentence: str
):
    target = named / name
    if name != "good":
        (named / "good").rename(target)
    fuzzed = partial(fuzz, target, tmp_path / "out", "--quiet")
    end = fuzzed_in_time(fuzzed, words or ("--time", "500s"), sentence)
    assert end.returncode == 2, end.stderr
    assert sentence in end.stderr
    assert "Traceback" not in end.stderr


@pytest.mark.parametrize(("content", "sentence"), PYTHON, ids=lambda value: str(value)[:40])
def test_a_python_harness_that_does_not_run_is_told(tmp_path: Path, content: str, sentence: str):
    pytest.importorskip("atheris")
    harness = tmp_path / "harness.py"
    harness.write_text(f"{content}\n")
    end = fuzzed_in_time(partial(fuzz, harness, tmp_path / "out", "--quiet"), ENDLESS, sentence)
    assert end.returncode == 2, end.stderr
    assert sentence in end.stderr
    assert "Traceback" not in end.stderr


@pytest.mark.parametrize(("name", "sentence"), AFL)
def test_a_target_of_afl_that_does_not_run_is_told(tmp_path: Path, name: str, sentence: str):
    harness = afl_target.build(TARGETS / "does_not_run.c", afl_target.HARNESS)
    target = tmp_path / name
    shutil.copy(harness, target)
    end = fuzzed_in_time(partial(fuzz, target, tmp_path / "out", "--quiet"), STARTUP, sentence)
    assert end.returncode == 2, end.stderr
    assert sentence in end.stderr


def test_time_holds_for_what_never_starts_and_programs_are_told(named: Path, tmp_path: Path):
    target = (named / "good").rename(named / "waits-at-start")
    end = fuzz(target, tmp_path / "out", "--time", "1s", "--json")
    assert end.returncode == 2
    told = json.loads(end.stdout)
    assert told["inputs"] == 0
    assert told["stopped"]["reason"] == "nothing-ran"
    assert "has not run a single input" in told["stopped"]["detail"]


def test_one_that_is_slow_to_start_is_waited_for_and_that_is_told(named: Path, tmp_path: Path):
    target = (named / "good").rename(named / "waits-at-start")
    end = fuzz(target, tmp_path / "out", "--startup", "6s")
    assert "starting: it has run no input yet" in end.stderr
    assert end.returncode == 2


def test_a_program_that_no_engine_knows_is_refused_at_once(tmp_path: Path):
    end = fuzz(Path(shutil.which("sleep") or "/bin/sleep"), tmp_path / "out", "--time", "1s")
    assert end.returncode == 2
    assert "nothing in it is of a fuzzer (LLVMFuzzerTestOneInput of libFuzzer" in end.stderr
    assert "--engine black-box --arguments @@" in end.stderr


def test_a_script_that_never_ends_is_told(tmp_path: Path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nexec sleep 1000\n")
    script.chmod(0o755)
    end = fuzz(script, tmp_path / "out", "--quiet")
    assert end.returncode == 2
    assert "does not answer -help=1 within 4 s as libFuzzer does" in end.stderr
    assert "--engine black-box --arguments @@" in end.stderr
    end = fuzz(script, tmp_path / "out", "--quiet", "--engine", "stock", *STARTUP)
    assert end.returncode == 2
    assert "has run no input within 2 s" in end.stderr
    assert not afl_target.fuzzers_of(tmp_path)


@pytest.mark.parametrize(
    ("build", "name", "how"),
    [
        (observed_target.build, "leaves-later", "with status 3"),
        (observed_target.build, "alarmed-later", "with signal 14"),
        (stock_target.build, "leaves-later", "with status 3"),
    ],
)
def test_one_that_leaves_in_the_midst_of_inputs_goes_on_and_is_told(
    tmp_path: Path, build: Callable[..., Path], name: str, how: str
):
    target = build(tmp_path, TARGETS / "does_not_run.c").rename(tmp_path / name)

    def is_told() -> bool:
        end = fuzz(target, tmp_path / "out", "--time", "3s", "--json")
        assert end.returncode == 0, end.stderr
        told = json.loads(end.stdout)
        assert not told["bugs"]
        return any(f"its processes end ({how}) in the midst" in w for w in told["warnings"])

    wait_until(is_told, "a process that leaves")


def test_what_does_not_end_is_found_in_turns_that_are_shorter(tmp_path: Path):
    source = TARGETS / "does_not_run.c"
    tables = []
    for kind, build in (("observed", observed_target.build), ("stock", stock_target.build)):
        folder = tmp_path / kind
        folder.mkdir()
        for way in ("loops-later", "deaf-later"):
            target = build(folder, source).rename(folder / way)
            name = f"{kind}-{way}"
            tables.append(f'[[target]]\nname = "{name}"\nprogram = "{target}"\n{LIMITS}')
    file = tmp_path / "campaign.toml"
    file.write_text('[campaign]\ncores = 4\nepoch = "1s"\n' + "".join(tables))
    out = tmp_path / "out"

    def has_told() -> bool:
        state = state_so_far(out)
        if state is None or not {t.name for t in state.targets if t.crashes} >= LOOPS:
            return False
        return {t.name for t in state.targets if t.state == "broken"} >= DEAF

    with Started("run", file, "--out", out, "--quiet") as process:
        wait_until(has_told, "two bugs and two broken targets", by=process)
        process.send_signal(signal.SIGINT)
    state = read_state(out)
    assert {bug.kind for bug in state.bugs} == {"timeout"}
    told = {t.name: t.detail for t in state.targets}
    assert "has inputs that do not end, and libFuzzer's own limit" in told["observed-deaf-later"]
    assert "have the code under test leave" in told["stock-deaf-later"]


def test_a_stock_target_that_closes_its_standard_error_is_told(tmp_path: Path):
    target = stock_target.build(tmp_path, TARGETS / "does_not_run.c", name="mute")
    end = fuzz(target, tmp_path / "out", "--quiet")
    assert end.returncode == 2
    assert "has closed its standard error" in end.stderr
    assert "-close_fd_mask=3" in end.stderr
    end = fuzz(target, tmp_path / "out", *("--libfuzzer", "-close_fd_mask=3", "--inputs", "2000"))
    assert end.returncode == 0, end.stderr


def test_a_stock_target_that_crashes_in_silence_is_told_that_nobody_hears_it(tmp_path: Path):
    target = stock_target.build(tmp_path, TARGETS / "silent.c")
    end = fuzz(target, tmp_path / "out", "--quiet")
    assert end.returncode == 2
    assert "before it has made an input, 3 times in a row" in end.stderr
    assert "has closed its standard error, or put something else in its place" in end.stderr


@pytest.mark.parametrize("build", [observed_target.build, stock_target.build])
def test_a_corpus_of_many_known_crashes_does_not_make_a_target_broken(
    tmp_path: Path, build: Callable[..., Path]
):
    target = build(tmp_path, TARGETS / "known_crashes.c")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(HOPELESS + 2):
        (corpus / f"crash-{number}").write_bytes(b"known crash %03d" % number)
    end = fuzz(target, tmp_path / "out", corpus, "--inputs", "2000", "--json")
    assert end.returncode == 0, end.stderr
    told = json.loads(end.stdout)
    assert told["inputs"] == 2000
    assert [bug["count"] for bug in told["bugs"]] == [HOPELESS + 2]


NOT_JUDGED = "no input shows more than the empty one does, so that NO RISK CAN BE JUDGED"


def build_for_afl(_: Path, source: Path) -> Path:
    return afl_target.build(source, "-fsanitize=fuzzer")


@pytest.mark.parametrize("build", [observed_target.build, stock_target.build, build_for_afl])
def test_a_harness_that_does_nothing_is_never_accepted(
    tmp_path: Path, build: Callable[..., Path]
) -> None:
    source, corpus = tmp_path / "idle.c", tmp_path / "corpus"
    source.write_text(
        "int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }\n"
    )
    corpus.mkdir()
    (corpus / "a").write_text("a seed")
    limits = ("--inputs", "20k", "--accept-risk", "5e-2", "--json")
    end = fuzz(build(tmp_path, source), tmp_path / "out", corpus, *limits)
    assert end.returncode == 11, end.stderr
    told = json.loads(end.stdout)
    assert told["inputs"] >= 20_000
    assert told["risk"]["high"] < 5e-2
    assert NOT_JUDGED in told["warnings"]


def test_nor_is_a_function_in_python_that_does_nothing(tmp_path: Path) -> None:
    (tmp_path / "idle.py").write_text("def TestOneInput(data):\n    pass\n")
    limits = ("--inputs", "2k", "--accept-risk", "1e-2", "--json")
    end = fuzz(tmp_path / "idle.py", tmp_path / "out", *limits)
    assert end.returncode == 11, end.stderr
    assert NOT_JUDGED in json.loads(end.stdout)["warnings"]


def test_nor_is_it_by_watching(tmp_path: Path) -> None:
    source, log = tmp_path / "idle.c", tmp_path / "idle.log"
    source.write_text("int LLVMFuzzerTestOneInput(const char *d, long n) { return 0; }\n")
    target = stock_target.build(tmp_path, source)
    with log.open("w") as said:
        subprocess.run([target, "-runs=50000"], stderr=said, check=True, cwd=tmp_path)
    end = fuzzwise("watch", log, "--accept-risk", "1e-2")
    assert (end.returncode, NOT_JUDGED in end.stdout) == (11, True), end.stdout + end.stderr


def test_seeds_that_outlast_the_time_are_named_as_the_reason(named: Path, tmp_path: Path):
    target = (named / "good").rename(named / "slow")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(250):  # a tenth of a second each
        (corpus / str(number)).write_bytes(bytes([number]) * 5)

    def are_named() -> bool:
        seconds.append(2 * seconds[-1])
        out = tmp_path / f"out-{len(seconds)}"
        end = fuzz(target, out, corpus, "--time", f"{seconds[-1]}s", "--quiet")
        assert end.returncode == 2
        return "has not run a single input (executing its corpus: " in end.stderr

    seconds = [1]
    wait_until(are_named, "a target that has started in time")


def test_the_time_of_a_campaign_goes_to_the_targets_that_run(named: Path, tmp_path: Path):
    broken = ["waits-at-start", "loops", "exits-at-start", "aborts", "stops"]
    healthy = ["a", "b", "c", "d", "e"]
    for name in (*broken, *healthy):
        shutil.copy(named / "good", named / name)
    # "loops" is ended by the limit of an input, which is shorter than that of the start, in turns
    # that are shorter than both.
    tables = [
        f'[[target]]\nprogram = "targets/{name}"\n[target.limits]\ntime = "1s"\nstartup = "10s"\n'
        for name in (*broken, *healthy)
    ]
    file = tmp_path / "campaign.toml"
    head = '[campaign]\ncores = 2\nepoch = "1s"\naccepted_risk = 1e-4\n'
    file.write_text(head + "".join(tables))
    end = fuzzwise("run", file, "--time", "500s", "--out", tmp_path / "out", "--quiet")
    assert end.returncode == 2, end.stderr
    state = read_state(tmp_path / "out")
    assert state.stopped is not None
    assert state.stopped.reason == "all-retired"
    told = {t.name: t for t in state.targets}
    assert {name for name, t in told.items() if t.state == "broken"} == set(broken)
    assert all(told[name].detail in end.stdout for name in broken)
    # Nobody had more than its limit, once, or three inputs that take too long.
    assert all(told[name].epochs <= 3 for name in broken)
    assert sum(told[name].inputs for name in broken) == 0
