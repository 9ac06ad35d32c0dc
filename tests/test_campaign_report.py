"""The report of a campaign: a page that opens offline, JSON and Markdown, careful in its words."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaign_states import HOSTILE, example_history, example_state
from fuzzwise.model import Observation
from fuzzwise.report.campaign import as_json as campaign_json
from fuzzwise.report.campaign import charts as campaign_charts
from fuzzwise.report.campaign import markdown as campaign_markdown
from fuzzwise.report.campaign import page as campaign_page
from fuzzwise.report.campaign import words as say
from fuzzwise.report.campaign.conclusions import Conclusion, conclusions
from fuzzwise.report.crash_files import read_within
from fuzzwise.report.crash_text import MOST_LINES, first_lines, report_text
from fuzzwise.report.hindsight import hindsight
from fuzzwise.store.contract import BugTime
from fuzzwise.store.states import BROKEN, RETIRED, CampaignState

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """A page taken apart; refuses tags that are not closed in order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def times_of(state: CampaignState) -> tuple[BugTime, ...]:
    own = {target.name: target for target in state.targets}
    return tuple(
        BugTime(name, bug.id, bug.at, bug.after_inputs, own[name].seconds * bug.at / state.seconds)
        for bug in state.bugs
        for name in bug.targets
    )


@functools.cache
def source(targets: int = 8, baseline: bool = False, **options: Any) -> str:
    state = example_state(targets, **options)
    new = {state.bugs[-1].id} if baseline else None
    return campaign_page.page(state, example_history(state), times_of(state), new)


def cards(state: CampaignState) -> dict[str, Conclusion]:
    return {conclusion.title: conclusion for conclusion in conclusions(state)}


# The page


def test_the_page_is_whole_and_needs_nothing_from_elsewhere() -> None:
    text = source(baseline=True)
    page = Page(text)
    assert not page.all("script")
    assert not page.all("link")
    for _, attributes in page.tags:
        assert "src" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    assert "http:" not in text.replace('http-equiv="Content', "")
    assert "https:" not in text
    assert set(re.findall(r"url\((.)", text)) <= {"#"}
    assert "@import" not in text


def test_every_id_is_there_once_and_every_link_leads_somewhere() -> None:
    page = Page(source(baseline=True))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [str(attributes["href"])[1:] for attributes in page.all("a")]
    assert len(links) > 10
    assert set(links) <= set(ids)
    named = [attributes.get("aria-labelledby") for _, attributes in page.tags]
    assert {name for name in named if name} <= set(ids)
    clips = re.findall(r"url\(#([^)]+)\)", source(baseline=True))
    assert clips
    assert set(clips) <= set(ids)


def test_the_page_can_be_read_by_those_who_do_not_see_it() -> None:
    page = Page(source())
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("h1")) == 1
    assert all(header["scope"] in ("col", "row") for header in page.all("th"))
    pictures = [a for _, a in page.tags if a.get("role") == "img" and a.get("title") is None]
    assert len(pictures) == 8, "7 targets with inputs, and the bugs over time"
    assert all(len(str(picture["aria-label"])) > 40 for picture in pictures)
    assert all(svg["aria-hidden"] == "true" and svg["viewbox"] for svg in page.all("svg"))


def test_what_a_target_wrote_is_shown_as_text_and_does_nothing() -> None:
    text = source()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert r"\x1b[31mred" in Page(text).text


def test_bugs_come_right_after_the_conclusions() -> None:
    ids = [str(a.get("id")) for tag, a in Page(source()).tags if tag == "section"]
    wanted = ["conclusions", "bugs", "targets", "risk", "time", "over-time", "events", "method"]
    assert ids == wanted


def test_bugs_have_their_stack_command_files_and_report(tmp_path: Path) -> None:
    state = example_state(3, folder=tmp_path, running=False)
    for bug in state.bugs:
        path = tmp_path / bug.report
        path.parent.mkdir(parents=True)
        path.write_text(f"\x1b[1mERROR\x1b[0m of <b>{bug.id}</b>\n" + "line\n" * 99)
    text = campaign_page.page(state, (), times_of(state))
    words = Page(text).text
    for bug in state.bugs:
        assert f"<pre><code>./{bug.target} crash-1</code></pre>" in text
        assert f"ERROR of &lt;b&gt;{bug.id}&lt;/b&gt;" in text
        assert bug.severity in words
        assert bug.inputs[0] in words
        assert f"{bug.file}:{bug.line}" in words
        assert bug.frames[-1] in words
    assert text.count("line\n") == len(state.bugs) * (MOST_LINES - 1)


