"""SARIF: what its specification requires, and what readers of it rely on."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from campaign_states import example_state
from fuzzwise.errors import BadInput
from fuzzwise.report.sarif import (
    FINGERPRINT,
    GITHUB_FINGERPRINT,
    document,
    findings_of_campaign,
    findings_of_triage,
    save,
)
from fuzzwise.triage.crash import BugIdentity
from fuzzwise.triage.examine import Verdict
from fuzzwise.triage.grouping import Triage, TriagedBug
from fuzzwise.triage.inputs import CrashingInput


def bug(
    number: str, kind: str, severity: str, file: str = "", line: int | None = None, **more: Any
) -> TriagedBug:
    frames = more.get("frames", ("f", "g"))
    identity = BugIdentity(number, kind, severity, frames)
    inputs = tuple(
        CrashingInput(f"in/{number}-{n}\udcff", lambda: b"", ("./t", "@@")) for n in range(3)
    )
    verdict = Verdict("crash", identity, f"{kind} in f", file, line)
    return TriagedBug(identity, inputs, inputs[1], verdict, more.get("flaky", False))


BUGS = (
    bug("1", "SEGV", "write", "/src/a b.c", 7),
    bug("2", "SEGV", "null dereference", "src/ü.c", None, flaky=True),
    bug("3", "timeout", "resource", frames=()),
)
FINDINGS = findings_of_triage(Triage(BUGS, (), (), 9))


def results(*bugs: TriagedBug) -> list[dict[str, Any]]:
    found: Any = document(findings_of_triage(Triage(bugs, (), (), 9)))
    return list(found["runs"][0]["results"])


def test_what_the_specification_requires() -> None:
    found: Any = document(FINDINGS)
    assert found["version"] == "2.1.0"
    (run,) = found["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "fuzzwise"
    ids = [rule["id"] for rule in driver["rules"]]
    assert sorted(set(ids)) == ids, "rules are unique"
    for result in run["results"]:
        assert result["message"]["text"].endswith(".")
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["occurrenceCount"] >= 1
        assert all(isinstance(value, str) for value in result["fingerprints"].values())
        for stack in result["stacks"]:
            assert isinstance(stack["frames"], list)
        for location in result["locations"]:
            assert location["logicalLocations"]
            # GitHub refuses the whole file for one result without these.
            assert location["physicalLocation"]["artifactLocation"]["uri"]
            assert location["physicalLocation"]["region"]["startLine"] >= 1
        assert result["partialFingerprints"][GITHUB_FINGERPRINT]


def test_results_name_the_place_the_level_and_the_bug() -> None:
    first, second, third = results(*BUGS)
    assert [r["level"] for r in (first, second, third)] == ["error", "warning", "note"]
    assert [r["fingerprints"] for r in (first, second, third)] == [
        {FINGERPRINT: "1"},
        {FINGERPRINT: "2"},
        {FINGERPRINT: "3"},
    ]
    place = first["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "a%20b.c"}, "region": {"startLine": 7}}
    assert not urlsplit(place["artifactLocation"]["uri"]).scheme
    place = second["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "src/%C3%BC.c"}, "region": {"startLine": 1}}
    place = third["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "t"}, "region": {"startLine": 1}}, "the program"
    names = [r["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] for r in results(*BUGS)]
    assert names == ["f", "f", "t"]
    assert [len(r["stacks"][0]["frames"]) for r in (first, third)] == [2, 0]
    assert "3 inputs show it; the one to try is in/1-1\\udcff." in first["message"]["text"]
    assert second["message"]["text"].endswith("but not in every run.")
    assert second["properties"]["flaky"] is True
    assert first["properties"]["severity"] == "write"


def test_the_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "bugs.sarif"
    save(FINDINGS, path)
    assert json.loads(path.read_text()) == document(FINDINGS)
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(BadInput, match="cannot be written: No such file"):
        save(FINDINGS, tmp_path / "missing" / "bugs.sarif")
    with pytest.raises(BadInput, match="cannot be written"):
        save((), tmp_path)


HOSTILE = (
    "[open](https://evil.example/a) ![x](https://evil.example/b.png) \\[c](1) "
    "<a href='http://evil.example'>d</a> www.evil.example @admin #1 :shipit:"
)


def test_no_message_has_a_link_in_it() -> None:
    hostile = bug("1", HOSTILE, "write", "javascript:alert(1)", 3, frames=(HOSTILE,))
    inputs = (replace(hostile.reproducer, name=HOSTILE),)
    hostile = replace(hostile, inputs=inputs, reproducer=inputs[0])
    found: Any = document(findings_of_triage(Triage((hostile,), (), (), 1)))
    (run,) = found["runs"]
    (result,) = run["results"]
    messages = [
        result["message"]["text"],
        run["tool"]["driver"]["rules"][0]["shortDescription"]["text"],
    ]
    for text in messages:
        assert "evil" in text
        # SARIF §3.11.6: [text](id or address) is a link, in plain text too.
        assert not re.search(r"\]\(|\w://|www\.|@\w|#\d|:shipit:", text), text
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert not urlsplit(place).scheme, place


def test_no_bugs_are_a_document_as_well() -> None:
    assert results() == []


def test_the_bugs_of_a_campaign() -> None:
    state = example_state(8, bugs_each=3)
    found: Any = document(findings_of_campaign(state))
    results = found["runs"][0]["results"]
    assert [r["fingerprints"][FINGERPRINT] for r in results] == [bug.id for bug in state.bugs]
    assert [r["occurrenceCount"] for r in results] == [bug.crashes for bug in state.bugs]
    for bug, result in zip(state.bugs, results, strict=True):
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == (bug.file or bug.target)
        assert place["region"]["startLine"] == (bug.line or 1)
        assert result["properties"]["reproducer"] == bug.inputs[0]
        assert len(result["stacks"][0]["frames"]) == len(bug.frames)
    assert "\\u001b" not in json.dumps(found), "no escape codes of targets"
    assert "\\\\x1b[31mred" in json.dumps(found)
