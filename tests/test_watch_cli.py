"""``fuzzwise watch`` as a user runs it: real processes, and files that real fuzzers write."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.cells import cell_len

from commands import fuzzwise
from fuzzer_files import stats_text
from fuzzwise.cli import main
from fuzzwise.errors import BadInput, NotEstimable
from fuzzwise.stopping import AcceptedRisk
from fuzzwise.watch import recognise
from fuzzwise.watch.source import Source
from waiting import PATIENCE, wait_until

TARGET = """
#include <stddef.h>
#include <stdint.h>
volatile int sink;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (size_t i = 0; i + 1 < size && i < 40; i++)
        switch (data[i] ^ data[i + 1]) {
        case 1: sink++; break;
        case 2: sink += 2; break;
        case 40: if (i > 8 && data[i] == 'x') sink--; break;
        case 77: if (i > 3) sink = 7; break;
        default: if (data[i] == 'a' + i) sink *= 3;
        }
    return 0;
}
"""
"""It has something to find for a while, and does not crash."""
AFL = {
    "AFL_SKIP_CPUFREQ": "1",
    "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
    "AFL_NO_UI": "1",
    "AFL_NO_AFFINITY": "1",
}
KEYS = {
    "path", "name", "fuzzer", "version", "processes", "inputs", "seconds", "inputs_per_second",
    "species", "discoveries", "corpus", "risk", "estimates", "not_estimable", "inputs_left",
    "seconds_left", "bugs", "crashes", "hangs", "stopped", "decision", "power_law", "notes",
    "warnings", "exact",
}  # fmt: skip


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "fuzzwise", "watch", *map(str, words)]


def watched(*words: object) -> subprocess.CompletedProcess[str]:
    return fuzzwise("watch", *words)


@pytest.fixture
def watch(capsys: pytest.CaptureFixture[str]) -> Callable[..., SimpleNamespace]:
    """The same without a process of its own, which takes a second to start."""

    def run(*words: object) -> SimpleNamespace:
        code = main(["watch", *map(str, words)])
        said = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=said.out, stderr=said.err)

    return run


def log(path: Path, discoveries: Sequence[int], end: int) -> Path:
    """A log as libFuzzer writes it, of a campaign from an empty corpus."""
    lines = [
        "INFO: Running with entropic power schedule (0xFF, 100).",
        "INFO: Seed: 1",
        "INFO: A corpus is not provided, starting from an empty corpus",
        "#2\tINITED cov: 3 ft: 3 corp: 1/1b exec/s: 0 rss: 30Mb",
    ]
    for i, n in enumerate(discoveries):
        lines.append(
            f"#{n + 2}\tNEW    cov: {4 + i} ft: {4 + i} corp: {2 + i}/9b lim: 4 exec/s: 5000 "
            "rss: 30Mb L: 4/4 MS: 1 ChangeByte-"
        )
    last = 3 + len(discoveries)
    lines.append(
        f"#{end + 2}\tDONE   cov: {last} ft: {last} corp: {last - 2}/9b lim: 99 exec/s: 5000 "
        "rss: 31Mb"
    )
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def quiet(tmp_path: Path) -> Path:
    return log(tmp_path / "quiet.log", [1, 5, 30], 200_000)


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    return log(tmp_path / "busy.log", [i * i for i in range(1, 448)], 200_000)


def test_one_look_says_the_conclusion_first(watch, quiet):
    result = watch(quiet, "--accept-risk", "1e-3")
    assert result.returncode == 0, result.stderr
    first, second, third = result.stdout.splitlines()[:3]
    assert "quiet.log" in first
    assert second.startswith("Stop: The probability that the next input shows anything new is at")
    assert third.startswith("The next input shows something new with probability")
    for words in ("200,000", "3 discoveries", "Discoveries grow as n^0.", "recent-rate (default)",
                  "mean-local-laplace", "needs counts for each seed", "libFuzzer"):  # fmt: skip
        assert words in result.stdout
    assert "\x1b" not in result.stdout


def test_above_the_accepted_risk_it_says_go_on_what_is_left_and_exits_with_11(watch, busy):
    result = watch(busy, "--accept-risk", "1e-3")
    assert result.returncode == 11, result.stderr
    assert result.stdout.splitlines()[1].startswith("Go on: At its latest look, after ")
    assert "Left to an accepted risk of 0.001: about " in result.stdout
    assert "The rule looks again after " in result.stdout


def test_a_campaign_that_does_not_slow_down_has_no_time_left(watch, tmp_path):
    steady = log(
        tmp_path / "steady.log", [*range(1000, 2000, 100), *range(50_000, 90_000, 9)], 90_000
    )
    result = watch(steady, "--accept-risk", "1e-3")
    assert result.returncode == 11
    assert "at the present speed not in sight." in result.stdout
    assert "they do not slow down yet" in result.stdout


def test_without_an_accepted_risk_it_exits_with_0(watch, busy):
    result = watch(busy)
    assert result.returncode == 0
    assert "Go on" not in result.stdout
    assert "Stop" not in result.stdout


def test_every_campaign_has_to_be_below(watch, quiet, busy):
    both = watch(quiet, busy, "--accept-risk", "1e-3")
    assert both.returncode == 11
    assert both.stdout.startswith("1 of 2 campaigns is below the accepted risk 0.001.")
    assert watch(quiet, quiet, "--accept-risk", "1e-3").returncode == 0


def test_json_has_the_keys_that_programs_rely_on(watch, quiet, busy):
    one = json.loads(watch(quiet, "--accept-risk", "1e-3", "--json").stdout)
    assert set(one) >= KEYS
    assert one["fuzzer"] == "libFuzzer"
    assert one["discoveries"] == 3
    assert one["inputs"] == 200_000
    assert one["stopped"]["reason"] == "accepted-risk"
    assert one["risk"]["low"] <= one["risk"]["value"] <= one["risk"]["high"]
    assert 0 < one["power_law"]["low"] < one["power_law"]["exponent"] < one["power_law"]["high"] < 1
    two = json.loads(watch(quiet, busy, "--json").stdout)
    assert [set(c) >= KEYS for c in two["campaigns"]] == [True, True]
    assert two["campaigns"][1]["stopped"] is None


def test_a_script_may_ask_as_often_as_it_likes(watch, tmp_path):
    """The answer changes only at the next look of the rule, or what was found refutes it."""
    rule = AcceptedRisk(4e-4)
    look = rule.look(52_000)
    answers = []
    for end in (rule.inputs_at(look), 52_000, rule.inputs_at(look + 1) - 1):
        path = log(tmp_path / "fuzz.log", range(1, 600, 20), end)
        answers.append(json.loads(watch(path, "--accept-risk", "4e-4", "--json").stdout)["stopped"])
    assert answers[0] is not None
    assert answers[0] == answers[1] == answers[2]


def test_a_target_that_never_shows_anything_is_warned_of(watch, tmp_path):
    result = watch(log(tmp_path / "deaf.log", [], 50_000))
    assert "WARNING: 50,000 inputs and not one discovery: does the target read its" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing"], "missing"),
        (["quiet.log", "--then-stop"], "--accept-risk"),
        (["quiet.log", "--time", "5s"], "add --follow"),
        (["quiet.log", "--accept-risk", "2"], "--accept-risk"),
        (["quiet.log", "--follow", "--every", "soon"], "is not a duration"),
        ([], "PATH"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(watch, quiet, words, said, monkeypatch):
    monkeypatch.chdir(quiet.parent)
    result = watch(*words)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_names_of_files_do_nothing_to_the_terminal(watch, tmp_path):
    name = "\x1b]0;owned\x07\x1b[2Jfuzz\u202e\udcff.log"
    path = log(tmp_path / name, [1, 5], 2000)
    missing = tmp_path / f"{name}-missing"
    for words in ([path], [path, "--json"], [path, path, "--accept-risk", "0.5"], [missing],
                  [path, "--follow", "--time", "1ms"]):  # fmt: skip
        result = watch(*words)
        assert "Traceback" not in result.stderr
        for text in (result.stdout, result.stderr):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
        assert result.returncode == (2 if missing in words else 0)


@pytest.mark.parametrize("kind", [BadInput, NotEstimable])
def test_an_error_with_a_name_in_it_does_nothing_to_the_terminal(watch, monkeypatch, kind):
    def refuse(paths: Sequence[Path]) -> list[Source]:
        raise kind(f"\x1b[2J{paths[0]}\x07: is nothing that can be read.")

    monkeypatch.setattr(recognise, "open_sources", refuse)
    result = watch("out")
    assert result.returncode == 2
    assert result.stderr == "fuzzwise watch: out: is nothing that can be read.\n"
    monkeypatch.setattr(recognise, "open_sources", lambda _: [])
    assert "no campaign in these files" in watch("out").stderr


# --- following ---------------------------------------------------------------------------------


def test_following_a_file_that_nobody_writes_warns_and_gives_up_in_time(watch, busy):
    result = watch(busy, "--follow", "--accept-risk", "1e-3", "--time", "1s", "--every", "100ms")
    assert result.returncode == 11
    assert "WARNING  " in result.stderr
    assert "No process" in result.stderr
    assert result.stderr.count("busy.log") == 2  # the warning and one line
    assert "The time to watch is over. The campaign is not below" in result.stdout


def test_following_waits_for_the_first_lines_of_the_fuzzer(tmp_path):
    path = tmp_path / "fuzz.log"
    process = subprocess.Popen(
        command(path, "--follow", "--accept-risk", "1e-3"), stdout=subprocess.PIPE, text=True
    )
    try:
        time.sleep(1)
        path.write_text("INFO: Seed: 1\n")
        time.sleep(0.5)
        log(path, [1, 5, 30], 200_000)
        assert "Stop: " in process.communicate(timeout=600)[0]
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def test_following_ends_at_once_where_the_risk_is_reached(watch, quiet):
    result = watch(quiet, "--follow", "--accept-risk", "1e-3")
    assert result.returncode == 0
    assert "Watched for 0s: The probability that the next input" in result.stdout


def test_followed_json_is_a_document_a_line_and_the_last_has_the_reason(busy):
    process = subprocess.Popen(
        command(busy, "--follow", "--accept-risk", "1e-3", "--every", "50ms", "--json"),
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert first["stopped"] is None
        assert first["decision"]["stop"] is False
        log(busy, [1, 5, 30], 400_000)
        *_, last = map(json.loads, process.stdout.read().splitlines())
        assert last["stopped"]["reason"] == "accepted-risk"
        assert last["inputs"] == 400_000
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_still_reports(busy, number):
    process = subprocess.Popen(
        command(busy, "--follow", "--accept-risk", "1e-3"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        assert "WARNING" in process.stderr.readline()
        process.send_signal(number)
        said, errors = process.communicate(timeout=600)
        assert process.returncode == 130
        assert "The watching was interrupted; the fuzzer goes on." in said
        assert "Go on: " in said
        assert "Traceback" not in errors
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("columns", [80, 120])
def test_the_view_on_a_terminal_fits_and_is_taken_away(busy, columns):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    unset = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    process = subprocess.Popen(
        command(busy, "--follow", "--accept-risk", "1e-3", "--every", "100ms", "--time", "1s"),
        stdout=subprocess.PIPE, stderr=slave, env={**environment, "TERM": "xterm"}, text=True,
    )  # fmt: skip
    os.close(slave)
    data = b""
    try:
        end = time.monotonic() + 600
        while process.poll() is None or select.select([master], [], [], 0.2)[0]:
            assert time.monotonic() < end
            if select.select([master], [], [], 0.2)[0]:
                try:
                    data += os.read(master, 65536)
                except OSError:  # the other side is closed
                    break
        said, _ = process.communicate(timeout=600)
    finally:
        process.kill()
        process.communicate()
        os.close(master)
    text = data.decode()
    plain = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)
    lines = re.split(r"[\r\n]+", plain)
    assert any("Go on: At its latest look" in line for line in lines)
    assert any("accepted risk 0.001" in line for line in lines)
    assert any("WARNING" in line for line in lines)
    assert max(map(cell_len, lines)) <= columns
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1
    assert "Go on: " in said


# --- real fuzzers ------------------------------------------------------------------------------


def built(folder: Path, compiler: str) -> Path:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    target, source = folder / "target", folder / "target.c"
    source.write_text(TARGET)
    subprocess.run(
        [compiler, "-g", "-O1", "-fsanitize=fuzzer", str(source), "-o", str(target)],
        check=True, capture_output=True,
    )  # fmt: skip
    return target


@contextmanager
def running(words: Sequence[object], log: Path, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*map(str, words)], stdout=file, stderr=file, stdin=subprocess.DEVNULL, cwd=cwd,
            env={**os.environ, **AFL}, start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def saying(stats: Path, pid: int) -> Iterator[None]:
    """AFL++'s statistics as 4.04c writes them after a minute only."""
    over = threading.Event()

    def write() -> None:
        while not over.wait(0.1):
            if stats.exists():
                stats.write_text(stats_text(fuzzer_pid=pid, corpus_favored=9, pending_favs=0))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


