"""The live view of a campaign: on a terminal, and as a log in a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import runpy
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from campaign_states import example_state
from campaign_strategies import UNSAFE
from fuzzwise.report import short
from fuzzwise.report.campaign.view import SUMMARY_EVERY, View
from fuzzwise.store.states import CampaignState
from waiting import PATIENCE

ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


# --- the log in a pipe -------------------------------------------------------------------------


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class _Log:
    """What was written to standard error so far."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._text = ""

    def __call__(self) -> str:
        self._text += self._capsys.readouterr().err
        return self._text


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> _Log:
    return _Log(capsys)


def _grown(state: CampaignState, seconds: float) -> CampaignState:
    """The campaign as it was then."""
    return replace(
        state,
        seconds=seconds,
        bugs=tuple(bug for bug in state.bugs if bug.at <= seconds),
        events=tuple(event for event in state.events if event.at <= seconds),
    )


def test_a_pipe_gets_each_event_and_bug_once_as_plain_lines(
    log: _Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    state, clock = example_state(8), _Clock()
    with View(lambda: _grown(state, clock.now), clock=clock) as view:
        while clock.now < state.seconds:
            clock.now += 0.25
            view.update()
    lines = log().splitlines()
    for bug in state.bugs:
        assert sum(bug.id in line for line in lines) == 1
    for event in state.events:
        if event.kind in ("retired", "broken"):
            told = [line for line in lines if event.detail in line]
            assert len(told) == 1
            assert told[0].split()[:2] == [short.clock(event.at), f"{event.target}:"]
    assert not UNSAFE.search(log())
    summaries = [line for line in lines if "8 targets: " in line]
    assert len(summaries) - int(state.seconds / SUMMARY_EVERY) in (0, 1)
    moments = [line.split()[0] for line in lines]
    assert all(re.fullmatch(r"\d+s|\d+m\d\ds|\d+h\d\dm", moment) for moment in moments)


def test_events_appear_while_the_campaign_runs(log: _Log) -> None:
    state, clock = example_state(8), _Clock()
    first = state.bugs[0]
    with View(lambda: _grown(state, clock.now), clock=clock) as view:
        clock.now = first.at - 5
        view.update()
        assert first.id not in log()
        clock.now = first.at + 1
        view.update()
        assert first.id in log()


def test_what_an_earlier_run_told_is_no_news(log: _Log) -> None:
    state, clock = example_state(8), _Clock()
    middle = state.bugs[4].at
    with View(lambda: state, before=_grown(state, middle), clock=clock) as view:
        view.update()
    told = [bug for bug in state.bugs if bug.id in log()]
    assert told == [bug for bug in state.bugs if bug.at > middle]
    assert told


def test_nothing_is_read_before_it_is_time(log: _Log) -> None:
    state, clock, reads = example_state(2), _Clock(), []

    def read() -> CampaignState:
        reads.append(clock.now)
        return state

    with View(read, clock=clock) as view:
        for _ in range(16):
            view.update()
            clock.now += 0.25
        assert reads == [0.0, 2.0]


def test_a_quiet_view_says_and_reads_nothing(log: _Log) -> None:
    def read() -> CampaignState:
        raise AssertionError

    with View(read, quiet=True) as view:
        view.update()
    assert log() == ""


def test_a_log_that_cannot_be_written_ends_the_view_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads = []

    def read() -> CampaignState:
        reads.append(1)
        return example_state(8)

    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        clock = _Clock()
        with View(read, clock=clock) as view:
            for _ in range(5):
                view.update()
                clock.now += 2
        assert len(reads) == 1
        monkeypatch.undo()
        with pytest.raises(OSError, match="No space"):
            full.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


# --- a real terminal ---------------------------------------------------------------------------

SCRIPT = """
import os, sys, time
from dataclasses import replace
from campaign_states import example_state
from fuzzwise.report.campaign.view import View

state, drawn = example_state(int(sys.argv[1])), 0

def read():
    global drawn
    drawn += 1
    return replace(state, seconds=60.0 * drawn)

with View(read) as view:
    for line in sys.stdin:
        before = drawn
        while drawn < before + 2:
            view.update()
            time.sleep(0.05)
        os.write(2, b"\\nDRAWN")  # behind the back of the view
print("AFTER", file=sys.stderr)
"""


def _on_terminal(count: int, sizes: list[tuple[int, int]], term: str = "xterm") -> list[str]:
    """What the view writes to a terminal of each size (lines, columns), and at the end."""
    master, slave = pty.openpty()
    unset = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"TERM": term, "PYTHONPATH": str(Path(__file__).parent)}
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(count)],
        stdin=subprocess.PIPE,
        stderr=slave,
        env=environment,
        text=True,
    )
    assert child.stdin is not None
    written = []
    try:
        for rows, columns in sizes:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            child.stdin.write("\n")
            child.stdin.flush()
            written.append(_until(master, lambda text: "DRAWN" in text))
        child.stdin.close()
        written.append(_until(master, lambda text: "AFTER" in text))
        assert child.wait(PATIENCE) == 0
    finally:
        child.kill()
        child.wait()
        os.close(master)
        os.close(slave)
    return written


def _until(master: int, seen: Callable[[str], bool]) -> str:
    data = b""
    end = time.monotonic() + PATIENCE
    while not seen(data.decode(errors="replace")):
        assert time.monotonic() < end, data
        if select.select([master], [], [], 1)[0]:
            data += os.read(master, 65536)
    return data.decode()


@pytest.mark.parametrize("count", [8, 100])
def test_the_view_on_a_terminal_fits_is_resized_and_leaves_nothing(count: int) -> None:
    sizes = [(24, 80), (30, 120), (16, 60)]
    *pictures, rest = _on_terminal(count, sizes)
    for (rows, columns), text in zip(sizes, pictures, strict=True):
        lines = re.split(r"[\r\n]+", ESCAPES.sub("", text))
        assert any("png" in line for line in lines)
        longest = max(map(cell_len, lines))
        assert 0.8 * columns < longest <= columns
        assert max(part.count("\n") for part in text.split("\x1b[2K")) < rows
    assert "\x1b[2J" not in pictures[0]
    assert "\x1b[2J" in pictures[1]
    everything = "".join([*pictures, rest])
    assert everything.count("\x1b[?25l") == everything.count("\x1b[?25h") == 1
    assert everything.rindex("\x1b[?25h") > everything.rindex("\x1b[?25l")
    assert everything.rstrip().endswith("AFTER")
    assert "\x1b[31mred" not in everything


def test_a_terminal_without_escape_codes_gets_the_log() -> None:
    written = "".join(_on_terminal(8, [(24, 80)], term="dumb"))
    assert "\x1b" not in written
    assert "8 targets: 2 fuzzing" in written


def test_the_picture_of_the_view_needs_no_network() -> None:
    path = Path(__file__).parents[1] / "tools" / "pictures.py"
    svg = runpy.run_path(str(path))["live_view"](example_state(8))
    addresses = re.findall(r"https?://[^\s\"'<]+", svg)
    assert set(addresses) <= {"http://www.w3.org/2000/svg", "https://www.textualize.io"}
    assert "url(" not in svg.replace("url(#", "")
    assert "yaml-parser" in svg
