"""`fuzzwise fuzz` as its users run it, on real targets, with what can go wrong."""

from __future__ import annotations

import json
import os
import pty
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from commands import Started, fuzzwise
from fuzzwise.engines.observer.state import State
from fuzzwise.snapshot import read
from fuzzwise.validation import problems
from observed_target import EXAMPLES, TARGETS, build, fuzz
from waiting import PATIENCE, wait_until

KILLS = int(os.environ.get("FUZZWISE_KILLS", "40"))


@pytest.fixture(scope="module")
def bad(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("bad"), EXAMPLES / "bad.c")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("hostile"), TARGETS / "hostile.c")


@pytest.fixture(scope="module")
def recounted(tmp_path_factory) -> Path:
    return build(tmp_path_factory.mktemp("recounted"), TARGETS / "recounted.c")


def test_finds_the_bug_of_the_paper_and_goes_on(bad, tmp_path):
    result = fuzz(bad, tmp_path / "out", "--inputs", "200k", "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    (bug,) = document["bugs"]
    assert bug["kind"] == "abort"
    assert bug["count"] > 1
    assert bug["frames"][0] == "LLVMFuzzerTestOneInput"
    for path in bug["inputs"]:
        assert Path(path).read_bytes().startswith(b"bad!")
    assert document["inputs"] == 200_000
    assert document["stopped"]["reason"] == "input-budget"
    assert {"risk", "estimates", "inputs_left", "seconds_left", "species", "corpus"} <= set(
        document
    )


def test_stops_by_itself_at_the_accepted_risk(bad, tmp_path):
    result = fuzz(bad, tmp_path / "out", "--accept-risk", "1e-3", "--time", "500s", "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["stopped"]["reason"] == "accepted-risk"
    assert "95% confidence" in document["stopped"]["detail"]
    assert document["risk"]["high"] < 2e-3


def test_exit_codes_say_how_it_ended(bad, tmp_path):
    above = fuzz(bad, tmp_path / "a", "--accept-risk", "1e-9", "--inputs", 500)
    assert above.returncode == 11
    found = fuzz(bad, tmp_path / "b", "--inputs", "100k", "--fail-on-bug")
    assert found.returncode == 10
    assert "abort in LLVMFuzzerTestOneInput" in found.stdout


def test_plain_lines_without_a_terminal_and_one_sentence_at_the_end(bad, tmp_path):
    result = fuzz(bad, tmp_path / "out", "--inputs", "5k")
    assert "\x1b" not in result.stdout + result.stderr
    assert "risk: " in result.stderr
    assert "Stopped after 5,000 inputs: The budget of 5,000 inputs is used." in result.stdout


def test_a_terminal_shows_the_risk_and_is_given_back(bad, tmp_path):
    """On a pseudo-terminal: a live table, Ctrl-C, the report, the cursor back."""
    words = ["fuzz", str(bad), "--out", str(tmp_path / "out"), "--accept-risk", "1e-9"]
    terminal, end = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "fuzzwise", *words],
        stdin=end, stdout=end, stderr=end, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(end)
    shown = b""
    drawn_at: float | None = None
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 1 << 16)
            except OSError:  # the other end is closed
                break
        if drawn_at is None and b"95% interval" in shown:
            drawn_at = time.monotonic()
        if drawn_at and time.monotonic() > drawn_at + 1.5:
            run.send_signal(signal.SIGINT)
            drawn_at = deadline
    os.close(terminal)
    text = shown.decode(errors="replace")
    assert run.wait(timeout=PATIENCE) == 130
    for word in ("risk", "95% interval", "species", "corpus", "left"):
        assert word in text
    assert "the same command goes on from there" in " ".join(text.split())
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")  # the cursor is shown again


def test_the_same_command_resumes_all_counts(bad, tmp_path):
    out = tmp_path / "out"
    first = json.loads(fuzz(bad, out, "--inputs", 1000, "--json").stdout)
    again = fuzz(bad, out, "--inputs", 3000)
    assert f"Going on with the campaign in {out}" in again.stderr
    document = json.loads(fuzz(bad, out, "--inputs", 3000, "--json").stdout)
    assert document["inputs"] == 3000
    assert document["species"] >= first["species"]
    assert document["discoveries"] >= first["discoveries"]


def test_the_log_is_a_snapshot_that_estimate_reads(bad, tmp_path):
    fuzz(bad, tmp_path / "out", "--inputs", 6400, "--measure")
    log = tmp_path / "out" / "state" / "observations.jsonl"
    (campaign,) = read(log).campaigns
    assert [o.n for o in campaign.observations] == [100 * 2**j for j in range(7)]
    assert all(o.truth.inputs == o.n for o in campaign.observations)
    assert all((o.waiting, o.tried) == (None, None) for o in campaign.observations)
    result = fuzzwise("estimate", log)
    assert result.returncode == 0, result.stderr
    assert "mean-local-good-turing" in result.stdout


