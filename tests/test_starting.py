"""How long a target may take to run its first input: time of its own, not of a busy machine."""

from __future__ import annotations

import os
from pathlib import Path

from fuzzwise.engines.process import FuzzingProcess
from fuzzwise.engines.starting import Start
from waiting import wait_until


def test_a_target_that_had_no_core_is_not_stuck() -> None:
    start = Start(limit=30.0)
    for _ in range(100):
        start.look(1.0, 0, 0, no_core=0.9)
    assert not start.is_stuck
    for _ in range(25):
        start.look(1.0, 0, 0)
    assert start.is_stuck
    start.look(1.0, 1, 0)
    assert start.waited == 0


def test_time_without_a_core_that_was_told_too_late_takes_nothing_off() -> None:
    start = Start(limit=30.0)
    start.look(10.0, 0, 0)
    start.look(1.0, 0, 0, no_core=5.0)
    assert start.waited == 10.0


def test_the_kernel_says_how_long_a_process_had_no_core(tmp_path: Path) -> None:
    loop = ["/bin/sh", "-c", "while :; do :; done"]
    processes = [FuzzingProcess(loop, {}, tmp_path) for _ in range(2)]
    told = [0.0, 0.0]

    def both_had_to_wait() -> bool:
        for number, process in enumerate(processes):
            told[number] += process.kept_waiting()
        return min(told) > 0.1

    try:
        for process in processes:
            os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
        wait_until(both_had_to_wait, "two processes to wait for one core")
    finally:
        for process in processes:
            process.kill()
    assert processes[0].kept_waiting() == 0.0  # it is gone