def test_new_bugs_are_marked_and_come_first() -> None:
    state = example_state(8)
    new = say.bugs_worst_first(state.bugs)[-1].id
    order = [bug.id for bug in say.bugs_worst_first(state.bugs, {new})]
    assert order[0] == new
    assert order[1:] == [bug.id for bug in say.bugs_worst_first(state.bugs) if bug.id != new]
    assert source(baseline=True).count('<span class="chip new">new</span>') == 2
    assert 'class="chip new"' not in source()
    assert "8 bugs found, 1 of them new" in Page(source(baseline=True)).text


def degenerate() -> Iterator[tuple[str, CampaignState]]:
    yield "no targets", example_state(0)
    yield "one target", example_state(1, running=False)
    fresh = example_state(4, bugs_each=0)
    unused: dict[str, Any] = {"inputs": 0, "seconds": 0.0, "share_of_time": 0.0, "risk": None}
    unused |= {
        "state": "waiting",
        "seconds_left": None,
        "seconds_to_decision": None,
        "species": 0,
        "epochs": 0,
    }
    targets = tuple(replace(target, **unused) for target in fresh.targets)
    yield "no epoch", replace(fresh, targets=targets, events=(), epochs=0, seconds=0.0)
    yield "no bugs", example_state(3, bugs_each=0)
    yield "no accepted risk", replace(example_state(3, accepted_risk=None), budget=None)
    broken = tuple(replace(t, state=BROKEN, detail="It is gone.", bugs=()) for t in targets)
    yield "all broken", replace(fresh, targets=broken, epochs=0)


@pytest.mark.parametrize(("name", "state"), list(degenerate()))
def test_there_is_a_page_for_every_campaign(name: str, state: CampaignState) -> None:
    page = Page(campaign_page.page(state, example_history(state), times_of(state)))
    assert say.verdict(state) in page.text
    said = {
        "no targets": "The campaign has no targets.",
        "one target": "none of 1 target is known to be safe to stop",
        "no epoch": "it has not run a single input yet",
        "no bugs": "no proof that there are no bugs",
        "no accepted risk": "No accepted risk was given",
        "all broken": "4 targets cannot be fuzzed",
    }[name]
    assert said in page.text


def test_odd_numbers_in_a_history_are_drawn_or_left_out() -> None:
    state = example_state(2, hostile=False)
    first, second = example_history(state)
    unknown = np.full(len(first.risk), np.nan)
    odd = replace(first, risk=unknown, low=unknown, high=unknown)
    zero = replace(second, low=second.low * 0, high=second.high * np.inf)
    none = replace(second, inputs=second.inputs * 0)
    for history in ((odd, zero), (odd, none), (replace(first, low=unknown), none)):
        page = Page(campaign_page.page(state, history, ()))
        assert "NaN" not in str(page.all("path"))
        assert len(page.all("figure")) == 1 + sum(past is not none for past in history)


def test_a_hundred_targets_are_all_listed_and_the_riskiest_drawn() -> None:
    state = example_state(100)
    page = Page(source(100))
    assert len([a for a in page.all("th") if a["scope"] == "row"]) == 100 + len(state.bugs)
    assert len(page.all("svg")) == campaign_charts.MOST_TARGETS + 1
    assert "Shown are 12 of 100 targets" in page.text
    assert "Left out: 57 targets with the least time" in page.text
    assert len(source(100)) < 2_000_000


def test_charts_go_to_the_riskiest_first_and_to_the_retired_by_their_time() -> None:
    state = example_state(16)
    drawn = [target for target, _ in campaign_charts.chosen(state, example_history(state))]
    active = [target for target in drawn if target.state != RETIRED]
    retired = [target for target in drawn if target.state == RETIRED]
    assert drawn == active + retired
    assert len(active) == 10
    assert [t.risk.value for t in active if t.risk] == sorted(
        (t.risk.value for t in active if t.risk), reverse=True
    )
    assert [t.seconds for t in retired] == sorted((t.seconds for t in retired), reverse=True)
    assert min(t.seconds for t in retired) >= max(
        t.seconds for t in state.targets if t.state == RETIRED and t not in retired
    )


