"""A campaign whose store is in PostgreSQL: run, killed, gone on with, and shown from anywhere."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import psycopg
import pytest

from campaign_files import EXAMPLES, Campaign, command_of, ended, interrupt, program
from commands import fuzzwise
from fuzzwise.errors import BadInput
from fuzzwise.serve.beside import Beside
from fuzzwise.store.address import read_address
from fuzzwise.store.places import open_reader
from fuzzwise.store.states import BugState, CampaignState
from fuzzwise.triage.processes import children
from serving import Serving
from waiting import wait_until

SECRET = "geheim"
RECORDS = (EXAMPLES / "seeds" / "records-full.rb").read_bytes()


@pytest.fixture
def campaign(database, tmp_path):
    """A campaign of one black box; the address in its file has a password."""
    home = tmp_path / "first"
    home.mkdir()
    url = database.replace("fuzz@", f"fuzz:{SECRET}@")
    settings = {"name": '"nightly"', "store": f'"{url}"', "epoch": '"200ms"', "cores": "1"}
    made = Campaign(home, settings)
    made.black_box("records", program("records.c"), RECORDS, "[target.mutation]", "ratio = 0.05")
    return made


def shown(*words, cwd: Path, code: int = 0):
    done = fuzzwise(*words, cwd=cwd)
    assert done.returncode == code, done.stderr
    assert SECRET not in done.stdout + done.stderr
    return done


def test_a_campaign_is_killed_goes_on_and_is_shown_from_elsewhere(campaign, database, tmp_path):
    address = f"{database}&campaign=nightly"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    process = campaign.start(600)
    wait_until(lambda: _inputs(address) > 0 and _bugs(address), "inputs and bugs", by=process)
    words = [command_of(each) for each in campaign.processes()]
    assert any(words)
    assert not [each for each in words if SECRET.encode() in each]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    killed = _inputs(address)
    process = campaign.start(600, "--json")
    wait_until(lambda: _inputs(address) > killed, "more inputs")
    ran = interrupt(process)
    document = json.loads(ran.out)
    assert SECRET not in ran.out + ran.errors
    (target,) = document["targets"]
    assert target["inputs"] >= killed
    assert "The campaign goes on." in [event["detail"] for event in document["events"]]
    assert not (campaign.folder / "campaign.db").exists()

    status = json.loads(shown("status", address, "--json", cwd=elsewhere).stdout)
    assert [t["inputs"] for t in status["targets"]] == [target["inputs"]]
    assert (status["store"], status["host"]) == (str(read_address(address)), None)
    by_file = json.loads(shown("status", campaign.file, "--json", cwd=elsewhere).stdout)
    assert by_file["targets"] == status["targets"]
    text = shown("status", campaign.file, cwd=elsewhere).stdout
    assert f"fuzzwise report '{read_address(address)}' -o report.html" in text
    told = shown("status", campaign.folder, cwd=elsewhere, code=2).stderr
    assert f"or its address: {read_address(address)}" in " ".join(told.split())
    _check_without_the_folder(campaign, address, elsewhere)


def test_who_is_taken_over_from_ends_with_all_it_started(campaign, database):
    address = f"{database}&campaign=nightly"
    process = campaign.start(600)
    wait_until(lambda: _inputs(address) > 0, "the first inputs", by=process)
    with psycopg.connect(database, autocommit=True) as connection:
        taken = "token = token + 1, holder = 'process 7 on another', until = now() + '1h'"
        connection.execute(f"UPDATE fuzzwise.campaigns SET {taken}")
    ran = ended(process).check(2)
    told = " ".join(ran.errors.split())
    assert "Another fuzzwise (process 7 on another) has taken over the campaign 'nightly'" in told
    campaign.wait_for_no_process()
    assert open_reader(read_address(address)).is_running()  # by the other


def _state(address: str) -> CampaignState | None:
    try:
        return open_reader(read_address(address)).state()
    except BadInput:  # not yet
        return None


def _inputs(address: str) -> int:
    state = _state(address)
    return sum(target.inputs for target in state.targets) if state else 0


def _bugs(address: str) -> tuple[BugState, ...]:
    state = _state(address)
    return state.bugs if state else ()


def _check_without_the_folder(campaign, address, elsewhere):
    """What is shown where the campaign's folder is not: everything but its files."""
    shown("triage", campaign.file, "--trust-command", "--json", cwd=elsewhere)
    shutil.move(campaign.folder, elsewhere / "kept")
    where = f"on {os.uname().nodename}, in {campaign.folder}"
    text = shown("status", address, cwd=elsewhere).stdout
    assert f"Inputs and reports of bugs are {where}" in text
    shown("report", address, cwd=elsewhere)
    page = (elsewhere / "report.html").read_text()
    assert f"The input and the report are {where}." in page
    assert SECRET not in page
    refused = shown("triage", campaign.file, "--trust-command", cwd=elsewhere, code=2).stderr
    assert f"the inputs of its bugs are {where}" in " ".join(refused.split())
    with Serving([read_address(address)]) as served:
        assert "records" in served.get("/c/nightly/").text
    with Beside(campaign.plan().store) as page:
        assert page.link.startswith("http://127.0.0.1:")
        words = [command_of(each) for each in children(os.getpid())]
        assert any(b"fuzzwise.serve.beside" in each for each in words)
        assert not [each for each in words if SECRET.encode() in each]