def test_afl_is_followed_and_stopped_when_the_risk_is_reached(tmp_path):
    target = built(tmp_path, "afl-clang-fast")
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    (seeds / "one").write_bytes(b"1+1")
    words = ["afl-fuzz", "-i", seeds, "-o", tmp_path / "out", "--", target]
    with running(words, tmp_path / "afl.log", tmp_path) as fuzzer:
        queue = tmp_path / "out" / "default" / "queue"
        wait_until(lambda: list(queue.glob("id:000001*")), "a discovery")
        with saying(tmp_path / "out" / "default" / "fuzzer_stats", fuzzer.pid):
            result = watched(
                tmp_path / "out", "--accept-risk", "0.2", "--then-stop", "--every", "200ms",
                "--json", "--time", "600s",
            )  # fmt: skip
        assert result.returncode == 0, result.stdout + result.stderr
        last = json.loads(result.stdout.splitlines()[-1])
        assert last["stopped"]["reason"] == "accepted-risk"
        assert last["fuzzer"] == "AFL++"
        assert last["processes"] == [fuzzer.pid]
        assert f"Sent SIGINT to process {fuzzer.pid}; it has ended." in last["then_stop"][0]
        assert fuzzer.wait(PATIENCE) == 0
    after = watched(tmp_path / "out", "--accept-risk", "1e-9")
    assert after.returncode == 11
    assert "no process that writes it was found" in after.stdout
    assert re.search(r"AFL\+\+ \d", after.stdout)


@pytest.mark.parametrize("options", [[], ["-fork=1"]])
def test_libfuzzer_is_followed_in_its_log_and_stopped(tmp_path, options):
    target = built(tmp_path, "clang")
    log = tmp_path / "fuzz.log"
    with running([target, *options], log, tmp_path) as fuzzer:
        result = watched(
            log, "--accept-risk", "0.2", "--then-stop", "--every", "200ms", "--time", "600s"
        )
        assert result.returncode == 0, result.stdout + result.stderr
        assert "Stop: The probability that the next input" in result.stdout
        assert f"Sent SIGINT to process {fuzzer.pid}; it has ended." in result.stdout
        assert fuzzer.wait(PATIENCE) == 72