@pytest.mark.parametrize("module", ["altair", "vl_convert"])
def test_what_is_not_installed_is_named(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    state = example_state(1)
    words = Page(campaign_page.page(state, example_history(state), ())).text
    assert "Here would be charts" in words
    assert "pip install 'fuzzwise[lab]'" in words


# The words


def test_only_retired_targets_are_called_safe_with_confidence_and_meaning() -> None:
    state = example_state(8)
    safe, unsafe = cards(state)["Safe to stop"], cards(state)["Not safe to stop"]
    retired = {target.name for target in state.targets if target.state == RETIRED}
    assert {name for name, _ in safe.points} == retired
    assert {name for name, _ in unsafe.points} == {t.name for t in state.targets} - retired
    assert "With 95% confidence, for each of them" in safe.note
    assert "does not mean that they have no bugs" in safe.note
    assert dict(safe.points)["elf"].startswith("at most 8.3×10⁻⁶ for a new bug")
    assert "for a new bug" not in dict(safe.points)["zlib"], "its species are coverage"
    assert "a new bug at most" in dict(safe.points)["zlib"]
    assert "inputs alone" not in dict(safe.points)["elf"], "its risk is that of a bug"
    assert "1 bug to fix" in dict(safe.points)["zlib"]
    assert "no such file" in dict(unsafe.points)["regex"]
    assert "771 times the accepted 10⁻⁵; about" in dict(unsafe.points)["png"]


def test_nothing_is_safe_where_nothing_was_retired() -> None:
    state = example_state(8, accepted_risk=None)
    assert "No accepted risk was given" in cards(state)["Safe to stop"].sentence
    active = tuple(replace(t, state="waiting") for t in example_state(8).targets)
    state = replace(example_state(8), targets=active)
    assert "No target is below its accepted risk" in cards(state)["Safe to stop"].sentence
    assert "none of 8 targets is known to be safe" in say.verdict(state)
    assert cards(state)["Safe to stop"].points == ()


def test_time_goes_by_share_and_long_lists_are_cut() -> None:
    time = cards(example_state(100))["Where the time went"]
    names = [name for name, _ in time.points]
    by_time = sorted(example_state(100).targets, key=lambda t: -t.seconds)
    assert names == [*(t.name for t in by_time[:6]), "… and 81 more"]
    assert "30% on targets that are now retired" in time.sentence


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "–"), (0.25, "0.25"), (1e-5, "10⁻⁵"), (3.14e-12, "3.1×10⁻¹²"), (0.0, "0"), (1.0, "1")],
)
def test_probabilities_are_written_as_people_do(value: float | None, said: str) -> None:
    assert say.chance(value) == said


# The best schedule in hindsight


def test_hindsight_of_a_campaign_worked_out_by_hand() -> None:
    state = replace(example_state(2, bugs_each=0), seconds=100.0)
    one, two = state.targets
    state = replace(state, targets=(replace(one, seconds=120.0), replace(two, seconds=80.0)))
    times = [
        BugTime(one.name, "a", 10.0, 1, 25.0),
        BugTime(two.name, "b", 50.0, 1, 30.0),
        BugTime(two.name, "c", 60.0, 2, 31.0),
        BugTime(one.name, "d", 90.0, 9, 115.0),
    ]
    seen = hindsight(state, times)
    assert seen is not None
    assert seen.spent == 200.0
    assert seen.campaign.tolist() == [0.0, 25.0, 100.0, 120.0, 180.0]
    # Its own time shows that 25 s had been spent at the first bug, not 10 s on 2 cores.
    # At best: a alone; b and c, cheap together; then all three; then all.
    assert seen.best.tolist() == [0.0, 25.0, 31.0, 56.0, 146.0]
    assert seen.exact


@given(st.data())
def test_no_campaign_beats_the_best_schedule_in_hindsight(data: st.DataObject) -> None:
    state = example_state(4, bugs_each=0)
    names = [target.name for target in state.targets]
    rows = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from([*names, "gone"]),
                st.integers(0, 5),
                st.floats(0, 9000),
                st.floats(0, 5000),
            ),
            max_size=12,
            unique_by=lambda row: row[:2],
        )
    )
    times = [BugTime(name, str(bug), at, 1, own) for name, bug, at, own in rows]
    seen = hindsight(state, times)
    bugs = {time.bug for time in times if time.target != "gone"}
    assert (seen is None) == (not bugs)
    if seen is not None:
        assert len(seen.best) == len(seen.campaign) == len(bugs) + 1
        assert (seen.best <= seen.campaign + 1e-6).all()
        assert (np.diff(seen.campaign) >= 0).all()
        assert seen.campaign[-1] <= seen.spent


# Text of crash reports


def test_only_plain_files_of_the_campaign_are_read(tmp_path: Path) -> None:
    folder, secret = tmp_path / "campaign", tmp_path / "secret.txt"
    (folder / "a").mkdir(parents=True)
    secret.write_text("secret")
    (folder / "a" / "report.txt").write_text("\x1b[31mgood\x07\n" + "x" * 9999)
    (folder / "a" / "link.txt").symlink_to(secret)
    (folder / "outside").symlink_to(tmp_path)
    os.mkfifo(folder / "a" / "pipe.txt")
    assert first_lines(report_text(folder, "a/report.txt")) == "good\n" + "x" * 400
    for name in ("a/link.txt", "a/pipe.txt", "outside/secret.txt", "../secret.txt", str(secret)):
        assert report_text(folder, name) == ""
        assert read_within(folder, name, 9) is None
    for name in ("", "a", "missing.txt", "a/\x00"):
        assert report_text(folder, name) == ""
        assert read_within(folder, name, 9) is None


