"""A campaign from the command line, end to end: real targets, real processes, all exit codes."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import commands
from blackbox_target import processes_with
from waiting import wait_until

TARGETS = {"clean", "buggy", "reader"}
ROOT = Path(__file__).parents[1]
FUZZWISE = (sys.executable, "-m", "fuzzwise")

HEAD = """
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
"""
CLEAN = """
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  volatile int seen = 0;
  if (size > 0 && data[0] > 99) seen = 1;
  if (size > 1 && data[1] > 99) seen = 2;
  return 0 * seen;
}
"""
BUGGY = """
__attribute__((noinline)) void open_header(int sign) { if (sign > 'y') abort(); }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 2 && data[0] == 'b' && data[1] == 'u') open_header(data[2]);
  return 0;
}
"""
ANOTHER_BUG = BUGGY.replace("open_header", "close_trailer")
READER = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void look_up(int letter) { if (letter == '!') abort(); }
int main(int count, char **words) {
  FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
  if (file == NULL) return 1;
  for (int letter; (letter = fgetc(file)) != EOF;) look_up(letter);
  fclose(file);
  return 0;
}
"""
BUGGY_TARGET = 'program = "buggy"\ncorpus = "near.txt"'
SEED = b"abcdefghijklmnopqrstuvwxyz" * 8
KEYS_OF_A_TARGET = {
    "inputs", "seconds", "inputs_per_second", "species", "discoveries", "corpus", "risk",
    "estimates", "inputs_left", "seconds_left", "bugs", "stopped",
}  # fmt: skip
KEYS_OF_AN_ESTIMATE = {"value", "low", "high", "confidence", "method", "n"}


def write_sources(home: Path) -> None:
    """A clean harness, two with one bug each, and a program with a bug; their seeds."""
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    home.mkdir(parents=True, exist_ok=True)
    for name, text in (("clean", CLEAN), ("buggy", BUGGY), ("another", ANOTHER_BUG)):
        (home / f"{name}.c").write_text(HEAD + text)
    (home / "reader.c").write_text(READER)
    (home / "letters.txt").write_bytes(SEED)
    (home / "near.txt").write_bytes(b"bu?")


def write_file(home: Path, settings: str, *targets: str, name: str = "campaign.toml") -> Path:
    """A campaign file with these lines and tables."""
    path = home / name
    tables = "".join(f"[[target]]\n{target}\n" for target in targets)
    path.write_text(f"[campaign]\n{settings}\n{tables}")
    return path


