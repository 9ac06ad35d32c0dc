"""Logs of libFuzzer: what counts as an input, and what as a discovery."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzzer_files import check, line
from fuzzwise.errors import BadInput
from fuzzwise.watch.reading import Reading
from fuzzwise.watch.recognise import open_sources, read

START = "INFO: Seed: 1\nINFO: seed corpus: files: 2 min: 1b max: 2b total: 3b rss: 26Mb\n"


def reading(tmp_path: Path, text: str | bytes) -> Reading:
    log = tmp_path / "fuzz.log"
    log.write_bytes(text if isinstance(text, bytes) else text.encode())
    return check(read([log])[0])


def found(reading: Reading) -> list[int]:
    assert reading.observation.discoveries is not None
    return reading.observation.discoveries.tolist()


def test_inputs_are_counted_from_the_end_of_the_initial_corpus(tmp_path: Path) -> None:
    text = START + line(3, "INITED", 10, 2) + line(7, "NEW", 12, 3) + line(103, "pulse", 12, 3)
    read = reading(tmp_path, text)
    assert read.observation.n == 100
    assert found(read) == [4]
    assert read.exact
    assert read.corpus == 3


def test_a_discovery_is_a_line_with_more_features_whatever_its_name(tmp_path: Path) -> None:
    lines = [
        line(3, "INITED", 10, 2),
        line(5, "REDUCE", 10, 2),
        line(6, "REDUCE", 11, 3),
        line(7, "NEW", 11, 3),
        line(9, "NEW", 15, 4),
        line(11, "REDUCE", 15, 4),
    ]
    read = reading(tmp_path, START + "".join(lines))
    assert found(read) == [3, 6]
    assert read.observation.n == 8


def test_what_other_processes_found_is_no_discovery_and_no_input(tmp_path: Path) -> None:
    lines = [
        line(3, "INITED", 10, 2),
        line(103, "pulse", 10, 2),
        line(203, "RELOAD", 50, 22),
        line(303, "NEW", 51, 23),
    ]
    read = reading(tmp_path, START + "".join(lines))
    assert found(read) == [280]
    assert read.observation.n == 280


def test_a_discovery_without_a_line_of_its_own_is_placed_between_lines(tmp_path: Path) -> None:
    lines = [line(3, "INITED", 10, 2), line(103, "pulse", 19, 4), line(203, "DONE", 19, 4)]
    read = reading(tmp_path, START + "".join(lines))
    assert found(read) == [50, 100]
    assert not read.exact
    assert any("no line of their own" in note for note in read.notes)


def test_processes_in_one_log_count_on_and_compare_with_their_own_start(tmp_path: Path) -> None:
    first = START + line(3, "INITED", 10, 2) + line(53, "NEW", 30, 3)
    second = START + line(13, "INITED", 25, 8) + line(23, "NEW", 26, 9) + line(63, "DONE", 26, 9)
    read = reading(tmp_path, first + "==1== ERROR: libFuzzer: deadly signal\n" + second)
    assert found(read) == [50, 60]
    assert read.observation.n == 100


def test_a_restart_without_a_corpus_folder_is_pointed_out(tmp_path: Path) -> None:
    text = START + line(3, "INITED", 10, 2) + line(53, "NEW", 300, 9)
    read = reading(tmp_path, text + START + line(2, "INITED", 2, 1) + line(9, "NEW", 9, 2))
    assert any("corpus folder" in note for note in read.notes)


def test_final_counts_are_used_even_without_a_status_line(tmp_path: Path) -> None:
    text = START + line(3, "INITED", 10, 2) + "Done 1003 runs in 7 second(s)\n"
    read = reading(tmp_path, text)
    assert (read.observation.n, read.observation.seconds) == (1000, 7.0)
    text = START + line(3, "INITED", 10, 2) + "stat::number_of_executed_units: 2003\n"
    assert reading(tmp_path, text).observation.n == 2000


def test_time_is_known_from_speed(tmp_path: Path) -> None:
    text = START + line(3, "INITED", 10, 2) + line(5_000, "NEW", 12, 3, speed=1000)
    read = reading(tmp_path, text + line(20_000, "pulse", 12, 3, speed=2000))
    assert read.observation.seconds == 10.0
    assert read.observation.last_discovery_seconds == 5.0
    text = START + line(3, "INITED", 10, 2) + line(50, "NEW", 12, 3)
    assert reading(tmp_path, text).observation.seconds is None


def test_a_line_that_is_still_written_waits(tmp_path: Path) -> None:
    log = tmp_path / "fuzz.log"
    text = START + line(3, "INITED", 10, 2) + line(103, "NEW", 11, 3)
    log.write_text(text + "#1003\tNEW    cov: 12 ft: 12 corp: 4")
    source = open_sources([log])[0]
    assert source.read().observation.n == 100
    with log.open("a") as file:
        file.write("/9b exec/s: 5 rss: 1Mb\n")
    assert check(source.read()).observation.n == 1000


def test_a_log_that_was_cut_or_replaced_is_read_anew(tmp_path: Path) -> None:
    log = tmp_path / "fuzz.log"
    log.write_text(START + line(3, "INITED", 10, 2) + line(1003, "NEW", 11, 3))
    source = open_sources([log])[0]
    assert source.read().observation.n == 1000
    log.write_text(START + line(3, "INITED", 10, 2))
    assert source.read().observation.n == 0
    other = tmp_path / "other"
    text = START.replace("Seed: 1", "Seed: 2") + line(3, "INITED", 10, 2) + line(53, "NEW", 11, 3)
    other.write_text(text + "x" * 500)
    other.replace(log)
    assert source.read().observation.n == 50
    os.truncate(log, 0)
    with pytest.raises(BadInput, match="no status line"):
        source.read()
    log.unlink()
    with pytest.raises(BadInput, match="no such file"):
        source.read()


def test_a_log_that_was_cut_but_kept_its_start_is_read_anew(tmp_path: Path) -> None:
    log = tmp_path / "fuzz.log"
    start = START + "INFO: a long line\n" * 30 + line(3, "INITED", 10, 2)
    log.write_text(start + line(53, "NEW", 11, 3) + line(103, "NEW", 12, 4))
    source = open_sources([log])[0]
    assert found(source.read()) == [50, 100]
    log.write_text(start + line(53, "NEW", 11, 3))
    assert found(check(source.read())) == [50]


def test_a_log_that_was_written_anew_and_is_longer_is_read_anew(tmp_path: Path) -> None:
    log = tmp_path / "fuzz.log"
    log.write_text(START + line(3, "INITED", 10, 2) + line(53, "NEW", 11, 3))
    source = open_sources([log])[0]
    assert found(source.read()) == [50]
    text = START.replace("Seed: 1", "Seed: 2") + line(3, "INITED", 10, 2)
    log.write_text(text + "".join(line(3 + i, "NEW", 10 + i, 2 + i) for i in range(1, 9)))
    assert found(check(source.read())) == list(range(1, 9))


def test_prints_of_the_target_between_and_within_lines_are_survived(tmp_path: Path) -> None:
    lines = [
        line(3, "INITED", 10, 2),
        "\x1b[31mhello#" + line(53, "NEW", 11, 3).removeprefix("#"),
        "\0\xff#12\r\n",
        "#103\tNEW    cov: 12 ft: 12\x1b[0m target! corp: 4/9b lim: 4 exec/s: 7 rss: 27Mb\r\n",
        "#not a line\n#99999999999999999999999\tNEW    cov: 1 ft: 99 corp: 9/9b exec/s: 0\n",
    ]
    read = reading(tmp_path, (START + "".join(lines)).encode("latin-1"))
    assert found(read) == [50, 100]
    assert read.observation.n == 100


def test_two_fuzzers_in_one_log_are_pointed_out(tmp_path: Path) -> None:
    lines = [line(3, "INITED", 9, 2), line(503, "NEW", 11, 3), line(103, "NEW", 12, 3)]
    read = reading(tmp_path, START + "".join(lines))
    assert read.observation.n == 500
    assert found(read) == [500]
    assert "several fuzzers write this log" in read.notes[0]
    later = "".join(lines) + line(603, "REDUCE", 12, 4)
    assert found(reading(tmp_path, START + later)) == [500, 600]


def test_a_log_without_its_start_counts_from_its_first_line(tmp_path: Path) -> None:
    read = reading(tmp_path, line(1003, "NEW", 50, 9) + line(1103, "NEW", 51, 10))
    assert found(read) == [100]
    assert any("start of the log is missing" in note for note in read.notes)


def test_old_lines_without_features_are_read(tmp_path: Path) -> None:
    lines = [
        "#2\tINITED cov: 3 bits: 3 corp: 1/1b exec/s: 0 rss: 20Mb\n",
        "#12\tNEW    cov: 4 bits: 5 corp: 2/3b exec/s: 0 rss: 20Mb L: 2 MS: 1 CopyPart-\n",
        "#22\tDONE   cov: 4 bits: 5 corp: 2/3b exec/s: 0 rss: 20Mb\n",
    ]
    assert found(reading(tmp_path, "INFO: Seed: 1\n" + "".join(lines))) == [10]


def test_artifacts_are_counted(tmp_path: Path) -> None:
    sha = "0123456789abcdef0123456789abcdef01234567"
    prints = [
        f"artifact_prefix='./'; Test unit written to ./{kind}-{sha}\n"
        for kind in ("crash", "leak", "oom", "timeout", "slow-unit")
    ]
    read = reading(tmp_path, START + line(3, "INITED", 10, 2) + "".join(prints))
    assert (read.crashes, read.hangs) == (3, 1)


FORK = (
    "INFO: Seed: 1\nINFO: -fork=1: fuzzing in separate process(s)\n"
    "#100: cov: 0 ft: 10 corp: 5 exec/s 50 oom/timeout/crash: 0/0/0 time: 2s job: 1 dft_time: 0\n"
    "#200: cov: 9 ft: 30 corp: 15 exec/s 50 oom/timeout/crash: 1/2/3 time: 4s job: 2 dft_time: 0\n"
)


def test_a_line_of_fork_mode_tells_of_the_job_before(tmp_path: Path) -> None:
    read = reading(tmp_path, FORK)
    assert read.observation.n == 100
    assert found(read) == list(range(10, 101, 10))
    assert (read.crashes, read.hangs, read.observation.seconds) == (4, 2, 4.0)
    again = reading(tmp_path, FORK + FORK)
    assert again.observation.n == 200
    assert (again.crashes, again.hangs, again.observation.seconds) == (8, 4, 8.0)


def test_the_log_of_a_crashed_job_inside_a_fork_log_is_not_counted(tmp_path: Path) -> None:
    job = START + line(3, "INITED", 10, 2) + line(1_000_003, "NEW", 999, 3) + "Done 9 runs in 9 s"
    assert found(reading(tmp_path, FORK + job)) == found(reading(tmp_path, FORK))


def test_jobs_in_a_folder_are_set_side_by_side(tmp_path: Path) -> None:
    for job, seconds in ((0, 10), (1, 10)):
        text = START + line(3, "INITED", 10, 2) + line(503, "NEW", 12, 3, speed=100)
        text += f"Done 1003 runs in {seconds} second(s)\n"
        (tmp_path / f"fuzz-{job}.log").write_text(text)
        os.utime(tmp_path / f"fuzz-{job}.log", (1_700_000_000, 1_700_000_000))
    read_ = check(read([tmp_path])[0])
    assert read_.observation.n == 2000
    assert found(read_) == [1003, 1004]  # each with 503 of the other by then
    assert read_.observation.seconds == 10


def test_jobs_that_ran_one_after_the_other_stay_in_order(tmp_path: Path) -> None:
    for job, end in ((0, 1_700_000_000), (1, 1_700_000_010)):
        text = START + line(3, "INITED", 10, 2) + line(503, "NEW", 12, 3, speed=100)
        (tmp_path / f"fuzz-{job}.log").write_text(text + "Done 1003 runs in 10 second(s)\n")
        os.utime(tmp_path / f"fuzz-{job}.log", (end, end))
    read_ = check(read([tmp_path])[0])
    assert found(read_) == [500, 1500]
    assert read_.observation.seconds == 20


@pytest.mark.parametrize(
    ("more", "is_over"),
    [
        ("", False),
        (line(203, "DONE", 12, 3), True),
        ("Done 1003 runs in 7 second(s)\n", True),
        (f"Test unit written to ./crash-{'0' * 40}\n", True),
        ("Done 1003 runs in 7 second(s)\n" + START, False),
        ("Done 1003 runs in 7 second(s)\n" + START + line(3, "INITED", 10, 2), False),
    ],
)
def test_the_last_words_of_a_fuzzer_are_known(tmp_path, more, is_over):
    text = START + line(3, "INITED", 10, 2) + line(103, "pulse", 12, 3)
    assert reading(tmp_path, text + more).said_the_end is is_over


def test_a_log_that_ended_before_the_first_input_says_so(tmp_path):
    with pytest.raises(BadInput, match="has ended before its first input"):
        reading(tmp_path, START)
