"""One target built for libFuzzer and for AFL++: both really fuzz it, and give each other seeds."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from afl_target import TARGETS, fuzzers_of, inputs_of, need_afl
from commands import Started, fuzzwise
from fuzzwise.campaign.build import build_all
from fuzzwise.campaign.builds import Builds
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.sessions import open_session
from fuzzwise.engines.leftovers import end_all
from fuzzwise.engines.observer.state import State
from fuzzwise.triage.workers import Workers
from reading import state_so_far
from waiting import wait_until

DEEP = b"deep:abcdefgh"
"""A seed of one build; that it begins so, no mutation of the other finds within a test."""


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    need_afl()
    (tmp_path / "deep").write_bytes(DEEP)
    path = tmp_path / "two.toml"
    path.write_text(
        f"""[campaign]
budget = "1h"
cores = 1
epoch = "1s"
scheduler = "round-robin"
[[target]]
name = "gate"
[[target.build]]
sources = "{TARGETS / "gate.c"}"
corpus = "deep"
[[target.build]]
engine = "afl++"
sources = "{TARGETS / "gate.c"}"
"""
    )
    return path


def behind_the_gate(corpus: Path) -> set[str]:
    """Seeds that begin with the word; a shorter one may have taken the place of the given one."""
    return {path.name for path in corpus.iterdir() if path.read_bytes().startswith(b"deep:")}


def test_what_one_build_has_reaches_the_other_as_seeds(tmp_path: Path, campaign: Path) -> None:
    plan = read_plan(campaign)
    assert build_all(plan, lambda _: None) == {}
    (target,) = plan.targets
    home = plan.folder / "targets/gate"
    try:
        with Workers(1) as workers:
            session = open_session(plan, target, workers)
            assert isinstance(session, Builds)
            session.turn(0.5, 1)
            told = session.turn(0.5, 1)
            session.close()
    finally:
        end_all(tmp_path)
    libfuzzer, afl = told.builds
    assert libfuzzer.totals.observation.n > 0
    assert afl.totals.observation.n > 0
    # What libFuzzer kept is what AFL++ was given.
    given = {path.name for path in (home / "shared/gate-afl++").iterdir()}
    kept = {path.name for path in (home / "gate-libfuzzer/corpus").iterdir()}
    assert kept == given
    assert (libfuzzer.imported, afl.imported) == (0, len(given))
    # It shows something new to AFL++, and is no discovery of its own.
    assert behind_the_gate(home / "gate-afl++/corpus") & given
    head = State(home / "gate-afl++/state").head
    assert head.initial > 1
    assert head.initial + head.discoveries <= head.seeds  # AFL++ may keep what shows us nothing new
    found = afl.totals.observation.discoveries
    assert found is not None
    assert len(found) == head.discoveries


def run_until_more(campaign: Path, out: Path, before: list[int]) -> None:
    """Run the campaign until both builds have made more inputs than that; interrupt it."""
    with Started("run", campaign, "--quiet") as process:

        def went_on() -> bool:
            assert process.poll() is None, process.communicate()
            state = state_so_far(out)
            builds = state.targets[0].builds if state else ()
            made = [build.inputs for build in builds]
            return bool(made) and all(map(int.__gt__, made, before))

        wait_until(went_on, f"more inputs than {before}")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def test_a_killed_campaign_goes_on_with_the_counts_of_both(tmp_path: Path, campaign: Path) -> None:
    out = tmp_path / "two-out"
    homes = [out / "targets/gate" / name for name in ("gate-libfuzzer", "gate-afl++")]
    with Started("run", campaign, "--quiet") as process:
        wait_until(
            lambda: all(inputs_of(home) for home in homes), "inputs of both builds", by=process
        )
        process.kill()
        process.wait()
    wait_until(lambda: not fuzzers_of(out), "the end of all fuzzers")
    targets = []

    def is_all_told() -> bool:
        """A turn that ended too late is told by the next run."""
        run_until_more(campaign, out, [inputs_of(home) for home in homes])
        targets[:] = json.loads(fuzzwise("status", out, "--json").stdout)["targets"]
        told = [build["inputs"] for build in targets[0]["builds"]]
        return told == [inputs_of(home) for home in homes]

    wait_until(is_all_told, "the counts of both")
    (target,) = targets
    builds = target["builds"]
    assert [build["engine"] for build in builds] == ["libfuzzer", "afl++"]
    assert target["inputs"] == sum(build["inputs"] for build in builds)
    assert target["discoveries"] == sum(build["discoveries"] for build in builds)
    assert target["risk"]["value"] == max(build["risk"]["value"] for build in builds)
    assert not fuzzers_of(out)
