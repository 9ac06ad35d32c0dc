"""Stock targets as a user has them: fuzzed by `fuzz` and `run`, killed, broken, oddly named."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import broken_targets
import stock_target
from campaign_files import Campaign, ended, harness
from commands import Started, fuzzwise
from fuzzwise.engines.leftovers import belonging
from fuzzwise.engines.registry import likely_engine
from fuzzwise.errors import BadInput
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.examine import Limits, absolute, examine
from observed_target import EXAMPLES, TARGETS, fuzz, fuzzed_until
from reading import read_state
from waiting import wait_until

KILLS = 8

# name of the target, words for `fuzz`, part of the sentence
BROKEN = [
    *(row for row in broken_targets.BROKEN if row[0] != "silent-at-start"),
    ("silent-at-start", (), "has closed its standard error"),
    ("good", ("--measure",), "--measure: "),
    ("good", ("--species", "path"), "LIB_FUZZING_ENGINE=$(fuzzwise engine)"),
    ("good", ("--jobs", "2"), "was not built with fuzzwise, and cannot do that"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with stock targets; each test has copies."""
    folder = tmp_path_factory.mktemp("stock")
    stock_target.build(folder, TARGETS / "does_not_run.c")
    stock_target.build(folder, EXAMPLES / "bad.c")
    stock_target.build(folder, EXAMPLES / "markup.c", "-fsanitize=fuzzer,address")
    stock_target.build(folder, EXAMPLES / "ini.c")
    return folder


@pytest.mark.parametrize(("name", "words", "sentence"), BROKEN, ids=lambda value: str(value)[:30])
def test_a_target_that_does_not_run_is_told(
    built: Path, tmp_path: Path, name: str, words: tuple[str, ...], sentence: str
):
    target = shutil.copy(built / "does_not_run", tmp_path / name)
    fuzzed = partial(fuzz, Path(target), tmp_path / "out", "--quiet")
    end = broken_targets.fuzzed_in_time(fuzzed, words or ("--time", "600s"), sentence)
    assert end.returncode == 2, end.stderr
    assert sentence in end.stderr
    assert "Traceback" not in end.stderr
    assert not belonging(tmp_path)


def test_a_planted_bug_is_found_placed_and_shown_by_the_printed_command(built, tmp_path):
    told = fuzzed_until(1, built / "markup", tmp_path / "out")
    assert told["inputs"] > 0
    assert told["species"] > 10
    assert told["risk"]["n"] == told["inputs"]
    assert told["bugs"]
    bug = read_state(tmp_path / "out").bugs[0]
    assert Path(bug.file).name == "markup.c"
    assert bug.line
    shown = subprocess.run(bug.command, shell=True, capture_output=True, text=True, check=False)
    assert shown.returncode != 0
    assert "AddressSanitizer" in shown.stderr or "libFuzzer" in shown.stderr
    grouped = fuzzwise("triage", tmp_path / "out", "--trust-command", "--json")
    assert grouped.returncode == 0, grouped.stderr
    assert {b["id"] for b in json.loads(grouped.stdout)["bugs"]} & {b["id"] for b in told["bugs"]}


CHECKED = "array-bounds,integer-divide-by-zero,shift,signed-integer-overflow"
AS_OSS_FUZZ_DOES = (
    f"-fsanitize=fuzzer,{CHECKED},unsigned-integer-overflow",
    f"-fno-sanitize-recover={CHECKED}",
)
"""--sanitizer undefined: unsigned arithmetic that wraps is seen by the fuzzer, and is no error."""


def test_unsigned_arithmetic_may_wrap_and_signed_may_not(tmp_path):
    target = stock_target.build(tmp_path, TARGETS / "wraps.c", *AS_OSS_FUZZ_DOES)
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed/harmless").write_bytes(b"!! an input that wraps")
    told = fuzzed_until(1, target, tmp_path / "out", tmp_path / "seed")
    assert told["inputs"] > 0
    assert [(bug["kind"], bug["frames"][0]) for bug in told["bugs"]] == [
        ("undefined-behavior: signed integer overflow", "overflow")
    ]
    assert examine(absolute((str(target), "@@")), b"it wraps", "input", Limits(60)).ending == "none"


def test_who_wants_to_know_of_unsigned_arithmetic_that_wraps_is_told(tmp_path, monkeypatch):
    target = stock_target.build(tmp_path, TARGETS / "wraps.c", *AS_OSS_FUZZ_DOES)
    monkeypatch.setenv("UBSAN_OPTIONS", "silence_unsigned_overflow=0")
    end = fuzz(target, tmp_path / "out", "--quiet", "--time", "30s")
    assert end.returncode == 2, end.stderr
    assert "unsigned integer overflow" in end.stderr


def test_the_same_command_goes_on_and_stops_by_itself(built, tmp_path):
    first = json.loads(fuzz(built / "ini", tmp_path / "out", "--inputs", "20k", "--json").stdout)
    assert first["stopped"]["reason"] == "input-budget"
    words = ("--accept-risk", "0.01", "--time", "600s", "--json")
    second = json.loads(fuzz(built / "ini", tmp_path / "out", *words).stdout)
    assert second["inputs"] > first["inputs"] >= 20_000
    assert second["stopped"]["reason"] == "accepted-risk"