def fuzzwise(
    *words: object, cwd: Path | None = None, expected: int | None = None
) -> subprocess.CompletedProcess[str]:
    """A command as a process of its own; its output has no escape codes, it is in a pipe."""
    variables = os.environ | {"FORCE_COLOR": "", "COLUMNS": "80"}
    result = commands.fuzzwise(*words, cwd=cwd, env=variables)
    shown = shlex.join(map(str, words))
    assert "\x1b" not in result.stdout + result.stderr, shown
    assert "Traceback" not in result.stderr, result.stderr
    if expected is not None:
        assert result.returncode == expected, (shown, result.stdout, result.stderr)
    return result


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a campaign that has built its targets and retired them all.

    It is where the least is expected: the names of its folders are full of signs.
    """
    home = tmp_path_factory.mktemp("run") / "a b's ü$(x)"
    write_sources(home)
    path = write_file(
        home,
        'budget = "600s"\naccepted_risk = 0.02\nepoch = "500ms"',
        'sources = "clean.c"',
        'sources = "buggy.c"\ncorpus = "near.txt"\naccepted_risk = 0.01',
        'engine = "black-box"\nsources = "reader.c"\ncorpus = "letters.txt"',
    )
    result = fuzzwise("run", path, "--json", expected=0)
    (home / "run.json").write_text(result.stdout)
    return home


@pytest.fixture
def campaign(programs: Path, tmp_path: Path) -> Path:
    """A folder with the programs that were built, and no campaign yet."""
    for name in ("clean", "buggy"):
        shutil.copy(programs / "campaign-out" / "programs" / name, tmp_path)
    shutil.copy(programs / "near.txt", tmp_path)
    return tmp_path


def blocks(page: str, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page, flags=re.DOTALL)


def read_json(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    return document


def state_of(out: Path) -> dict[str, Any]:
    return read_json(fuzzwise("status", out, "--json", expected=0).stdout)


def test_it_ends_when_all_targets_are_retired_and_says_so(programs: Path) -> None:
    said = fuzzwise("run", programs / "campaign.toml", expected=0).stdout
    assert "The risk of 3 targets is as low as accepted." in said
    assert "Found: 2 bugs" in said
    retired = re.search(r"Retired, risk accepted: (.*)", said)
    assert retired is not None
    assert set(retired[1].split(", ")) == TARGETS


@pytest.mark.parametrize("command", ["run", "status", "report"])
def test_json_has_the_documented_keys_with_their_types(programs: Path, command: str) -> None:
    out = programs / "campaign-out"
    text = (
        (programs / "run.json").read_text()
        if command == "run"
        else fuzzwise(command, out, "--json", expected=0).stdout
    )
    document = read_json(text)
    assert document["stopped"]["reason"] == "all-retired"
    assert document["running"] is False
    assert {target["name"] for target in document["targets"]} == TARGETS
    for target in document["targets"]:
        assert target.keys() >= KEYS_OF_A_TARGET
        whole = ("inputs", "species", "discoveries", "corpus")
        assert all(type(target[key]) is int for key in whole)
        assert target["inputs"] > 0
        assert target["inputs_per_second"] == pytest.approx(target["inputs"] / target["seconds"])
        assert target["stopped"].keys() >= {"reason", "detail"}
        estimates = [target["risk"], target["inputs_left"], *target["estimates"].values()]
        assert all(estimate.keys() >= KEYS_OF_AN_ESTIMATE for estimate in estimates)
        assert target["risk"]["high"] < 0.02
        assert target["risk"] == target["estimates"]["recent-rate"]
    by_name = {target["name"]: target["bugs"] for target in document["targets"]}
    assert {name: len(bugs) for name, bugs in by_name.items()} == {
        "clean": 0,
        "buggy": 1,
        "reader": 1,
    }
    assert {bug["frames"][0] for bug in document["bugs"]} == {"open_header", "look_up"}
    keys = {"id", "kind", "severity", "frames", "inputs", "reproducer", "flaky"}
    for bug in document["bugs"]:
        assert bug.keys() >= keys
        assert (out / bug["reproducer"]).is_file()


def test_the_commands_that_are_shown_do_crash(programs: Path, tmp_path: Path) -> None:
    out = programs / "campaign-out"
    (worst,) = re.findall(r"See the worst bug crash: (.*)", fuzzwise("status", out).stdout)
    from_its_folder = [bug["command"] for bug in state_of(out)["bugs"]]
    assert not [command for command in from_its_folder if str(programs) in command]
    for command, place in [(worst, tmp_path), *((command, out) for command in from_its_folder)]:
        done = subprocess.run(["sh", "-c", command], cwd=place, capture_output=True, check=False)
        # libFuzzer ends with 77, what it does not watch over with SIGABRT.
        assert done.returncode in (77, 134, -signal.SIGABRT), (command, done.stderr)


def test_who_has_the_page_and_the_program_alone_sees_the_bug(
    programs: Path, tmp_path: Path
) -> None:
    out = programs / "campaign-out"
    page = tmp_path / "page.html"
    fuzzwise("report", out, "-o", page, expected=0)
    text = page.read_text()
    assert str(programs) not in text
    inputs = re.findall(r'<a download="([^"]+)" href="data:[^,]+,([^"]+)"', text)
    commands = re.findall(r"<pre><code>(.+)</code></pre>", text)
    assert len(inputs) == len(commands) == len(state_of(out)["bugs"])
    for bug in state_of(out)["bugs"]:
        program = out / shlex.split(bug["command"])[0]
        shutil.copy(program, tmp_path / program.name)
    for (name, data), command in zip(inputs, commands, strict=True):
        (tmp_path / name).write_bytes(base64.b64decode(data))
        words = shlex.split(html.unescape(command))
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode in (77, -signal.SIGABRT), (command, done.stderr)


def test_decisions_are_listed_with_their_reasons(programs: Path) -> None:
    out = programs / "campaign-out"
    text = fuzzwise("status", out, "--decisions", expected=0).stdout
    assert text.count("first turn") == 3
    found = read_json(
        fuzzwise("status", out, "--decisions", "--target", "buggy", "--last", 1, "--json").stdout
    )
    assert [decision["target"] for decision in found["decisions"]] == ["buggy"]
    wrong = fuzzwise("status", out, "--decisions", "--target", "bugy", expected=2)
    assert "has no target 'bugy'" in wrong.stderr


def test_the_report_is_a_page_a_summary_and_a_list_for_code_scanning(
    programs: Path, tmp_path: Path
) -> None:
    out = programs / "campaign-out"
    page, sarif, markdown = tmp_path / "p.html", tmp_path / "b.sarif", tmp_path / "s.md"
    fuzzwise("report", out, "-o", page, "--sarif", sarif, "--markdown", markdown, expected=0)
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "open_header" in text
    # Names of XML dialects are addresses that nobody calls.
    outside = re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//|url\((?!#)|@import""", outside)
    results = read_json(sarif.read_text())["runs"][0]["results"]
    assert len(results) == 2
    assert markdown.read_text().count("\n| ") >= 2 + 2 + 3
    assert fuzzwise("report", out, "--markdown", "-").stdout == markdown.read_text()
    assert not (out / "report.html").exists()
    fuzzwise("report", out, expected=0)
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    (out / "report.html").unlink()


