"""Targets of every engine on a fleet: their programs travel, and what they count is stored."""

from __future__ import annotations

import shutil
from pathlib import Path

import afl_target
import blackbox_target
import observed_target
import stock_target
from commands import Started
from fleet_commands import ended, fleet, recount
from fuzzwise.campaign.file import read_plan
from fuzzwise.errors import BadInput
from fuzzwise.store.places import open_reader
from fuzzwise.testing.traces import processes_in
from python_targets import CALENDAR
from waiting import wait_until


def campaign(folder: Path) -> Path:
    """A target of each engine that travels as a program or a script."""
    seed = folder / "seed"
    seed.write_text("aB and something else, 0123456789\n")
    stock = stock_target.build(folder, observed_target.EXAMPLES / "url.c", name="stock-url")
    box = blackbox_target.build("parser")
    lines = ["[campaign]", 'epoch = "1s"', 'out = "out"']
    lines += ["[[target]]", 'name = "stock"', f'program = "{stock}"']
    lines += ["[[target]]", 'name = "python"', 'engine = "python"', f'program = "{CALENDAR}"']
    lines += ["[[target]]", 'name = "box"', f'command = "{box} @@"', f'corpus = "{seed}"']
    if shutil.which("afl-fuzz") and shutil.which("afl-clang-fast"):
        reader = afl_target.build(afl_target.TARGETS / "afl_parser.c")
        lines += ["[[target]]", 'name = "afl"', 'engine = "afl++"']
        lines += [f'command = "{reader} @@"', f'corpus = "{seed}"']
    path = folder / "out.toml"
    path.write_text("\n".join(lines))
    return path


def have_all_run(folder: Path) -> bool:
    """Whether each target has had inputs."""
    try:
        return all(target.inputs for target in open_reader(folder).state().targets)
    except BadInput:  # there is no store yet
        return False


def test_targets_of_every_engine_run_on_a_fleet(tmp_path):
    file, work = campaign(tmp_path), tmp_path / "work"
    plan = read_plan(file)
    assert {target.engine for target in plan.targets} >= {"stock", "python", "black-box"}
    words = ("local", "--workers", 1, "--port", 0, "--work", work)
    with fleet(*words) as address, ended(Started("run", file, "--fleet", address, "--quiet")):
        wait_until(lambda: have_all_run(plan.folder), "inputs of all targets")
    counts = recount(plan, f"file://{plan.folder / 'fleet'}", tmp_path / "recount")
    assert all(store == stored > 0 for store, stored in counts.values()), counts
    wait_until(lambda: not processes_in(work), "the end of all processes")
