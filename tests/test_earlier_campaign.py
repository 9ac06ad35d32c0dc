"""A campaign that the version before the second schema has left goes on, and can be read before.

``data/earlier`` is what it wrote: the tables as SQL, and the folders of two of its targets.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import inspect

from commands import fuzzwise
from fuzzwise.engines.contract import TargetPlan
from fuzzwise.engines.registry import engine_named
from fuzzwise.store.places import open_reader, open_store
from fuzzwise.store.sql.migrations import STEPS, version_of
from fuzzwise.store.sql.schema import metadata
from fuzzwise.store.sqlite import FILE, open_for_reading
from fuzzwise.store.states import RETIRED
from fuzzwise.triage.bug_book import BugBook
from fuzzwise.triage.workers import Workers
from observed_target import EXAMPLES, build

EARLIER = Path(__file__).parent / "data" / "earlier"
TIMEOUT = "3944167039d90a8a"
"""The id that the campaign gave to a timeout, which had another in the folder of its target."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "out"
    shutil.copytree(EARLIER / "targets", out / "targets")
    with sqlite3.connect(out / FILE) as connection:
        connection.executescript((EARLIER / "campaign.sql").read_text())
    connection.close()
    return out


def test_it_can_be_read_and_stays_as_it_was(folder: Path) -> None:
    before = (folder / FILE).read_bytes()
    reader = open_reader(folder)
    state = reader.state()
    assert [target.name for target in state.targets] == ["bad", "hang", "records"]
    assert len(state.bugs) == 13
    assert {target.name: target.state for target in state.targets}["bad"] == RETIRED
    records = next(target for target in state.targets if target.name == "records")
    assert records.inputs == 3950
    assert records.risk is not None
    assert records.seconds_left is not None
    assert records.seconds_to_decision == records.seconds_left.value
    assert all(bug.flaky is None for bug in state.bugs)  # it did not say who had been checked
    assert len(reader.history()) == 3
    assert reader.observations()["records"].n == 3950
    assert len(reader.bug_times()) == 13
    assert (folder / FILE).read_bytes() == before


def test_to_go_on_brings_its_store_up_to_date(folder: Path) -> None:
    with open_store(folder) as store:
        memory = store.memory()
        assert memory["records"].inputs == 3950
        assert memory["records"].discovery_rate > 0
    with open_for_reading(folder / FILE) as connection:
        assert version_of(connection) == len(STEPS)
        for table in metadata.sorted_tables:
            columns = {column["name"] for column in inspect(connection).get_columns(table.name)}
            assert columns == set(table.c.keys())


def test_its_targets_know_what_they_knew_and_bugs_have_one_id(folder: Path) -> None:
    state = open_reader(folder).state()
    with Workers(1) as workers:
        plan = TargetPlan("records", "black-box", ("/programs/records",))
        home = folder / "targets" / "records"
        records = engine_named(plan.engine).open_session(plan, home, 1, workers).totals()
        ids = {bug.id for bug in state.bugs if bug.target == "records"}
        assert records.observation.n == 3950
        assert {bug.id for bug in records.bugs} == ids
    crashes = folder / "targets" / "hang" / "crashes"
    assert list(BugBook(crashes, "hang").bugs) == [TIMEOUT]
    (home,) = crashes.iterdir()
    assert home.name == TIMEOUT
    assert TIMEOUT in {bug.id for bug in state.bugs}
    assert sorted(path.name.split("-")[0] for path in home.iterdir()) == [
        "bug.json",
        "report.txt",
        "timeout",
    ]


def test_it_goes_on(tmp_path: Path, folder: Path) -> None:
    build(tmp_path, EXAMPLES / "bad.c")
    shutil.copytree(EXAMPLES / "seeds", tmp_path / "seeds")
    shutil.copy(EXAMPLES / "records.c", tmp_path)
    (tmp_path / "campaign.toml").write_text(
        "[campaign]\nout = 'out'\nepoch = '500ms'\naccepted_risk = 1e-3\n"
        "[[target]]\nname = 'bad'\nprogram = 'bad'\n"
        "[[target]]\nname = 'records'\nengine = 'black-box'\nsources = 'records.c'\n"
        "corpus = 'seeds/records-full.rb'\n[target.mutation]\nratio = [0.001, 0.05]\n"
    )
    before = {target.name: target.inputs for target in open_reader(folder).state().targets}
    result = fuzzwise("run", tmp_path / "campaign.toml", "--time", "4s")
    assert result.returncode in (0, 11), result.stderr
    state = open_reader(folder).state()
    assert [target.name for target in state.targets] == ["bad", "records"]
    for target in state.targets:
        assert target.inputs > before[target.name]
    assert "resumed" in [event.kind for event in state.events]
    assert len(state.bugs) >= 12  # all but the one of the target that is no longer in the file