def test_bugs_fail_the_build_unless_they_are_known(campaign: Path, programs: Path) -> None:
    settings = 'epoch = "500ms"\naccepted_risk = 1e-3'  # far below that of the bug
    path = write_file(campaign, settings, BUGGY_TARGET)
    again = ("run", path, "--fail-on-bug", "--baseline", "known.json", "--time", "600s")
    out = campaign / "campaign-out"
    fuzzwise("run", path, "--fail-on-bug", "--time", "600s", expected=10)
    known = fuzzwise("status", out, "--json", expected=0).stdout
    (campaign / "known.json").write_text(known)
    result = fuzzwise(*again, cwd=campaign, expected=0)
    assert "Found: 1 bug, 0 of them new" in result.stdout
    shutil.copy(programs / "another.c", campaign)
    another = 'sources = "another.c"\ncorpus = "near.txt"'
    write_file(campaign, settings, BUGGY_TARGET, another)
    result = fuzzwise(*again, cwd=campaign, expected=10)
    assert "Found: 2 bugs, 1 of them new" in result.stdout
    assert "close_trailer" in result.stdout
    assert "open_header" not in result.stdout
    listed = campaign / "known.txt"
    listed.write_text(f"# of last year\n{read_json(known)['bugs'][0]['id']} open_header\n")
    report = read_json(fuzzwise("report", out, "--json", "--baseline", listed, expected=0).stdout)
    new = [bug["id"] for bug in report["bugs"] if bug["frames"][0] == "close_trailer"]
    assert report["new_bugs"] == new


def test_a_budget_that_ends_above_the_accepted_risk_is_no_success(campaign: Path) -> None:
    path = write_file(campaign, "accepted_risk = 1e-12", 'program = "clean"')
    document = read_json(run_for(path, "--json").stdout)
    assert document["stopped"]["reason"] == "time-budget"
    (target,) = document["targets"]
    assert target["stopped"] is None
    assert target["seconds_left"] is None or target["seconds_left"]["value"] is None, "too far off"


def run_for(path: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """A second of a campaign that accepts hardly any risk; more, where nothing ran in that."""
    seconds = 1
    while (
        "No target ran an input."
        in (result := fuzzwise("run", path, "--time", f"{seconds}s", *words)).stderr
    ):
        seconds *= 2
    assert result.returncode == 11, result.stderr
    return result


def test_every_mistake_in_the_file_is_told_before_anything_starts(tmp_path: Path) -> None:
    path = write_file(tmp_path, 'budget = "soon"\nacepted_risk = 0.1', 'sources = "none.c"')
    result = fuzzwise("run", path, expected=2)
    assert "3 mistakes; nothing was started" in result.stderr
    for words in ("campaign.budget is 'soon'", "did you mean 'accepted_risk'", "'none.c'"):
        assert words in result.stderr
    assert sorted(tmp_path.iterdir()) == [path]


def test_the_campaign_and_the_commands_of_the_pages_work(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    campaigns, ci = ((ROOT / "docs" / name).read_text() for name in ("campaigns.md", "ci.md"))
    settings = blocks(campaigns, "toml")[0]
    assert settings.count('"2m"') == 1
    (tmp_path / "small.toml").write_text(settings.replace('"2m"', '"20m"'))  # on a busy machine
    (tmp_path / "fuzzwise").write_text(f'#!/bin/sh\nexec {sys.executable} -m fuzzwise "$@"\n')
    (tmp_path / "fuzzwise").chmod(0o755)
    script = blocks(campaigns, "sh")[0] + blocks(ci, "sh")[0]
    assert script.count("fuzzwise ") == 6
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Retired, risk accepted: " in done.stdout
    assert (tmp_path / "report.html").is_file()
    assert read_json((tmp_path / "known-bugs.json").read_text())["targets"]


def test_every_key_of_the_file_is_documented(tmp_path: Path) -> None:
    """The keys are those that the message about an unknown one lists."""
    (tmp_path / "a.c").write_text("int a;")
    (tmp_path / "seed").write_text("a")
    limits = "[target.limits]\nzzz = 1\n[target.mutation]\nzzz = 1"
    path = write_file(
        tmp_path,
        "zzz = 1",
        'sources = "a.c"\nzzz = 1\n[target.limits]\nzzz = 1',
        f'engine = "black-box"\ncorpus = "seed"\nsources = "a.c"\nzzz = 1\n{limits}',
    )
    said = fuzzwise("run", path, expected=2).stderr
    lists = re.findall(r"zzz is not a known key; known: (.*)\.", said)
    assert len(lists) == 6
    page = (ROOT / "docs" / "campaigns.md").read_text()
    keys = {key for found in lists for key in found.split(", ")} - {
        "limits",
        "mutation",
        "environment",
    }
    assert {key for key in keys if f"`{key}`" not in page} == set()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "none.toml"), "cannot be read"),
        (("run", "campaign.toml", "--time", "soon"), "is not a duration"),
        (("run", "campaign.toml", "--baseline", "none.json"), "the baseline cannot be read"),
        (("status", "none"), "there is no such file or folder"),
        (("report", "none"), "there is no such file or folder"),
    ],
)
def test_bad_usage_gets_a_sentence(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "a.c").write_text("int a;")
    write_file(tmp_path, "", 'sources = "a.c"')
    result = fuzzwise(*words, cwd=tmp_path, expected=2)
    assert message in result.stderr
    assert not (tmp_path / "campaign-out").exists()


