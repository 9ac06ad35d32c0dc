"""The live view, the log in a pipe, ``status`` and the summary of a campaign."""

from __future__ import annotations

import fcntl
import math
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
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from campaign_states import HOSTILE, example_state
from fuzzwise.campaign.state import (
    BROKEN,
    FUZZING,
    RETIRED,
    WAITING,
    BugState,
    CampaignState,
    DecisionState,
    EventState,
    Stopped,
    TargetState,
)
from fuzzwise.model import Estimate
from fuzzwise.report import campaign_status, grid, short
from fuzzwise.report.campaign_frame import frame
from fuzzwise.report.campaign_table import by_urgency, table
from fuzzwise.report.campaign_view import SUMMARY_EVERY, View

ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")

texts = st.text(max_size=60) | st.sampled_from(
    [HOSTILE, "\x1b]0;title\x07", "名前" * 20, "a\nb\r\t"]
)
numbers = st.floats(min_value=0, allow_nan=False)
chances = st.floats(min_value=0, max_value=2) | st.just(math.nan)


@st.composite
def estimates(draw: st.DrawFn, values: st.SearchStrategy[float]) -> Estimate:
    bounds = draw(st.none() | st.tuples(values, values))
    low, high = bounds or (None, None)
    return Estimate(draw(values), low, high, 0.95 if bounds else None, "recent-rate", 1)


targets = st.builds(
    TargetState,
    name=texts,
    engine=st.just("libfuzzer"),
    finds_coverage=st.booleans(),
    state=st.sampled_from([WAITING, FUZZING, RETIRED, BROKEN]),
    reason=st.just(""),
    detail=texts,
    share=st.just("medium"),
    accepted_risk=st.none() | st.floats(1e-12, 0.99),
    epochs=st.integers(0),
    inputs=st.integers(0, 10**18),
    seconds=st.floats(0, 1e12),
    share_of_time=st.floats(0, 1),
    species=st.integers(0, 10**12),
    discoveries=st.integers(0, 10**12),
    corpus=st.integers(0, 10**9),
    risk=st.none() | estimates(chances),
    trend=st.sampled_from(["falling", "level", "rising", ""]),
    seconds_left=st.none() | estimates(numbers),
    bugs=st.lists(texts, max_size=3).map(tuple),
    crashes=st.integers(0, 10**6),
    warnings=st.lists(texts, max_size=2).map(tuple),
)
bugs = st.builds(
    BugState,
    id=texts,
    kind=texts,
    severity=texts,
    frames=st.lists(texts, max_size=2).map(tuple),
    summary=texts,
    file=texts,
    line=st.none(),
    target=texts,
    targets=st.lists(texts, max_size=3).map(tuple),
    crashes=st.integers(0, 10**9),
    inputs=st.just(()),
    report=texts,
    command=texts,
    at=st.floats(0, 1e9),
    after_inputs=st.just(0),
    after_seconds=st.just(0.0),
    flaky=st.booleans(),
)
events = st.builds(
    EventState,
    at=st.floats(0, 1e9),
    kind=st.sampled_from(["bug", "retired", "broken", "warning", "stopped"]),
    target=texts,
    detail=texts,
)
campaigns = st.builds(
    CampaignState,
    folder=st.just(Path("campaign \x1b[31m")),
    name=texts,
    running=st.booleans(),
    budget=st.none() | st.floats(0.1, 1e8),
    seconds=st.floats(0, 1e9),
    cores=st.integers(1, 512),
    scheduler=texts,
    epoch=st.floats(0.1, 1e4),
    confidence=st.just(0.95),
    epochs=st.integers(0, 10**6),
    targets=st.lists(targets, max_size=12).map(tuple),
    bugs=st.lists(bugs, max_size=4).map(tuple),
    events=st.lists(events, max_size=6).map(tuple),
    stopped=st.none()
    | st.builds(Stopped, st.sampled_from(["killed", "time-budget", "all-retired"]), texts),
)


@settings(max_examples=100)
@given(campaigns, st.integers(60, 200), st.integers(6, 40))
def test_a_picture_fits_every_terminal(state: CampaignState, width: int, height: int) -> None:
    lines = frame(state, width, height)
    assert len(lines) <= height
    for line in lines:
        assert cell_len(line.plain) <= width
        assert "\n" not in line.plain
        assert not UNSAFE.search(line.plain)


@settings(max_examples=50)
@given(campaigns, st.none() | st.integers(20, 200))
def test_text_of_any_campaign_is_harmless_and_complete(
    state: CampaignState, width: int | None
) -> None:
    shown = [line.plain for line in campaign_status.status(state, width)]
    said = [*shown, *campaign_status.summary(state, {bug.id for bug in state.bugs[:1]})]
    for line in said:
        assert "\n" not in line
        assert not UNSAFE.search(line)
    if width is None:
        for target in state.targets:
            assert any(short.name(target.name) in line for line in shown)


