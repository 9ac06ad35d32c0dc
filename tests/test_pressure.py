"""Whether work waits for a core, on a machine that is made busy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fuzzwise import pressure
from fuzzwise.cli.growth_output import busy_sentence
from fuzzwise.pressure import BUSY, Pressure
from waiting import wait_until


@contextmanager
def two_that_want_one_core() -> Iterator[None]:
    core = min(os.sched_getaffinity(0))
    words = [
        sys.executable,
        "-c",
        f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass",
    ]
    busy = [subprocess.Popen(words) for _ in range(2)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


def test_a_busy_machine_is_told():
    if not pressure._PRESSURE.exists():
        pytest.skip("this kernel does not tell how long work waits for a core")
    watched = Pressure()
    with two_that_want_one_core():
        wait_until(lambda: (watched.share() or 0.0) > BUSY, "a wait for a core")
        share = watched.share()
    assert share is not None
    assert BUSY < share <= 1.0
    assert f"{share:.0%} of the time of one" in busy_sentence(share, "of one")


def test_nothing_is_said_of_an_instant():
    assert Pressure().share() is None


@pytest.mark.parametrize("text", ["", "some avg10=0.00\n", "full avg10=0.00 total=5\n"])
def test_a_kernel_that_does_not_tell_is_no_error(tmp_path, monkeypatch, text):
    monkeypatch.setattr(pressure, "_PRESSURE", tmp_path / "cpu")
    assert pressure._waited() is None
    (tmp_path / "cpu").write_text(text)
    assert pressure._waited() is None
    (tmp_path / "cpu").write_text("some avg10=1.00 avg60=0.00 avg300=0.00 total=2500000\n" + text)
    assert pressure._waited() == 2.5