def test_a_target_that_cannot_be_fuzzed_is_no_success(campaign: Path) -> None:
    (campaign / "torn.c").write_text("int LLVMFuzzer(")
    path = write_file(campaign, "", 'sources = "torn.c"')
    alone = fuzzwise("run", path, "--json", expected=2)
    assert read_json(alone.stdout)["stopped"]["reason"] == "nothing-to-fuzz"
    settings = 'epoch = "500ms"\naccepted_risk = 0.02'
    write_file(campaign, settings, 'sources = "torn.c"', 'program = "clean"')
    beside = fuzzwise("run", path, "--time", "600s", expected=2)
    assert "Broken, not fuzzed:\n  torn: torn could not be built: " in beside.stdout
    assert beside.stderr.count("torn could not be built") <= 1
    by_name = {t["name"]: t for t in state_of(campaign / "campaign-out")["targets"]}
    assert by_name["clean"]["inputs"] > 0


def test_the_same_command_goes_on_with_counts_and_budget(campaign: Path) -> None:
    settings = 'budget = "1s"\nepoch = "500ms"\naccepted_risk = 1e-12'
    path = write_file(campaign, settings, 'program = "clean"')
    out = campaign / "campaign-out"
    run_for(path)
    first = state_of(out)
    assert first["seconds"] >= 1
    fuzzwise("run", path, expected=2)  # the budget is used: nothing is done, and that is no success
    second = state_of(out)
    assert second["epochs"] == first["epochs"]
    assert second["targets"][0]["inputs"] == first["targets"][0]["inputs"]
    run_for(path)
    third = state_of(out)
    assert third["seconds"] >= second["seconds"] + 1
    assert third["epochs"] > first["epochs"]
    assert third["targets"][0]["inputs"] > first["targets"][0]["inputs"]
    assert third["targets"][0]["seconds"] > first["targets"][0]["seconds"]
    assert "resumed" in [event["kind"] for event in third["events"]]


def test_others_watch_it_nobody_runs_it_twice_and_an_interrupt_keeps_everything(
    campaign: Path,
) -> None:
    path = write_file(
        campaign, 'epoch = "500ms"\naccepted_risk = 1e-12', 'program = "clean"', BUGGY_TARGET
    )
    out = campaign / "campaign-out"
    running = subprocess.Popen(
        [*FUZZWISE, "run", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        state: dict[str, Any] = {"targets": [], "bugs": []}
        while not (state["bugs"] and all(t["inputs"] for t in state["targets"])):
            assert running.poll() is None, running.stderr and running.stderr.read()
            time.sleep(0.2)
            result = fuzzwise("status", out, "--json")
            state = read_json(result.stdout) if result.returncode == 0 else state
        assert state["running"] is True
        assert state["stopped"] is None
        assert "running for" in fuzzwise("status", out, expected=0).stdout
        fuzzwise("report", out, "--markdown", "-", expected=0)
        refused = fuzzwise("run", path, expected=2)
        assert f"another fuzzwise (process {running.pid}) runs this campaign" in refused.stderr
        running.send_signal(signal.SIGINT)
        said, log = running.communicate(timeout=600)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 130
    assert "interrupted after" in said
    assert "\x1b" not in said + log
    kept = state_of(out)
    assert kept["stopped"]["reason"] == "interrupted"
    assert len(kept["bugs"]) == 1
    for before, after in zip(state["targets"], kept["targets"], strict=True):
        assert after["inputs"] >= before["inputs"]
    wait_until(lambda: not processes_with(str(campaign)), "the end of what it has started")
