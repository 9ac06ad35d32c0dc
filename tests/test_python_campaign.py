"""Python targets beside others, in a campaign over many."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
from pathlib import Path

from commands import Started
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput
from fuzzwise.triage.workers import Workers
from observed_target import EXAMPLES
from python_targets import CALENDAR
from reading import read_state
from waiting import wait_until


def session_of(harness: Path, folder: Path) -> LibFuzzerSession:
    plan = TargetPlan("t", "python", (str(harness),))
    with Workers(1) as workers:
        session = engine_named("python").open_session(plan, folder, 1, workers)
    assert isinstance(session, LibFuzzerSession)
    return session


def test_a_campaign_of_a_python_and_a_c_target(tmp_path):
    (tmp_path / "mixed.toml").write_text(
        f"""
        [campaign]
        cores = 1
        epoch = "1s"
        [[target]]
        program = "{CALENDAR}"
        [[target]]
        sources = "{EXAMPLES / "bad.c"}"
        """
    )
    with Started("run", tmp_path / "mixed.toml", "--json", "--out", tmp_path / "out") as process:
        out = tmp_path / "out"
        wait_until(lambda: has_a_bug_of_python(out), "a bug, and inputs of both", by=process)
        process.send_signal(signal.SIGINT)
        told, errors = process.communicate()
    assert process.returncode == 130, errors
    found = json.loads(told)
    targets = {target["name"]: target for target in found["targets"]}
    assert set(targets) == {"calendar_rules", "bad"}
    assert all(target["inputs"] > 1_000 for target in targets.values())
    assert targets["calendar_rules"]["risk"]["value"] < 0.1
    bugs = [bug for bug in found["bugs"] if bug["target"] == "calendar_rules"]
    assert {bug["kind"] for bug in bugs} <= {"uncaught ValueError", "uncaught ZeroDivisionError"}
    assert bugs
    for bug in bugs:
        again = subprocess.run(
            shlex.split(bug["command"]),
            cwd=tmp_path / "out",
            capture_output=True,
            text=True,
            check=False,
        )
        assert again.returncode == 77
        assert bug["kind"].removeprefix("uncaught ") in again.stderr


def has_a_bug_of_python(folder: Path) -> bool:
    """Whether one is known, and both targets have been fuzzed enough to say something of them."""
    try:
        state = read_state(folder)
    except BadInput:  # not there yet
        return False
    risks = {target.name: target.risk for target in state.targets if target.inputs > 1_000}
    rules = risks.get("calendar_rules")
    bugs = [bug for bug in state.bugs if bug.target == "calendar_rules"]
    return bool(bugs) and "bad" in risks and rules is not None and rules.risk < 0.05


def test_turns_add_up_and_a_changed_module_begins_again(tmp_path):
    library = tmp_path / "library.py"
    library.write_text("def f(data):\n    return len(data) > 3 and data[0] == 7\n")
    harness = tmp_path / "harness.py"
    harness.write_text("import library\ndef TestOneInput(data):\n    library.f(data)\n")
    session = session_of(harness, tmp_path / "t")
    assert session.totals() is None
    first = session.turn(0.3, 1)
    second = session.turn(0.3, 1)
    assert second.generation == first.generation
    assert second.observation.n > first.observation.n > 0
    library.write_text("def f(data):\n    return len(data) > 4 and data[0] == 7\n")
    third = session.turn(0.3, 1)
    assert third.generation != second.generation
    assert any("built anew" in warning for warning in third.warnings)
    known = session_of(harness, tmp_path / "t").totals()
    assert known is not None
    assert known.observation.n == third.observation.n


def test_an_interrupted_turn_does_not_wait_for_a_harness_that_hangs_while_it_is_loaded(tmp_path):
    harness = tmp_path / "harness.py"
    harness.write_text("import time\ntime.sleep(1000)\ndef TestOneInput(data): pass\n")
    session = session_of(harness, tmp_path / "t")
    session.interrupt()
    totals = session.turn(1.0, 1)
    assert totals.observation.n == 0