def test_several_jobs_share_one_campaign(bad, tmp_path):
    result = fuzz(bad, tmp_path / "out", "--inputs", "60k", "--jobs", 2, "--json")
    assert result.returncode == 0, result.stderr
    state = State(tmp_path / "out" / "state")
    assert 60_000 <= state.head.inputs <= 60_010
    assert int(state.seeds()["inputs"].sum()) == state.head.inputs
    assert list(problems(state.observation(1.0))) == []


def test_observing_leaves_the_schedule_to_libfuzzer(recounted, tmp_path):
    result = fuzz(
        recounted, tmp_path / "out", "--inputs", 3200, "--schedule", "observe", "--per-seed",
        "--json", RECOUNT_LOG=str(tmp_path / "log"),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    (campaign,) = read(tmp_path / "out" / "state" / "observations.jsonl").campaigns
    last = campaign.observations[-1]
    assert last.n == 3200
    assert last.seeds.n.sum() == last.n
    assert (last.seeds.n > 0).sum() > 5  # inputs are attributed to many seeds


def test_a_corpus_of_another_fuzzer_with_a_crash_in_it(bad, tmp_path):
    """AFL++'s names have commas; one of the files crashes the target before any input is made."""
    corpus = tmp_path / "queue"
    corpus.mkdir()
    (corpus / "id:000000,time:0,execs:0,orig:a").write_bytes(b"b...")
    (corpus / "id:000001,src:000000,op:havoc").write_bytes(b"bad!")
    (corpus / "id:000002,src:000000,op:havoc,+cov").write_bytes(b"bad?")
    result = fuzz(bad, tmp_path / "out", corpus, "--inputs", 200, "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["inputs"] == 200
    assert document["bugs"][0]["kind"] == "abort"
    kept = [path.read_bytes() for path in (tmp_path / "out" / "corpus").iterdir()]
    assert b"bad?" in kept
    assert b"bad!" not in kept


def test_paths_as_species(bad, tmp_path):
    result = fuzz(bad, tmp_path / "out", "--inputs", 2000, "--species", "path", "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert 2 <= document["species"] <= 8  # one path for each depth, and one for the empty input


# ── what users get wrong ──────────────────────────────────────────────────────────────────────


def test_a_program_of_no_fuzzer_is_named(tmp_path):
    plain = tmp_path / "plain"
    shutil.copy("/bin/true", plain)
    result = fuzz(plain, tmp_path / "out", "--time", "20s")
    assert result.returncode == 2
    assert "nothing in it is of a fuzzer" in result.stderr
    assert "fuzzwise build" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("absent",), "there is no such file"),
        ((str(EXAMPLES / "bad.c"),), "is not executable"),
    ],
)
def test_targets_that_are_none(tmp_path, words, message):
    result = fuzz(Path(words[0]), tmp_path / "out")
    assert result.returncode == 2
    assert message in result.stderr


def test_bad_options_get_a_sentence(bad, tmp_path):
    for words, message in (
        (("--time", "soon"), "is not a duration"),
        (("--inputs", "many"), "is not a number"),
        ((str(tmp_path / "nowhere"),), "no such corpus folder"),
    ):
        result = fuzz(bad, tmp_path / "out", *words)
        assert result.returncode == 2
        assert message in result.stderr
        assert "Traceback" not in result.stderr


def test_counts_of_another_build_begin_again_from_the_corpus_so_far(bad, tmp_path):
    out = tmp_path / "out"
    fuzz(bad, out, "--inputs", 500)
    other = build(tmp_path, EXAMPLES / "bad.c", "-O0")
    result = fuzz(other, out, "--inputs", 200, "--json")
    assert result.returncode == 0
    told = json.loads(result.stdout)
    assert told["inputs"] == 200
    assert any("built anew: its counts began again" in warning for warning in told["warnings"])
    assert (out / "old-1" / "campaign.json").exists()


def test_the_folder_of_another_target_is_refused(bad, tmp_path):
    out = tmp_path / "out"
    fuzz(bad, out, "--inputs", 500)
    other = build(tmp_path, EXAMPLES / "url.c")
    result = fuzz(other, out, "--inputs", 1000)
    assert result.returncode == 2
    assert "holds a campaign of bad, and the target is url" in result.stderr


