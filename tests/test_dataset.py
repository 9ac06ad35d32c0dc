"""The recorded data set: whole, self-contained, and what its page says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from fuzzwise.lab.recording.load import read_recording
from fuzzwise.lab.recording.log import read_log
from fuzzwise.lab.recording.triaged import input_of

ROOT = Path(__file__).parents[1]
LOG = ROOT / "datasets" / "small-programs.fuzzlog"


@pytest.fixture(scope="module")
def recording():
    return read_recording([LOG])


def test_it_is_whole_and_as_large_as_the_page_says(recording):
    assert recording.warnings == ()
    page = (ROOT / "docs" / "dataset.md").read_text()
    assert f"of {len(recording.configurations)} configurations" in page
    assert len(recording.configurations) >= 24
    for log in recording.configurations:
        bugs = len(log.first_shown[0])
        assert re.search(rf"^\| {re.escape(log.name)} \|.*\| {bugs} \| \d+ \|", page, re.MULTILINE)


def test_every_configuration_was_fuzzed_for_the_whole_time(recording):
    header = read_log(LOG).header
    for log in recording.configurations:
        assert header.seconds <= log.seconds <= header.seconds + 2


def test_no_place_of_the_machine_that_recorded_it_is_in_it():
    for configuration in read_log(LOG).header.configurations:
        assert configuration.folder == ""
        assert configuration.command[0].startswith(("/usr/", "./"))


def test_the_inputs_of_the_examples_bugs_still_show_them(tmp_path):
    header = read_log(LOG).header
    by_name = {configuration.name: configuration for configuration in header.configurations}
    checked = 0
    for bug in header.bugs:
        name, _, run = bug.reproducer.rpartition("-")
        program = by_name[name].command[0]
        if not program.startswith("./") or bug.flaky:
            continue
        built = tmp_path / program[2:]
        if not built.exists():
            source = ROOT / "examples" / f"{built.name}.c"
            flags = ["-O1", "-g", "-fstack-protector-strong"]
            subprocess.run(["cc", *flags, "-o", built, source, "-lm"], check=True)
        data = tmp_path / f"input{by_name[name].suffix}"
        data.write_bytes(input_of(by_name[name], int(run)))
        done = subprocess.run([built, data], capture_output=True, check=False, cwd=tmp_path)
        assert done.returncode < 0, bug
        checked += 1
    assert checked >= 15
