"""Python targets in campaign files: what they may say, and what is wrong told with its remedy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fuzzwise.campaign.changes import glance, signature
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.places import bug_found
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.python.launch import launch
from fuzzwise.engines.python.probe import RUNNER
from fuzzwise.engines.registry import engine_named, likely_engine
from fuzzwise.errors import BadInput
from fuzzwise.triage.bug_book import Bug

HARNESS = "import library\ndef TestOneInput(data):\n    library.f(data)\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "harness.py").write_text(HARNESS)
    (tmp_path / "library.py").write_text("def f(data):\n    return len(data) > 3\n")
    (tmp_path / "other.py").write_text("print('no harness')\n")
    (tmp_path / "script").write_text(HARNESS)
    (tmp_path / "words.dict").write_text('"a"\n')
    (tmp_path / "a.c").touch()
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "one").write_text("one")
    bare = tmp_path / "python-bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    return tmp_path


def plan_of(home: Path, text: str) -> CampaignPlan:
    path = home / "nightly.toml"
    path.write_text(text)
    return read_plan(path, None)


def test_a_python_file_is_a_python_target(home):
    (target,) = plan_of(home, '[[target]]\nprogram = "harness.py"').targets
    assert (target.name, target.engine, target.settings.python) == ("harness", "python", None)
    assert target.command == (str(home / "harness.py"),)
    assert engine_named(target.engine).finds_coverage
    assert target.build is None
    assert likely_engine(target.program) == "python"
    assert likely_engine(home / "script") == "libfuzzer"


def test_everything_that_can_be_said_of_one(home):
    (target,) = plan_of(
        home,
        f"""
        [[target]]
        name = "rules"
        engine = "python"
        program = "harness.py"
        python = "{sys.executable}"
        corpus = "seeds"
        dictionary = "words.dict"
        options = "-use_value_profile=1"
        max_length = 64
        share = "high"
        accepted_risk = 1e-3
        [target.limits]
        time = "2s"
        memory_mib = 512
        """,
    ).targets
    assert (target.name, target.settings.python) == ("rules", sys.executable)
    assert target.settings.options == ("-use_value_profile=1",)
    assert (target.corpus, target.dictionary) == ((home / "seeds",), home / "words.dict")
    assert (target.settings.max_length, target.share, target.accepted_risk) == (64, "high", 1e-3)
    assert (target.settings.seconds, target.settings.memory_mib) == (2, 512)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('program = "none.py"', "program is 'none.py'; there is no such file"),
        ('program = "other.py"', "which is no Python file with a TestOneInput(data)"),
        ('engine = "python"\nprogram = "script"', "which is no Python file"),
        ('engine = "python"', "program is missing; expected the path of a Python file"),
        ('program = "harness.py"\nsources = "a.c"', "a Python harness is not built; remove it."),
        ('program = "harness.py"\nflags = "-O1"', "a Python harness is not built; remove it."),
        ('engine = "python"\nprogram = "harness.py"\ncommand = "x @@"', 'write program = "HARNESS'),
        ('program = "harness.py"\npython = "./no"', "python is './no', but there is no such file"),
        ('program = "harness.py"\npython = "./python-bare"', "-m pip install atheris"),
        ('program = "harness.py"\npython = 3', "python is 3; expected some text"),
        (
            'program = "harness.py"\n[target.mutation]\nratio = 0.1',
            "it is for targets of black-box",
        ),
        (
            'program = "harness.py"\n[target.limits]\nprocesses = 3',
            "it is for targets of black-box",
        ),
        ('sources = "a.c"\npython = "python3"', "it is for targets of python; remove it."),
        ('command = "cat @@"\ncorpus = "seeds"\npython = "python3"', "it is for targets of python"),
        ('engine = "pyton"\nprogram = "harness.py"', "did you mean 'python'?"),
    ],
)
def test_every_mistake_has_a_sentence(home, lines, problem):
    with pytest.raises(BadInput) as found:
        plan_of(home, f"[[target]]\n{lines}")
    assert problem in str(found.value)
    assert "target[1]." in str(found.value)


def test_the_command_for_a_bug_runs_the_harness_on_its_input(home):
    (target,) = plan_of(home, '[[target]]\nprogram = "harness.py"').targets
    bug = Bug("0" * 16, "uncaught KeyError", "exception", ("library.f",), 1, ("0/in put",), 5, 1.0)
    command = bug_found(home / "out", home / "out" / "targets" / "harness", target, bug).command
    path = home / "out" / "targets" / "harness" / "crashes" / "0" / "in put"
    assert command == f"{sys.executable} {RUNNER} {home / 'harness.py'} '{path}'"


def test_a_module_that_the_harness_imports_is_part_of_the_target(home, monkeypatch):
    # The files of a harness are remembered by its path, which is the same in another run of pytest.
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    plan = TargetPlan("t", "python", (str(home / "harness.py"),))
    alone, build = signature(plan), launch(plan.program).build
    before, seen = signature(plan), glance(plan)
    assert before != alone
    assert signature(plan) == before
    (home / "library.py").write_text("def f(data):\n    return len(data) > 5\n")
    assert glance(plan) != seen
    assert signature(plan) != before
    assert launch(plan.program).build != build
    (home / "unrelated.py").write_text("x = 1\n")
    assert signature(plan) == signature(plan) != before