def test_the_columns_of_80_cells() -> None:
    state = example_state(8)
    longest = replace(state.targets[0], name="a-name-of-twenty-let")
    for targets in (state.targets, (longest, *state.targets[1:])):
        head = table(targets, 80, 20)[0].plain.split()
        assert head[:6] == ["target", "state", "risk", "at", "most", "left"]
        assert {"time", "bugs", "exec/s", "corpus"} <= set(head)
    assert longest.name in table((longest,), 80, 20)[2].plain


def test_wider_terminals_get_more_columns() -> None:
    targets = example_state(8).targets
    heads = [table(targets, width, 20)[0].plain.split() for width in (60, 80, 120, 200)]
    assert [len(head) for head in heads] == sorted({len(head) for head in heads})
    assert {"inputs", "species", "note"} <= set(heads[-1])
    assert not {"inputs", "species", "note"} & set(heads[0])


def test_a_row_tells_all_of_a_target() -> None:
    target = replace(
        example_state(1).targets[0],
        name="png",
        state=WAITING,
        inputs=48_000,
        seconds=4.0,
        share_of_time=0.42,
        corpus=345,
        bugs=("a", "b", "c"),
        risk=Estimate(3.14e-5, 1e-5, 8.31e-5, 0.95, "recent-rate", 1),
        trend="falling",
        seconds_left=Estimate(725.0, None, None, None, "recent-rate", 1),
    )
    row = table((target,), 80, 10)[2].plain.split()
    assert row == [
        "·",
        "png",
        "waiting",
        "3.1e-05",
        "8.4e-05",
        "↓",
        "12m",
        "42%",
        "3",
        "12k",
        "345",
    ]


def test_a_long_name_loses_its_middle() -> None:
    target = replace(example_state(1).targets[0], name="the-beginning-" + "x" * 60 + "-the-end")
    row = table((target,), 80, 10)[2].plain
    assert "the-begin" in row
    assert "the-end" in row
    assert "…" in row


def test_100_targets_fit_24_lines_and_the_last_line_counts_the_rest() -> None:
    state = example_state(100)
    lines = [line.plain for line in frame(state, 80, 24)]
    assert len(lines) == 24
    more = next(line for line in lines if line.startswith("… "))
    rows = [line for line in lines if line[:1] in tuple("▶·✓✗")]
    said = {word: int(count) for count, word in re.findall(r"(\d+) (\w+)(?:,|$)", more)}
    assert len(rows) >= 8
    assert sum(said.values()) == 100 - len(rows) == int(more.split()[1])
    for mood in (FUZZING, BROKEN, WAITING, RETIRED):
        shown = sum(f" {mood} " in row for row in rows)
        assert shown + said.get(mood, 0) == sum(t.state == mood for t in state.targets)


def test_news_leave_most_of_a_small_terminal_to_the_targets() -> None:
    lines = [line.plain for line in frame(example_state(100), 80, 15)]
    assert len(lines) == 15
    assert sum(line[:1] in tuple("▶·✓✗") for line in lines) == 5
    assert sum(bool(re.match(r" \dh\d\dm  ", line)) for line in lines) == 3


def test_targets_that_all_fit_keep_the_order_of_the_file() -> None:
    targets = example_state(8).targets
    rows = [line.plain.split()[1] for line in table(targets, 80, 10)[2:]]
    assert rows == [target.name for target in targets]


def test_the_order_of_urgency() -> None:
    ordered = by_urgency(example_state(40).targets)
    assert [t.state for t in ordered] == sorted(
        (t.state for t in ordered), key=[FUZZING, BROKEN, WAITING, RETIRED].index
    )
    waiting = [t.risk.risk for t in ordered if t.state == WAITING and t.risk]
    assert waiting == sorted(waiting, reverse=True)


def test_one_that_was_never_fuzzed_is_the_riskiest() -> None:
    known, unknown = example_state(8).targets[6:]
    assert by_urgency((known, replace(unknown, risk=None)))[0].name == unknown.name


