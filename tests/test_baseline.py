"""Only new bugs fail a build: files of known bugs, and the workflow in docs/ that uses one."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import click
import pytest

from campaign_states import example_state
from fuzzwise.campaign.baseline import new_bugs, read_baseline
from fuzzwise.cli import COMMANDS, load
from fuzzwise.errors import BadInput
from test_run import BUGGY_TARGET, fuzzwise, write_file, write_sources
from waiting import PATIENCE, wait_until

ONE, TWO = "0123456789abcdef", "fedcba9876543210"


def a_file(folder: Path, content: str | bytes) -> Path:
    path = folder / "known"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        f"{ONE}\n{TWO}\n",
        f"{ONE}",
        f"\ufeff{ONE}\r\n",
        f"# known since May\n\n  {ONE}   overflow in parse, issue 12\n",
        json.dumps({"bugs": [{"id": ONE, "kind": "abort"}, {"id": TWO}], "name": "x"}, indent=1),
        f'\n {{"bugs": [{{"id": "{ONE}"}}]}}',
    ],
)
def test_ids_are_read_from_lists_and_from_json(tmp_path: Path, content: str) -> None:
    expected = {ONE, TWO} if TWO in content else {ONE}
    assert read_baseline(a_file(tmp_path, content)) == expected


@pytest.mark.parametrize("content", ["", "\n# none yet\n", '{"bugs": []}'])
def test_there_may_be_no_known_bugs(tmp_path: Path, content: str) -> None:
    assert read_baseline(a_file(tmp_path, content)) == set()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{ONE}\nparse_header\n", "line 2: 'parse_header' is not the id of a bug"),
        (ONE.upper(), "line 1"),
        (ONE[:-1], "expected 16 digits"),
        ("{", "is not valid JSON"),
        ('{"bugs": 3}', "has no list of bugs with ids"),
        ('{"bugs": [{"kind": "abort"}]}', "fuzzwise status DIR --json"),
        ('{"bugs": [{"id": 3}]}', "has no list of bugs with ids"),
        ('{"bugs": [3]}', "has no list of bugs with ids"),
        ('{"targets": []}', "has no list of bugs with ids"),
        (b"\xff\xfe0", "is not a text file in UTF-8"),
    ],
)
def test_what_is_no_list_of_bugs_is_refused(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(BadInput, match="known") as raised:
        read_baseline(a_file(tmp_path, content))
    assert message in str(raised.value)


def test_a_file_that_is_missing_or_a_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(BadInput, match="cannot be read"):
            read_baseline(path)


def test_new_is_what_the_baseline_does_not_know() -> None:
    bug = example_state().bugs[0]
    bugs = [replace(bug, id=ONE), replace(bug, id=TWO)]
    assert new_bugs(bugs, set()) == {ONE, TWO}
    assert new_bugs(bugs, {ONE}) == {TWO}
    assert new_bugs(bugs, {ONE, TWO, "0" * 16}) == set()


# ── the workflow ─────────────────────────────────────────────────────────────────────────────────

WORKFLOW = Path(__file__).parents[1] / "docs" / "github-actions.yml"
STEP = re.compile(r"^      - (?=name|uses)", flags=re.MULTILINE)


def steps() -> list[str]:
    text = WORKFLOW.read_text()
    return STEP.split(re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE))[1:]


def script(step: str) -> str:
    """What a step runs: its lines after ``run: |``, which are indented more than the key."""
    found = re.search(r"^ {8}run: \|\n((?: {10}.*\n?|\n)+)", step, flags=re.MULTILINE)
    return textwrap.dedent(found[1]) if found else ""


def named(name: str) -> str:
    (found,) = [step for step in steps() if step.startswith(f"name: {name}\n")]
    return found


def calls() -> list[list[str]]:
    lines = [line.strip() for step in steps() for line in script(step).splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("fuzzwise ")]


def test_every_step_does_one_thing_with_spaces_only() -> None:
    assert "\t" not in WORKFLOW.read_text()
    assert len(steps()) == 9
    for step in steps():
        uses = re.findall(r"^(?: {8})?uses: [\w/-]+@v\d+$", step, flags=re.MULTILINE)
        assert bool(uses) != bool(script(step)), step


def test_its_commands_have_the_options_of_ours() -> None:
    assert [words[0] for words in calls()] == ["run", "report"]
    for name, *words in calls():
        assert name in COMMANDS
        ours = [word for word in words if word not in ("||", ">>", "status=$?")]
        ours = [word for word in ours if not word.startswith("$")]
        command = load(name)
        assert command.make_context(name, ours).params
        with pytest.raises(click.NoSuchOption):
            command.make_context(name, [*ours, "--no-such-option"])


def test_the_campaign_that_is_saved_is_the_one_that_is_restored() -> None:
    def cache(step: str) -> list[str]:
        return re.findall(r"^ {10}(?:path|key): (.*)", step, flags=re.MULTILINE)

    restored, saved = named("Restore the campaign"), named("Save the campaign")
    assert cache(restored) == cache(saved)
    assert cache(saved)[0] in [words[1] for words in calls() if words[0] == "report"]
    (prefix,) = re.findall(r"restore-keys: (.*)", restored)
    assert cache(saved)[1].startswith(prefix)


def run_step(name: str, home: Path) -> int:
    """A step as the service runs it: bash -e, with files for outputs and for the summary."""
    (home / "fuzzwise").write_text(f'#!/bin/sh\nexec {sys.executable} -m fuzzwise "$@"\n')
    (home / "fuzzwise").chmod(0o755)
    (home / "step.sh").write_text(script(named(name)).replace("--time 10m", "--time 2s"))
    done = subprocess.run(
        ["bash", "-e", "step.sh"],
        cwd=home,
        env=os.environ
        | {
            "PATH": f"{home}:{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(home / "output"),
            "GITHUB_STEP_SUMMARY": str(home / "summary"),
        },
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    return done.returncode


def fuzz_step(home: Path, code: int, told: str) -> None:
    """The step, as often as a busy machine needs to come to inputs within its two seconds."""

    def has_ended_so() -> bool:
        (home / "output").unlink(missing_ok=True)
        ended = run_step("Fuzz", home)
        assert (home / "output").read_text() in (told, "status=2\n", "status=11\n")
        return ended == code and (home / "output").read_text() == told

    wait_until(has_ended_so, told)


def test_its_scripts_fail_for_new_bugs_only_and_report_in_any_case(tmp_path: Path) -> None:
    write_sources(tmp_path)
    buggy = BUGGY_TARGET.replace('program = "buggy"', 'sources = "buggy.c"')
    write_file(tmp_path, 'accepted_risk = 1e-12\nepoch = "500ms"', buggy)
    known = tmp_path / "known-bugs.json"
    known.write_text('{"bugs": []}')
    fuzz_step(tmp_path, 10, "status=10\n")
    assert run_step("Report", tmp_path) == 0
    assert "1 bug found, 1 of them new" in (tmp_path / "summary").read_text()
    assert "open_header" in (tmp_path / "report.html").read_text()
    assert "open_header" in (tmp_path / "bugs.sarif").read_text()
    known.write_text(fuzzwise("status", tmp_path / "campaign-out", "--json", expected=0).stdout)
    fuzz_step(tmp_path, 0, "status=11\n")
