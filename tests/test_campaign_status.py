"""``status``, the summary and the decisions of a campaign, as text."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from campaign_states import example_state
from campaign_strategies import UNSAFE, campaigns, texts
from fuzzwise.report import short
from fuzzwise.report.campaign import status as campaign_status
from fuzzwise.report.campaign.frame import frame
from fuzzwise.store.states import (
    ALONE,
    BROKEN,
    RETIRED,
    WAITING,
    CampaignState,
    DecisionState,
    Stopped,
)


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


def _plain(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


def test_status_shows_all_targets_bugs_and_notes() -> None:
    state = example_state(100)
    lines = _plain(campaign_status.status(state, 80))
    said = " ".join(lines.split())
    for target in state.targets:
        assert re.search(rf"^\S +{re.escape(target.name)} ", lines, re.MULTILINE)
        assert target.state != BROKEN or f"{target.name} (broken): {target.detail}" in said
    for bug in state.bugs:
        assert f"{bug.id} {bug.severity}" in said
        assert bug.kind in said


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
    assert said in " ".join(_plain(campaign_status.status(state, 100)).split())


def _steps(state: CampaignState) -> list[str]:
    return [f"{what} {command}" for what, command in campaign_status.next_steps(state)]


def test_the_next_step_depends_on_how_it_stands() -> None:
    state = example_state(8, running=False)
    steps = _steps(state)
    worst = next(bug for bug in state.bugs if bug.severity == "write")
    assert worst.command in steps[0]
    flaky = replace(worst, flaky=True, command="seldom")
    others = tuple(bug for bug in state.bugs if bug != worst)
    assert "seldom" not in _steps(replace(state, bugs=(flaky, *others)))[0]
    assert "broken" in steps[1]
    assert "fuzzwise report campaign -o report.html" in steps[-1]
    fine = replace(state, bugs=(), targets=tuple(t for t in state.targets if t.state == RETIRED))
    done = replace(fine, stopped=Stopped("all-retired", ""))
    assert "Nothing is left" in _steps(done)[0]
    assert "fuzzwise run" in _steps(fine)[0]
    following = _steps(replace(state, running=True))
    assert "fuzzwise status campaign --follow" in following[0]


@pytest.mark.parametrize(
    ("scheduler", "reason", "how"),
    [
        ("risk-rate", "time-budget", "--time 1h, or with a larger budget in the file."),
        ("risk-rate", "interrupted", "fuzzwise run, with the file of the campaign."),
        (ALONE, "time-budget", "with the same target and folder, for another --time."),
        (ALONE, "input-budget", "a larger --inputs: those of the last call are used."),
    ],
)
def test_a_budget_that_is_used_says_how_there_is_more(scheduler, reason, how) -> None:
    state = replace(example_state(8, running=False), bugs=(), scheduler=scheduler)
    state = replace(
        state,
        stopped=Stopped(reason, "It is used."),
        targets=tuple(t for t in state.targets if t.state != BROKEN),
    )
    assert campaign_status.next_steps(state)[0][0].endswith(how)


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


@pytest.mark.parametrize(("accepted", "is_told"), [(1.0, True), (1e-9, False)])
def test_what_holds_back_a_risk_that_looks_low_enough(accepted: float, is_told: bool) -> None:
    state = example_state(4, running=False, hostile=False)
    made = [
        replace(target, state=WAITING, warnings=("no input makes a difference",))
        for target in state.targets
        if target.risk is not None
    ]
    held = tuple(replace(target, accepted_risk=accepted) for target in made)
    said = [
        line
        for line in campaign_status.summary(replace(state, targets=held))
        if re.match(r"  \S+: risk ", line)
    ]
    assert len(said) == len(made)
    assert all(line.endswith("; no input makes a difference") == is_told for line in said)


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
            seconds_to_decision=None,
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
    assert "has not run yet" in summary
    first = replace(state.targets[0], inputs=10)
    begun = replace(state, targets=(first, *state.targets[1:]))
    assert "risk not known yet" in "\n".join(campaign_status.summary(begun))


def test_a_campaign_without_a_budget() -> None:
    state = replace(example_state(8), budget=None)
    assert "1h12m, no budget" in frame(state, 80, 24)[0].plain
    assert campaign_status.status(state, None)[0].plain.endswith("running for 1h12m")


def test_a_campaign_without_targets() -> None:
    state = replace(example_state(0), events=())
    assert "0 targets: none" in frame(state, 80, 24)[1].plain
    assert campaign_status.summary(state)[-1].startswith("Report:")
    assert "0 targets" in _plain(campaign_status.status(state, 80))