def test_broken_targets_do_not_hide_the_others() -> None:
    one = example_state(8).targets
    broken = tuple(replace(one[3], name=f"broken-{i}") for i in range(50))
    waiting = tuple(replace(one[7], name=f"waiting-{i}") for i in range(50))
    rows = [line.plain for line in table(broken + waiting, 80, 15)[2:-1]]
    assert sum("broken-" in row for row in rows) == 4
    assert sum("waiting-" in row for row in rows) == 8
    few = [line.plain for line in table(broken + waiting[:2], 80, 15)[2:-1]]
    assert sum("broken-" in row for row in few) == 10


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (950, "950"), (1000, "1.0k"), (12_345, "12k"), (999_600, "1.0M"), (3.4e6, "3.4M")],
)
def test_short_counts(value: float, shown: str) -> None:
    assert short.count(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0s"), (59.9, "59s"), (723, "12m03s"), (3900, "1h05m"), (273_600, "3d04h")],
)
def test_moments(seconds: float, shown: str) -> None:
    assert short.clock(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (45, "45s"),
        (720, "12m"),
        (11_520, "3.2h"),
        (1e6, "12d"),
        (1e12, ">99y"),
        (math.inf, "never"),
    ],
)
def test_rough_times(seconds: float, shown: str) -> None:
    assert short.rough(seconds) == shown


@given(st.floats(1e-300, 1))
def test_an_upper_bound_is_never_shown_too_low(value: float) -> None:
    shown = float(short.chance(value, upper=True))
    assert value * (1 - 1e-6) <= shown <= value * 1.11
    assert len(short.chance(value)) <= 7 or value < 1e-99


@given(texts, st.integers(1, 30), st.booleans())
def test_fitted_texts_fit(text: str, width: int, middle: bool) -> None:
    cut = short.fitted(text, width, middle=middle)
    assert cell_len(cut) <= width
    assert cut == text or "…" in cut


def test_a_grid_leaves_out_what_matters_least() -> None:
    columns = [
        grid.Column("name", ["a" * 10]),
        grid.Column("third", ["b" * 10], rank=2),
        grid.Column("second", ["c" * 10], rank=1),
    ]
    heads = [grid.lines(columns, width)[0].plain.split() for width in (40, 25, 15, 5)]
    assert heads == [["name", "third", "second"], ["name", "second"], ["name"], ["name"]]
    assert grid.lines(columns, 5)[2].plain == "aaaa…"


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
        for _ in range(8):
            view.update()
            clock.now += 0.25
        assert reads == [0.0, 1.0]


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
from fuzzwise.report.campaign_view import View

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
        assert child.wait(20) == 0
    finally:
        child.kill()
        child.wait()
        os.close(master)
        os.close(slave)
    return written


def _until(master: int, seen: Callable[[str], bool]) -> str:
    data = b""
    end = time.monotonic() + 30
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


# --- status, summary, decisions ----------------------------------------------------------------