def test_the_folder_is_named_after_the_target(bad, tmp_path):
    words = ("fuzz", bad, "--inputs", "200", "--quiet")
    first = fuzzwise(*words, cwd=tmp_path)
    assert "Kept in bad-out; a larger --inputs goes on from there." in first.stdout
    again = fuzzwise(*words, cwd=tmp_path)
    assert "was used by earlier calls: nothing was fuzzed now" in again.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["bad-out"]


def test_the_folder_of_a_failed_try_is_taken_over_in_silence(bad, tmp_path):
    plain = tmp_path / "plain"
    shutil.copy("/bin/true", plain)
    assert fuzz(plain, tmp_path / "out", "--time", "20s").returncode == 2
    result = fuzz(bad, tmp_path / "out", "--inputs", 200)
    assert result.returncode == 0, result.stderr
    assert "built anew" not in result.stdout
    assert "Going on" not in result.stderr


def test_two_at_once_on_one_folder_are_refused(bad, tmp_path):
    out = tmp_path / "out"
    words = [sys.executable, "-m", "fuzzwise", "fuzz", str(bad), "--out", str(out), "--quiet"]
    with subprocess.Popen(words) as first:
        wait_until((out / "campaign.json").exists, "the campaign")
        second = fuzz(bad, out, "--inputs", 10)
        while first.poll() is None:
            first.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                first.wait(120)
    assert first.returncode == 130
    assert second.returncode == 2
    assert "runs this campaign. Watch it with" in second.stderr


# ── targets that misbehave ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["noise", "close", "fork"])
def test_hostile_targets_are_contained(hostile, tmp_path, how):
    out = tmp_path / "out"
    result = fuzz(hostile, out, "--inputs", 3000, "--per-seed", "--json", HOSTILE=how)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["inputs"] == 3000
    assert "\x1b" not in result.stdout + result.stderr
    state = State(out / "state")
    assert int(state.seeds()["inputs"].sum()) == 3000


def test_what_a_target_leaves_running_does_not_survive(hostile, tmp_path):
    mine = tmp_path / "lingering-target"
    shutil.copy(hostile, mine)
    result = fuzz(mine, tmp_path / "out", "--inputs", 2000, "--json", HOSTILE="linger")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["inputs"] == 2000
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(mine) in _text(path)]
    assert left == []


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # it has just ended
        return ""


def test_a_crash_that_was_written_but_not_recorded_is_adopted(bad, tmp_path):
    """As if fuzzwise had been killed between the two."""
    out = tmp_path / "out"
    assert fuzz(bad, out, "--inputs", 100).returncode == 0
    (out / "crashes" / "crash-0123").write_bytes(b"bad!")
    document = json.loads(fuzz(bad, out, "--inputs", 200, "--json").stdout)
    (bug,) = document["bugs"]
    assert bug["kind"] == "abort"
    assert Path(bug["inputs"][0]).read_bytes() == b"bad!"


def test_a_target_that_exits_is_a_bug(hostile, tmp_path):
    result = fuzz(hostile, tmp_path / "out", "--inputs", 2000, "--json", HOSTILE="exit")
    document = json.loads(result.stdout)
    assert document["inputs"] == 2000
    assert len(document["bugs"]) == 1
    assert document["bugs"][0]["count"] >= 3


def test_a_target_that_does_nothing_is_reported_loudly_and_never_accepted(tmp_path):
    source, corpus = tmp_path / "idle.c", tmp_path / "corpus"
    source.write_text(
        "#include <stddef.h>\n#include <stdint.h>\n"
        "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return 0; }\n"
    )
    corpus.mkdir()
    (corpus / "a").write_text("a")
    asked = ("--inputs", "20k", "--accept-risk", "1e-3")
    result = fuzz(build(tmp_path, source), tmp_path / "out", corpus, *asked)
    assert result.returncode == 11, result.stderr
    assert "no input shows more than the empty one does, so that NO RISK" in result.stdout
    assert "WARNING  no file of the corpus shows more than the empty input does" in result.stdout
    assert "none showed anything new" in result.stdout


def test_a_mistyped_option_is_refused(bad, tmp_path):
    result = fuzz(bad, tmp_path / "out", "--acept-risk", "1e-3")
    assert result.returncode == 2
    assert "--accept-risk" in result.stderr


def test_a_target_that_hangs_is_stopped_in_time(hostile, tmp_path):
    def has_stopped() -> bool:
        result = fuzz(hostile, tmp_path / "out", *words, HOSTILE="hang")
        told = json.loads(result.stdout)
        assert told["bugs"] == []  # it was not the limit of an input that ended it
        return bool(told["stopped"]["reason"] == "time-budget")

    words = ("--time", "3s", "--json", "--libfuzzer", f"-timeout={2 * PATIENCE:.0f}")
    wait_until(has_stopped, "a run that comes to an input")


