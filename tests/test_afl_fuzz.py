"""``fuzzwise fuzz`` on targets of AFL++, as a command."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from afl_target import EXAMPLES, fuzzers_of, inputs_of, need_afl
from commands import fuzzwise
from fuzzwise.engines.aflplusplus.library import observer
from fuzzwise.engines.aflplusplus.process import bad_seeds, complaint
from fuzzwise.engines.aflplusplus.program import (
    find_afl_fuzz,
    is_afl_target,
    map_size,
    reproducing,
)
from fuzzwise.engines.registry import likely_engine
from fuzzwise.errors import BadInput
from fuzzwise.estimators.recent_rate import RecentRate
from fuzzwise.model import Observation
from observations import ints
from observed_target import fuzz


def test_one_command_fuzzes_and_tells_the_risk(tmp_path, markup):
    out = tmp_path / "out"
    told = {"inputs": 0, "discoveries": 0}
    while told["inputs"] <= 500 or told["discoveries"] <= 5:
        done = fuzz(markup, out, "--time", "2s", "--json")
        told = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert 0 < told["risk"]["value"] < 1
    assert told["stopped"]["reason"] == "time-budget"
    assert told["bugs"] == []
    assert not fuzzers_of(out)
    again = fuzz(markup, out, "--inputs", told["inputs"] + 1000)
    assert again.returncode == 0, again.stderr
    assert f"Stopped after {told['inputs'] + 1000:,} inputs" in again.stdout
    assert "Going on with the campaign" in again.stderr


ENOUGH = 300
"""Inputs after which anything can be said of a small target, with its fuzzer long ready."""


def fuzz_while_afl_says(stats_text, parser, tmp_path, *options):
    """Fuzz, with fuzzer_stats that say what 4.04c says after a minute only.

    From the beginning where afl-fuzz was hardly ready before the time was over, or has not said so
    by then: all that it prefers waits.
    """
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "seed").write_bytes(b"hello")
    log = tmp_path / "out/state/observations.jsonl"
    while True:
        code, told = fuzz_once_while_afl_says(stats_text, parser, tmp_path, *options)
        is_ready = told["inputs"] >= ENOUGH and lines_of(log)[-1]["waiting"] < 1
        if is_ready or told["stopped"]["reason"] != "time-budget":
            return code, told
        shutil.rmtree(tmp_path / "out")


def fuzz_once_while_afl_says(stats_text, parser, tmp_path, *options):
    stats = tmp_path / "out/afl/default/fuzzer_stats"
    words = [sys.executable, "-m", "fuzzwise", "fuzz", parser, tmp_path / "corpus", "--out",
             tmp_path / "out", "--json", *options]  # fmt: skip
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None:
            if stats.exists():
                stats.write_text(stats_text)
            time.sleep(0.05)
        out, _ = process.communicate()
    return process.returncode, json.loads(out)


def test_it_does_not_stop_before_afl_has_tried_some_of_what_it_favors(tmp_path, parser):
    few_tried = "corpus_favored : 40\npending_favs : 3\ncorpus_count : 50\npending_total : 41\n"
    code, told = fuzz_while_afl_says(few_tried, parser, tmp_path, "--arguments", "@@",
                                     "--accept-risk", "0.9", "--time", "4s")  # fmt: skip
    assert (code, told["stopped"]["reason"]) == (11, "time-budget")
    assert told["risk"]["high"] < 0.9
    (warning,) = told["warnings"]
    assert "8% of the seeds that the fuzzer prefers had not been mutated" in warning
    assert "it has tried 9: with fewer than 10" in warning
    words = (tmp_path / "out/afl/default/fuzzer_setup").read_text()
    assert ".cur_input" in words or "@@" in words


def test_it_stops_at_the_accepted_risk(tmp_path, parser):
    few_wait = "corpus_favored    : 40\npending_favs      : 2\n"
    code, told = fuzz_while_afl_says(few_wait, parser, tmp_path,
                                     "--accept-risk", "0.2", "--time", "60s")  # fmt: skip
    assert (code, told["stopped"]["reason"]) == (0, "accepted-risk")
    assert told["risk"]["high"] < 0.2


def lines_of(log: Path) -> list[dict]:
    """The observations in a log."""
    return [json.loads(line) for line in log.read_text().splitlines()[1:]]


def risk_of(log: Path) -> dict:
    """What ``fuzzwise estimate`` says."""
    done = fuzzwise("estimate", log, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["campaigns"][0]["risk"]


def test_the_log_tells_what_waits_so_that_estimate_raises_the_risk(tmp_path, parser):
    some_wait = "corpus_favored : 40\npending_favs : 14\ncorpus_count : 90\npending_total : 67\n"
    code, _ = fuzz_while_afl_says(some_wait, parser, tmp_path, "--time", "4s")
    assert code == 0
    log = tmp_path / "out/state/observations.jsonl"
    lines = lines_of(log)
    assert {line["waiting"] for line in lines} <= {1, 14 / 40}  # all, at first
    assert (lines[-1]["waiting"], lines[-1]["tried"]) == (14 / 40, 23)
    found = [number for line in lines for number in line["discoveries"]]
    by_hand = Observation(lines[-1]["n"], discoveries=ints(found), waiting=14 / 40, tried=23)
    expected = RecentRate()(by_hand)
    assert "times: 35% of the preferred seeds wait" in expected.note
    told = risk_of(log)
    assert told == {name: getattr(expected, name) for name in told}


def test_the_log_has_what_afl_itself_says_waits_also_in_a_folder_of_before(tmp_path, markup):
    out = tmp_path / "out"
    while inputs_of(out) < ENOUGH:
        fuzz(markup, out, "--time", "3s")
    log, clock = out / "state/observations.jsonl", out / "state/clock"
    lines = lines_of(log)
    assert all(0 <= line["waiting"] <= 1 for line in lines)
    assert lines[-1]["tried"] >= 0
    if lines[-1]["waiting"]:
        assert "raised" in risk_of(log)["note"]
    os.truncate(clock, 16)  # as an older fuzzwise has left it
    done = fuzz(markup, out, "--inputs", 2 * lines[-1]["n"] + 1)
    assert done.returncode == 0, done.stderr
    assert clock.stat().st_size == 32
    assert inputs_of(out) > lines[-1]["n"]
    assert lines_of(log)[: len(lines)] == lines
    assert all("tried" in line for line in lines_of(log)[len(lines) :])
    assert len(lines_of(log)) > len(lines)


def test_bugs_are_told_and_fail_the_command(tmp_path, parser):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "seed").write_bytes(b"aB")
    done = fuzz(parser, tmp_path / "out", tmp_path / "corpus", "--inputs", "5k", "--fail-on-bug",
                "--json", "--afl", "-p explore")  # fmt: skip
    assert done.returncode == 10, done.stderr
    told = json.loads(done.stdout)
    bug = next(bug for bug in told["bugs"] if "first_bug" in bug["frames"])
    data = Path(bug["inputs"][0]).read_bytes()
    shown = subprocess.run([parser], input=data, capture_output=True, check=False)
    assert shown.returncode == -6


def test_a_program_that_is_not_instrumented_is_refused_in_a_sentence(tmp_path):
    need_afl()
    done = fuzz(Path("/bin/true"), tmp_path / "out", "--engine", "afl++", "--time", "2s")
    assert done.returncode == 2
    assert "was not built by a compiler of AFL++" in done.stderr
    assert "afl-clang-fast" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--measure",), "--measure hides coverage"),
        (("--jobs", "2"), "one afl-fuzz a campaign"),
        (("--schedule", "later"), "AFL++ chooses its seeds itself"),
        (("--species", "path"), "AFL++ knows no paths"),
        (("--libfuzzer", "-timeout=1"), "give its options with --afl"),
        (("--arguments", "'"), "cannot be split"),
        (("nowhere",), "there is no such corpus"),
        (("--afl", "-p nonsense"), "Unknown -p power schedule"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path, markup, words, said):
    done = fuzz(markup, tmp_path / "out", "--time", "2s", "--quiet", *words)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_harness_of_libfuzzer_takes_no_arguments(tmp_path):
    done = fuzz(Path("/bin/true"), tmp_path / "out", "--arguments", "@@", "--engine", "libfuzzer")
    assert done.returncode == 2
    assert "--arguments: a harness of libFuzzer has no such thing" in done.stderr


def test_a_missing_or_an_old_afl_fuzz_is_told_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match=r"not found.*apt-get install"):
        find_afl_fuzz(tmp_path)
    old = tmp_path / "afl-fuzz"
    for said, problem in (
        ("afl-fuzz 2.57b by <lcamtuf@google.com>", "version 2.57b, which is too old"),
        ("afl-fuzz++2.68c based on afl", "version 2.68c, which is too old"),
        ("hello", "does not tell its version"),
    ):
        old.write_text(f"#!/bin/sh\necho '{said}'\nexit 1\n")
        old.chmod(0o755)
        with pytest.raises(BadInput, match=problem):
            find_afl_fuzz(tmp_path)
    old.write_text("#!/bin/sh\nprintf '\\033[0;36mafl-fuzz++4.21c\\033[0m based on afl\\n'\n")
    assert find_afl_fuzz(tmp_path).version == (4, 21)


def test_targets_are_recognised(tmp_path, markup, parser):
    assert is_afl_target(markup)
    assert is_afl_target(parser)
    assert not is_afl_target(Path("/bin/true"))
    assert not is_afl_target(tmp_path / "missing")
    assert likely_engine(markup) == "afl++"
    observed = tmp_path / "observed"
    observed.write_bytes(markup.read_bytes() + b"FUZZWISE_STATE")
    assert likely_engine(observed) == "libfuzzer"
    assert reproducing((str(markup),)) == (str(markup), "@@")
    assert reproducing((str(parser),)) == (str(parser),)
    assert reproducing((str(parser), "-v", "@@")) == (str(parser), "-v", "@@")


def test_the_size_of_the_map_is_asked_for(tmp_path, markup):
    said = subprocess.run(
        [markup], env={**os.environ, "AFL_DUMP_MAP_SIZE": "1"}, capture_output=True, check=False
    ).stdout
    assert map_size(markup, tmp_path) == int(said) < 65536
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\necho 12 monkeys\necho 99999999999\n")
    silent.chmod(0o755)
    assert map_size(silent, tmp_path) == 65536
    # What was taken for its answer stays, also if it answers by now: its counts have that size.
    assert map_size(markup, tmp_path, known=65536) == 65536


def test_words_of_afl_fuzz_are_understood():
    output = (
        "[-] PROGRAM ABORT : No instrumentation detected\n         Location : main()\n"
        "[-]  SYSTEM ERROR : Unable to open 'x'\n    Stop location : f()\n"
        "       OS message : No such file\n"
    )
    assert complaint(output) == "Unable to open 'x' (No such file)"
    assert complaint("all is well") == ""
    said = (
        "[*] Attempting dry run with 'id:000000,orig:a'...\n"
        "[!] WARNING: Test case 'id:000000,orig:a' results in a crash, skipping\n"
        "[*] Attempting dry run with 'id:000001,orig:b'...\n"
        "[!] WARNING: Test case results in a timeout (skipping)\n"
        "[*] Attempting dry run with 'id:000002,orig:c'...\n"
        "    len = 4, map size = 3, exec speed = 999 us\n"
    )
    assert bad_seeds(said) == {"id:000000,orig:a": "crash", "id:000001,orig:b": "timeout"}


def test_the_library_counts_also_without_a_supervisor(tmp_path, markup):
    """A user who starts afl-fuzz has the counts with two variables."""
    state = tmp_path / "state"
    state.mkdir()
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "seed").write_text("hello")
    environment = {
        **os.environ,
        "AFL_CUSTOM_MUTATOR_LIBRARY": str(observer()),
        "FUZZWISE_STATE": str(state),
        **dict.fromkeys(("AFL_NO_UI", "AFL_SKIP_CPUFREQ", "AFL_NO_AFFINITY"), "1"),
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    }
    words = ["-i", str(tmp_path / "seeds"), "-o", str(tmp_path / "out"), "-E", "1000"]
    done = subprocess.run(
        [shutil.which("afl-fuzz") or "", *words, "--", markup],
        env=environment, capture_output=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    lines = (state / "observations.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["n"] >= 100


def test_what_the_page_shows_works(tmp_path):
    need_afl()
    page = (EXAMPLES.parent / "docs" / "afl.md").read_text()
    lines = re.findall(r"```sh\n(.*?)```", page, flags=re.DOTALL)[0].splitlines()
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    for line in lines:
        words = shlex.split(line)
        if words[0] == "fuzzwise":
            words[:1] = [sys.executable, "-m", "fuzzwise"]
        done = subprocess.run(
            words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, (line, done.stderr)
    assert "risk" in done.stdout