# Markdown


def rows_of(text: str) -> list[list[str]]:
    """The cells of all tables; a bar with a backslash is no border."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines]


def test_markdown_begins_with_the_verdict_and_its_tables_are_whole() -> None:
    state = example_state(8, running=False)
    text = campaign_markdown.summary(state, {state.bugs[0].id})
    assert text.splitlines()[2].startswith("**8 bugs found, 1 of them new; 2 of 8 targets are safe")
    assert "The budget of 2 h is used up." in text.splitlines()[2]
    rows = rows_of(text)
    assert [len(row) for row in rows] == [7] * 10 + [8] * 10
    assert [row[6].strip() for row in rows[2:10]] == ["**new**"] + ["known"] * 7
    assert "<" not in text
    assert "\x1b" not in text
    assert r"\|pipe\|" in text
    assert all(bug.id in text and bug.kind in text for bug in state.bugs)
    assert "no proof that there are no bugs" in text


def test_markdown_is_short_for_many_targets_and_for_none() -> None:
    text = campaign_markdown.summary(example_state(100))
    assert "… and 80 more targets" in text
    assert "… and 80 more bugs" in text
    assert len(rows_of(text)) == 2 * 22
    states = [row[1].strip() for row in rows_of(text)[24:]]
    assert states[:13] == [BROKEN] * 13
    assert not {BROKEN, RETIRED} & set(states[13:])
    empty = campaign_markdown.summary(example_state(0))
    assert "The campaign has no targets." in empty
    assert rows_of(empty) == []


def test_markdown_mentions_nobody_and_marks_nothing_up() -> None:
    said = campaign_markdown.text("@team #1 [a](b) `c` *d* _e_ ~f~ ![g] &amp; \\| \n# h")
    plain = re.sub(r"\\[\\`*_\[\]|~#@!]", "", said)
    assert not re.search(r"[`*_\[\]|~#@!\\]", plain)
    assert "&amp;amp;" in said
    assert "\n" not in said


# JSON


def test_json_has_the_keys_that_programs_rely_on() -> None:
    state = example_state(8, running=False)
    found = np.unique(np.geomspace(1, 90_000, 40).astype(np.int64))
    observation = Observation(n=100_000, seconds=50.0, species=300, discoveries=found)
    document: Any = campaign_json.document(state, {"png": observation})
    assert json.loads(json.dumps(document)) == document
    assert {"name", "folder", "running", "budget", "seconds", "cores", "scheduler"} <= set(document)
    assert {"epoch", "confidence", "epochs", "targets", "bugs", "events"} <= set(document)
    assert document["stopped"]["reason"] == "time-budget"
    assert HOSTILE not in json.dumps(document, ensure_ascii=False)
    assert "\\u001b" not in json.dumps(document)
    keys = {"inputs", "seconds", "inputs_per_second", "species", "discoveries", "corpus", "risk"}
    keys |= {"estimates", "inputs_left", "seconds_left", "bugs", "stopped", "name", "engine"}
    keys |= {"state", "share", "share_of_time", "accepted_risk", "crashes", "warnings"}
    targets = {target["name"]: target for target in document["targets"]}
    assert all(keys <= set(target) for target in targets.values())
    estimate = {"value", "low", "high", "confidence", "method", "n"}
    assert estimate <= set(targets["png"]["risk"])
    assert estimate <= set(targets["png"]["inputs_left"])
    assert estimate <= set(targets["png"]["estimates"]["recent-rate"])
    assert targets["json"]["estimates"] == {}
    assert targets["json"]["inputs_left"] is None
    stopped = {name: target["stopped"] for name, target in targets.items()}
    assert {name for name, why in stopped.items() if why} == {"zlib", "regex", "elf"}
    assert stopped["zlib"]["reason"] == "accepted-risk"
    for bug, row in zip(state.bugs, document["bugs"], strict=True):
        assert row["id"] == bug.id
        assert row["reproducer"] == bug.inputs[0]
        assert {"kind", "severity", "frames", "summary", "file", "line", "targets"} <= set(row)
        assert {"crashes", "inputs", "command", "at", "flaky"} <= set(row)


def test_json_of_a_campaign_that_runs_has_not_stopped() -> None:
    document = campaign_json.document(example_state(1), {"png": Observation(n=0)})
    assert document["stopped"] is None
    assert document["running"] is True
