"""What the log says of a measurement that ends with its discoveries, and of their seeds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.libfuzzer.fuzzing import MEASURING
from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
from fuzzwise.engines.observer.state import State
from fuzzwise.errors import BadInput
from fuzzwise.snapshot import read
from observed_target import EXAMPLES, build, fuzz

FOUND = 5
MOST = 3000


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of a campaign of which the truth was measured until so many discoveries."""
    folder = tmp_path_factory.mktemp("measured")
    target = build(folder, EXAMPLES / "utf8.c")
    corpus = folder / "corpus"
    corpus.mkdir()
    (corpus / "seed").write_bytes(b"a")
    limits = {"FUZZWISE_MEASURE_FOUND": str(FOUND), "FUZZWISE_MEASURE_INPUTS": str(MOST)}
    done = fuzz(target, folder / "out", corpus, "--inputs", 3200, "--measure", **limits)
    assert done.returncode == 0, done.stderr
    return folder / "out" / "state"


def _lines(state: Path) -> list[str]:
    return (state / "observations.jsonl").read_text().splitlines()


def test_a_measurement_ends_with_its_discoveries_and_leaves_the_last_one_out(
    measured: Path,
) -> None:
    truths = [o.truth for o in read(measured / "observations.jsonl").campaigns[0].observations]
    assert all(truths)
    early = [truth for truth in truths if truth and truth.inputs != MOST]
    others = [truth for truth in truths if truth and truth.inputs == MOST]
    assert early
    assert all(truth.inputs is not None and truth.inputs < MOST for truth in early)
    assert all(truth.discoveries == FOUND - 1 for truth in early)
    assert all(truth.discoveries <= FOUND for truth in others), "the last input may be the last one"


def test_a_campaign_does_not_end_between_a_data_point_and_its_measurement(tmp_path: Path) -> None:
    target = build(tmp_path, EXAMPLES / "utf8.c")
    words = (target, tmp_path / "out", "--inputs", 100, "--measure")
    assert fuzz(*words).returncode == 0
    state = tmp_path / "out" / "state"
    before = len(_lines(state))
    head = State(state)
    assert not head.is_measuring
    head.head.next_point = 100  # as it is in that moment
    assert head.is_measuring
    plan = TargetPlan("utf8", "libfuzzer", (str(target),))
    told = LibFuzzerSession(plan, tmp_path / "out", 1).totals()
    assert told is not None
    assert told.doing == told.unsettled == MEASURING
    assert fuzz(*words).returncode == 0
    assert len(_lines(state)) == before + 1


def test_each_discovery_has_the_age_of_its_seed(measured: Path) -> None:
    """What was found before its seed had children of its own came from the first seeds alone."""
    last = read(measured / "observations.jsonl").campaigns[0].observations[-1]
    assert last.discoveries is not None
    assert last.ages is not None
    assert len(last.ages) == len(last.discoveries)
    seeds = State(measured).seeds()
    children = [record for record in seeds if int(record["found_at"]) > 0]
    made = {int(record["found_at"]): int(record["parent"]) for record in children}
    for number, age in zip(last.discoveries, last.ages, strict=True):
        parent = seeds[made[int(number)]]
        assert 0 <= age < int(parent["inputs"])
        assert age < int(number) - int(parent["found_at"])


def test_a_log_without_ages_is_read_as_before(measured: Path, tmp_path: Path) -> None:
    lines = _lines(measured)
    old = tmp_path / "old.jsonl"
    without = [
        {key: value for key, value in json.loads(line).items() if key != "ages"} for line in lines
    ]
    old.write_text("".join(json.dumps(line) + "\n" for line in without))
    assert all(o.ages is None for o in read(old).campaigns[0].observations)


def test_ages_that_belong_to_no_discovery_are_refused(measured: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in _lines(measured)]
    lines[1]["ages"] = [*lines[1]["ages"], 0]
    bad = tmp_path / "bad.jsonl"
    bad.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(BadInput, match="line 2: ages: needs one number for each"):
        read(bad)