@pytest.mark.parametrize(
    ("often", "sentence"), [("1", "before it has made an input, 3 times"), ("9", "on nearly every")]
)
def test_a_target_that_crashes_on_every_input_is_reported(hostile, tmp_path, often, sentence):
    result = fuzz(hostile, tmp_path / "out", "--time", "500s", HOSTILE="abort", OFTEN=often)
    assert result.returncode == 2
    assert sentence in result.stderr


def test_a_corpus_folder_that_vanishes_is_a_clear_message(bad, tmp_path):
    out = tmp_path / "out"
    words = [sys.executable, "-m", "fuzzwise", "fuzz", str(bad), "--out", str(out)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        wait_until((out / "campaign.json").exists, "the campaign")
        out.rename(tmp_path / "gone")  # at once, unlike a removal, which races with the writer
        _, errors = run.communicate(timeout=PATIENCE)
    assert run.returncode == 2
    assert str(out) in errors
    assert "Traceback" not in errors


def test_a_full_disk_is_a_clear_message_and_resumes_with_room(recounted, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("no permission to mount a small file system")
    try:
        result = fuzz(recounted, small / "out", "--inputs", 2000, RECOUNT_LOG="/dev/null")
        assert result.returncode == 2
        assert "No space left" in result.stderr
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        again = fuzz(recounted, small / "out", "--inputs", 2000, "--json", RECOUNT_LOG="/dev/null")
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["inputs"] == 2000
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


# ── killed at any moment ──────────────────────────────────────────────────────────────────────


def fuzzers(out: Path) -> list[int]:
    """The fuzzing processes of a campaign, by its state."""
    try:
        state = State(out / "state")
    except Exception:
        return []
    return [slot.pid for slot in state.head.slots if slot.pid]


def test_many_kills_lose_nothing_and_count_nothing_twice(recounted, tmp_path):
    """SIGKILL of the fuzzer and of fuzzwise at random moments, then compared with the runs."""
    out, log = tmp_path / "out", tmp_path / "runs.log"
    dice = random.Random(7)
    words = ("fuzz", recounted, "--out", out, "--quiet")
    environment = {**os.environ, "RECOUNT_LOG": str(log)}
    kills = 0
    while kills < KILLS:
        with Started(*words, "--time", "100000s", env=environment) as run:
            wait_until(lambda: any(map(alive, fuzzers(out))), "a process that fuzzes")
            for _ in range(3):
                time.sleep(dice.uniform(0, 0.12))
                for pid in fuzzers(out):
                    if alive(pid):
                        with suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                            kills += 1
            time.sleep(dice.uniform(0, 0.3))
            run.kill()
            kills += 1
    # On a busy machine every crash may have been killed before it was written; here one will be.
    inputs = int(State(out / "state").head.inputs) + 10_000
    final = fuzzwise(*words, "--inputs", inputs, "--json", env=environment)
    assert final.returncode == 0, final.stderr
    check_against_log(out, log, kills)
    crashes = list((out / "crashes").iterdir())
    assert not [path for path in crashes if path.name.startswith("crash-")]  # all are in a bug
    records = list((out / "crashes").glob("*/bug.json"))
    assert records
    for record in records:
        for name in json.loads(record.read_text())["inputs"]:
            assert (out / "crashes" / name).exists()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except OSError:
        return False


def check_against_log(out: Path, log: Path, kills: int) -> None:
    """Every run that began is counted once; no feature is counted more often than it was shown."""
    state = State(out / "state")
    n = int(state.head.inputs)
    lines = log.read_text().splitlines()
    begun = sum(line.startswith("B 1") for line in lines)
    assert begun <= n <= begun + kills
    assert int(state.seeds()["inputs"].sum()) == n
    shown = np.zeros(int(state.head.features), dtype=np.int64)
    mutated = False
    for line in lines:
        if line.startswith("B"):
            mutated = line.startswith("B 1")
        elif mutated:
            for word in line.split()[1:]:
                counter, _, count = word.partition(":")
                if count:
                    b = sum(int(count) >= limit for limit in (2, 3, 4, 8, 16, 32, 128))
                    shown[int(counter) * 8 + b] += 1
    counted = np.fromfile(out / "state" / "features", dtype=np.uint8)[: len(shown)] & 7
    assert (counted <= np.minimum(shown, 5)).all()
    assert (counted >= np.minimum(np.maximum(shown - kills, 0), 5)).all()
    o = state.observation(1e9)
    assert o.f == tuple(int((counted == i).sum()) for i in (1, 2, 3, 4))
    assert len(o.discoveries) == len(set(o.discoveries.tolist()))
    assert list(problems(o)) == []