def _plain(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


def test_status_shows_all_targets_bugs_and_notes() -> None:
    state = example_state(100)
    said = _plain(campaign_status.status(state, 80))
    for target in state.targets:
        assert re.search(rf"^\S +{re.escape(target.name)} ", said, re.MULTILINE)
        assert target.state != BROKEN or f"{target.name} (broken): {target.detail}" in said
    for bug in state.bugs:
        assert f"{bug.id} {bug.severity}" in said


@pytest.mark.parametrize(
    ("running", "stopped", "said"),
    [
        (True, None, "running for 1h12m of 2h00m"),
        (False, Stopped("killed", "Killed."), "killed after 1h12m; run it again to go on"),
        (False, Stopped("interrupted", "By you."), "interrupted after 1h12m; run it again"),
        (False, Stopped("all-retired", "All retired."), "finished after 1h12m: All retired."),
        (False, None, "not started yet"),
    ],
)
def test_status_says_how_the_campaign_stands(
    running: bool, stopped: Stopped | None, said: str
) -> None:
    state = replace(example_state(8), running=running, stopped=stopped)
    assert said in campaign_status.status(state, 100)[0].plain


def test_the_next_step_depends_on_how_it_stands() -> None:
    state = example_state(8, running=False)
    steps = campaign_status.next_steps(state)
    worst = next(bug for bug in state.bugs if bug.severity == "write")
    assert worst.command in steps[0]
    flaky = replace(worst, flaky=True, command="seldom")
    others = tuple(bug for bug in state.bugs if bug != worst)
    assert "seldom" not in campaign_status.next_steps(replace(state, bugs=(flaky, *others)))[0]
    assert "broken" in steps[1]
    assert "fuzzwise report campaign -o report.html" in steps[-1]
    fine = replace(state, bugs=(), targets=tuple(t for t in state.targets if t.state == RETIRED))
    done = replace(fine, stopped=Stopped("all-retired", ""))
    assert "Nothing is left" in campaign_status.next_steps(done)[0]
    assert "fuzzwise run" in campaign_status.next_steps(fine)[0]
    following = campaign_status.next_steps(replace(state, running=True))
    assert "fuzzwise status campaign --follow" in following[0]


def test_status_in_a_pipe_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    state = example_state(8)
    campaign_status.print_status(state)
    shown = capsys.readouterr().out
    assert not UNSAFE.search(shown)
    assert all(bug.id in shown for bug in state.bugs)


def test_the_summary_of_a_run() -> None:
    state = example_state(8, running=False, hostile=False)
    new = {bug.id for bug in state.bugs[:3]}
    lines = campaign_status.summary(state, new)
    assert "finished after 2h00m: The budget of 2 h is used up." in lines[0]
    assert lines[1] == "Found: 8 bugs, 3 of them new"
    listed = [line for line in lines if any(bug.id in line for bug in state.bugs)]
    assert len(listed) == 3
    assert "Retired, risk accepted: elf, zlib" in lines
    assert sum(line.startswith("  json: risk 3.5e-03 (at most 6.4e-03)") for line in lines) == 1
    assert any(line.startswith("  regex: build/regex: no such file") for line in lines)
    assert any(line.startswith("Time: 4 h on cores: json 25%, ") for line in lines)
    assert lines[-1] == "Report: fuzzwise report campaign -o report.html"


def test_a_summary_names_at_most_ten_of_each() -> None:
    lines = campaign_status.summary(example_state(100))
    assert len(lines) < 50
    assert "  … and 90 more" in lines


def test_no_retirement_is_missed_where_no_risk_is_accepted() -> None:
    said = "\n".join(campaign_status.summary(example_state(4, accepted_risk=None)))
    assert "etired" not in said
    assert "Risk now:" in said


def _decision(**changes: object) -> DecisionState:
    made = DecisionState(63.0, "png", "highest belief", 0.031, "xml", 1.2e-4, 2.0, 24_000, 31, 1)
    return replace(made, **changes)  # type: ignore[arg-type]


def test_decisions_tell_why_and_what_came_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    first = _decision(at=0.0, reason="never tried", belief=None, other="", other_belief=None)
    open_one = _decision(seconds=None, inputs=None, discoveries=None, new_bugs=None)
    campaign_status.print_decisions([first, _decision(), open_one])
    rows = [re.split(r"  +", line.strip()) for line in capsys.readouterr().out.splitlines()]
    assert rows[2] == ["0s", "png", "never tried", "–", "2s", "24k", "31", "1"]
    assert rows[3] == [
        *("1m03s", "png", "highest belief", "0.031", "xml", "1.2e-04"),
        *("2s", "24k", "31", "1"),
    ]
    assert rows[4][-4:] == ["…"] * 4


@given(texts, texts, st.integers(40, 200))
def test_decisions_fit_and_are_harmless(target: str, reason: str, width: int) -> None:
    made = [_decision(target=target, reason=reason, other=target)]
    for line in campaign_status.decision_lines(made, width):
        assert cell_len(line.plain) <= width
        assert not UNSAFE.search(line.plain)


def test_no_decision_yet() -> None:
    assert "No decision" in _plain(campaign_status.decision_lines([], 80))


# --- campaigns with nothing to tell ------------------------------------------------------------


def _untouched(state: CampaignState) -> CampaignState:
    fresh = [
        replace(
            target,
            state=WAITING,
            detail="",
            epochs=0,
            inputs=0,
            seconds=0.0,
            share_of_time=0.0,
            risk=None,
            seconds_left=None,
            bugs=(),
            corpus=0,
        )
        for target in state.targets
    ]
    return replace(state, targets=tuple(fresh), bugs=(), events=(), seconds=0.0, epochs=0)


def test_a_campaign_that_has_just_begun() -> None:
    state = _untouched(example_state(8))
    assert len(frame(state, 80, 24)) == 2 + 1 + 2 + 8
    assert "no bugs yet" in frame(state, 80, 24)[1].plain
    summary = "\n".join(campaign_status.summary(state))
    assert "Found: no bugs" in summary
    assert "Time: none was spent on a target" in summary
    assert "risk not known yet" in summary


def test_a_campaign_without_a_budget() -> None:
    state = replace(example_state(8), budget=None)
    assert "1h12m, no budget" in frame(state, 80, 24)[0].plain
    assert campaign_status.status(state, 80)[0].plain.endswith("running for 1h12m")


def test_a_campaign_without_targets() -> None:
    state = replace(example_state(0), events=())
    assert "0 targets: none" in frame(state, 80, 24)[1].plain
    assert campaign_status.summary(state)[-1].startswith("Report:")
    assert "0 targets" in _plain(campaign_status.status(state, 80))


def test_the_picture_of_the_view_needs_no_network() -> None:
    path = Path(__file__).parents[1] / "tools" / "pictures.py"
    svg = runpy.run_path(str(path))["live_view"](example_state(8))
    addresses = re.findall(r"https?://[^\s\"'<]+", svg)
    assert set(addresses) <= {"http://www.w3.org/2000/svg", "https://www.textualize.io"}
    assert "url(" not in svg.replace("url(#", "")
    assert "yaml-parser" in svg
