"""The example campaign: its buggy targets have the bugs they list, its clean ones have none."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fuzzwise.campaign.file import read_plan
from fuzzwise.engines.blackbox import Runner, Target, check
from fuzzwise.triage.examine import Limits, Verdict, absolute, examine
from observed_target import EXAMPLES, build, fuzz
from planted_harnesses import CLEAN, DEEPER, HARNESSES

PLAN = EXAMPLES / "campaign.toml"


def shown(program: Path, data: bytes) -> Verdict:
    return examine(absolute((str(program), "@@")), data, "input", Limits(20))


@pytest.mark.parametrize("harness", HARNESSES)
def test_every_planted_bug_is_shown_by_an_input_in_its_function(
    harness: str, tmp_path: Path
) -> None:
    program = build(tmp_path, EXAMPLES / f"{harness}.c", "-fsanitize=address")
    ids = {}
    for function, data in HARNESSES[harness].items():
        verdict = shown(program, data)
        assert verdict.bug is not None, function
        assert verdict.bug.frames[0] == function
        ids[function] = verdict.bug.id
    assert len(set(ids.values())) == len(ids), "two bugs look like one"
    for function, data in DEEPER.get(harness, {}).items():
        verdict = shown(program, data)
        assert verdict.bug is not None, function
        assert verdict.bug.id == ids[function], "one bug looks like two"


@pytest.mark.parametrize("harness", HARNESSES)
def test_the_bugs_that_an_example_lists_are_those_planted(harness: str) -> None:
    head = (EXAMPLES / f"{harness}.c").read_text().split("*/", 1)[0]
    assert set(re.findall(r"^ \*   \d+     (\w+) ", head, re.MULTILINE)) == set(HARNESSES[harness])


@pytest.mark.parametrize("harness", CLEAN)
def test_clean_harnesses_survive_100_000_inputs_with_both_sanitizers(
    harness: str, tmp_path: Path
) -> None:
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = build(tmp_path, EXAMPLES / f"{harness}.c", *flags)
    seeds = (EXAMPLES / "seeds").glob(f"{harness}-*")
    result = fuzz(program, tmp_path / "out", *seeds, "--inputs", "100k", "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["inputs"] >= 100_000
    assert document["species"] > 50
    assert document["bugs"] == []


@pytest.mark.parametrize("seed", ["table-prices.csv", "table-quotes.csv"])
def test_the_clean_program_survives_its_mutants(seed: str, tmp_path: Path) -> None:
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    program = tmp_path / "table"
    flags = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["clang", *flags, EXAMPLES / "table.c", "-o", program], check=True)
    target = Target((str(program), "@@"), (EXAMPLES / "seeds" / seed).read_bytes())
    assert check(target) == []
    with Runner(target, random_seed=1) as runner:
        events = list(runner.run(0, 1500))
    assert [event for event in events if event.kind != "mark"] == []
    assert events[-1].run == 1499


def test_the_example_campaign_is_valid_and_mixed() -> None:
    plan = read_plan(PLAN)
    assert (plan.budget, plan.cores) == (120, 2)
    assert len(plan.targets) >= 8
    assert {target.engine for target in plan.targets} == {"libfuzzer", "black-box"}
    names = {target.name for target in plan.targets}
    assert set(HARNESSES) | set(CLEAN) < names
    assert {target.share for target in plan.targets} == {"low", "medium", "high"}
    assert any(target.dictionary for target in plan.targets)
    assert all(target.accepted_risk for target in plan.targets)