def test_a_campaign_has_stock_targets_beside_observed_ones(built, tmp_path):
    campaign = Campaign(tmp_path, {"epoch": '"1s"'})
    campaign.libfuzzer("observed", harness("ini.c"))
    campaign.libfuzzer("plain", built / "ini")
    campaign.libfuzzer("buggy", built / "bad", "max_length = 8", 'options = ["-use_cmp=1"]')
    manager = campaign.start(600)
    wait_until(lambda: something_of_each(campaign.folder), "inputs and the bug", by=manager)
    manager.send_signal(signal.SIGINT)
    ended(manager).check(130)
    told = {target.name: target for target in campaign.state().targets}
    assert {name: target.engine for name, target in told.items()} == {
        "observed": "libfuzzer",
        "plain": "stock",
        "buggy": "stock",
    }
    assert [bug.target for bug in campaign.state().bugs] == ["buggy"]
    campaign.wait_for_no_process()


def something_of_each(folder: Path) -> bool:
    """Whether each target has inputs and species, and a bug was found."""
    try:
        state = read_state(folder)
    except BadInput:  # not there yet
        return False
    counted = [target.inputs > 1000 and target.species > 4 for target in state.targets]
    return len(counted) == 3 and all(counted) and bool(state.bugs)


def test_odd_names_wrappers_and_a_folder_that_may_only_be_read(built, tmp_path):
    home = tmp_path / "my tärgets @ home"
    home.mkdir()
    program = Path(shutil.copy(built / "ini", home / "ini ü@x"))
    script = home / "wräpped one"
    script.write_text(
        f'#!/bin/sh\n# LLVMFuzzerTestOneInput\n"$(dirname "$0")/{program.name}" "$@"\nexit $?\n'
    )
    script.chmod(0o755)
    home.chmod(0o555)
    try:
        for target in (program, script):
            end = fuzz(target, tmp_path / f"out {target.name}", "--inputs", "20k", "--json")
            assert end.returncode == 0, end.stderr
            told = json.loads(end.stdout)
            assert told["inputs"] >= 20_000
            said = [word for word in told["warnings"] if "limit on the length" not in word]
            assert not said  # none was killed, so all is counted
    finally:
        home.chmod(0o755)


def test_kill_minus_nine_at_any_time_loses_and_doubles_nothing(built, tmp_path):
    out, rng = tmp_path / "out", random.Random(7)
    inputs, crashes = [0], [0]
    for _ in range(KILLS):
        running = Started("fuzz", built / "markup", "--out", out, "--quiet")
        wait_until(lambda known=inputs[-1]: counted(out) > known, "inputs", by=running)
        time.sleep(rng.random() / 2)
        running.kill()
        running.wait()
        inputs.append(counted(out))
        crashes.append(sum(bug.count for bug in BugBook(out / "crashes").bugs.values()))
    assert inputs == sorted(inputs)
    assert crashes == sorted(crashes)
    wait_until(lambda: not belonging(out), "the end of what was left")
    end = fuzz(built / "markup", out, "--inputs", inputs[-1] + 20_000, "--json")
    told = json.loads(end.stdout)
    assert told["inputs"] >= inputs[-1] + 20_000
    assert not any("damaged" in warning for warning in told["warnings"])
    assert not list((out / "crashes").glob("crash-*"))  # all are in the folders of bugs


def counted(out: Path) -> int:
    try:
        return int(json.loads((out / "campaign.json").read_text())["inputs"])
    except (OSError, KeyError):
        return 0


def test_ctrl_c_keeps_everything_and_leaves_nothing(built, tmp_path):
    words = [sys.executable, "-m", "fuzzwise", "fuzz", str(built / "ini"), "--quiet"]
    running = subprocess.Popen(
        [*words, "--out", str(tmp_path / "out")], stdout=subprocess.PIPE, text=True
    )
    wait_until(lambda: counted(tmp_path / "out") > 0, "inputs")
    running.send_signal(signal.SIGINT)
    said, _ = running.communicate(timeout=600)
    assert running.returncode == 130
    assert "Interrupted by the user; all counts are kept." in said
    assert not belonging(tmp_path)


def test_programs_are_recognised_by_what_is_in_them(built, tmp_path):
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-o", stripped, built / "ini"], check=True)
    script = stock_target.wrapper(Path(shutil.copy(built / "ini", tmp_path)), "script")
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho hello\n")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    expected = {
        built / "ini": "stock",
        stripped: "stock",
        script: "stock",
        harness("ini.c"): "libfuzzer",
        other: "libfuzzer",  # the usual one, which then asks it
        pipe: "libfuzzer",
        tmp_path: "libfuzzer",
    }
    assert {program: likely_engine(program) for program in expected} == expected
    assert likely_engine(built / "ini", in_command=True) == "black-box"


def test_doctor_tells_which_engine_a_program_is_for(built, tmp_path):
    script = stock_target.wrapper(Path(shutil.copy(built / "ini", tmp_path)), "script")
    script.write_text(script.read_text().replace("LLVMFuzzerTestOneInput", ""))  # is asked
    asked = (built / "ini", script, "/bin/sh", tmp_path / "missing")
    end = fuzzwise("doctor", "--json", *asked)
    assert end.returncode == 2
    told = json.loads(end.stdout)["programs"]
    assert [each["engine"] for each in told] == ["stock", "libfuzzer", None, None]
    assert "nothing in it is of a fuzzer" in told[2]["problem"]
    assert "there is no such file" in told[3]["problem"]
