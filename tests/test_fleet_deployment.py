"""The files that start a fleet: they can be read, and their commands are fuzzwise's."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from fuzzwise.cli import _HELP

FLEET = Path(__file__).parents[1] / "examples" / "fleet"
UNITS = sorted((FLEET / "systemd").glob("*.service"))


def started(text: str) -> list[list[str]]:
    """The commands of fuzzwise in a script for the shell."""
    lines = text.replace("\\\n", " ").splitlines()
    values = {"$port": "8786", "$SLURM_CPUS_PER_TASK": "8"}
    found = []
    for line in lines:
        words = [values.get(word, word) for word in shlex.split(line, comments=True)]
        if "fuzzwise" in words:
            found.append([word for word in words[words.index("fuzzwise") + 1 :] if word != "&"])
    return found


def commands_of(path: Path) -> list[list[str]]:
    text = path.read_text()
    if path.suffix == ".sh":
        return started(text)
    if path.suffix == ".service":
        return [shlex.split(line)[1:] for line in re.findall(r"^ExecStart=(.*)$", text, re.M)]
    documents = list(yaml.safe_load_all(text))
    if path.name == "compose.yaml":
        services = documents[0]["services"].values()
        return [service["command"] for service in services if "command" in service]
    pods = [each["spec"]["template"] for each in documents if "template" in each["spec"]]
    return [container["args"] for pod in pods for container in pod["spec"]["containers"]]


FILES = [*UNITS, FLEET / "compose.yaml", FLEET / "kubernetes.yaml", FLEET / "slurm.sh"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_command_is_one_that_fuzzwise_takes(path):
    for name, *words in commands_of(path):
        command = import_module(f"fuzzwise.cli.{name}").command
        if hasattr(command, "commands"):
            command, words = command.commands[words[0]], words[1:]
        # It parses them, and does nothing else; what it keeps of its help is as main has it.
        command.make_context(name, words, help_option_names=_HELP)


def test_all_three_parts_are_started_everywhere():
    one_each = [["fleet", "scheduler"], ["run"], ["worker"]]
    groups = [UNITS, *([path] for path in FILES[len(UNITS) :])]
    for group in groups:
        words = [each for path in group for each in commands_of(path)]
        parts = [each[:2] if each[0] == "fleet" else each[:1] for each in words]
        assert sorted(parts) == one_each, group


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_has_nothing_to_say_about_the_units(tmp_path):
    for unit in UNITS:
        program = shutil.which("true") or "/bin/true"
        text = unit.read_text().replace("/opt/fuzzwise/bin/fuzzwise", program)
        (tmp_path / unit.name).write_text(text)
    files = [str(tmp_path / unit.name) for unit in UNITS]
    said = subprocess.run(
        ["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False
    )
    assert not [line for line in said.stderr.splitlines() if "fuzzwise" in line]


def test_the_script_is_one():
    subprocess.run(["bash", "-n", FLEET / "slurm.sh"], check=True)
