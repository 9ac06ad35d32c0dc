"""Campaigns on fleets of real processes: as on one machine, whoever comes, goes or is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import observed_target
from commands import Started, fuzzwise
from fleet_commands import ended, fleet, kill, recount, said, wait_for_more
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.fleet.certificates import make_certificates
from fuzzwise.store.places import open_reader
from fuzzwise.store.states import BROKEN
from fuzzwise.testing.traces import processes_in
from waiting import wait_until

CRASHING = """
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size && (data[0] == 'b' || data[0] == 'q')) abort();
  return size > 1 && data[1] == 'c' ? data[0] == 'd' : 0;
}
"""


def campaign(folder: Path, out: str = "out", *lines: str) -> Path:
    """Three small targets, of which one crashes as soon as it is fuzzed."""
    crashing = folder / "crashing.c"
    crashing.write_text(CRASHING)
    sources = (crashing, *(observed_target.EXAMPLES / name for name in ("ini.c", "url.c")))
    text = ["[campaign]", 'epoch = "300ms"', f'out = "{out}"', *lines]
    for source in sources:
        program = observed_target.build(folder, source)
        text += ["[[target]]", f'name = "{source.stem}"', f'program = "{program}"']
    path = folder / f"{out}.toml"
    path.write_text("\n".join(text))
    return path


def ran(result: subprocess.CompletedProcess[str]) -> tuple[object, ...]:
    """What a run that ended by itself shows, whatever its numbers are."""
    document = json.loads(result.stdout)
    targets = [(t["name"], t["state"], t["bugs"]) for t in document["targets"]]
    bugs = [(bug["id"], bug["kind"], bug["frames"]) for bug in document["bugs"]]
    return result.returncode, document["stopped"]["reason"], targets, bugs


def test_two_machines_show_what_one_does_and_a_campaign_comes_home(tmp_path):
    accepted, words = "accepted_risk = 1e-3", ("--fail-on-bug", "--json")
    file = campaign(tmp_path, "out", accepted)
    work = tmp_path / "work"
    with fleet("local", "--workers", 2, "--port", 0, "--work", work) as address:
        there = ran(fuzzwise("run", file, "--fleet", address, *words))
        listed = json.loads(fuzzwise("fleet", "status", address, "--json").stdout)
    here = ran(fuzzwise("run", campaign(tmp_path, "alone", accepted), *words))
    assert there[:2] == (10, "all-retired")
    assert there == here
    assert [machine["cores"] for machine in listed["machines"]] == [1, 1]
    wait_until(lambda: not processes_in(work), "the end of all processes")
    plan = read_plan(file)
    counts = recount(plan, f"file://{plan.folder / 'fleet'}", tmp_path / "recount")
    assert all(store == stored > 0 for store, stored in counts.values()), counts
    (bug,) = open_reader(plan.folder).state().bugs
    assert (plan.folder / bug.inputs[0]).is_file()
    assert (plan.folder / bug.report).is_file()
    again = fuzzwise("run", file, "--json")
    assert "is fetched from" in again.stderr
    told = {target["name"]: target["inputs"] for target in json.loads(again.stdout)["targets"]}
    assert told == {name: store for name, (store, _) in counts.items()}
    for target in plan.targets:
        assert (plan.folder / "targets" / target.name / "state" / "head").is_file()


def test_machines_join_and_are_killed_and_so_is_the_manager(tmp_path):
    file = campaign(tmp_path)
    folder, work = read_plan(file).folder, tmp_path / "work"
    run = ("run", file, "--quiet", "--fleet")
    with fleet("scheduler", "--port", 0) as address:
        first = Started("worker", address, "--work", work / "first", "--cores", 1)
        try:
            manager = Started(*run, address)
            wait_until(lambda: folder.is_dir() and said(folder, "first has joined"), "the first")
            wait_for_more(folder, "turns at the first machine")
            with ended(Started("worker", address, "--work", work / "second", "--cores", 1)):
                wait_until(lambda: said(folder, "second has joined"), "the second")
                homes = work / "second" / "campaigns"
                wait_until(lambda: list(homes.glob("*/homes/*")), "work of who joined late")
                kill(first)
                wait_until(lambda: said(folder, "first is gone"), "the loss")
                wait_for_more(folder, "turns without the first machine")
                kill(manager)
                manager = Started(*run, address)
                wait_for_more(folder, "turns of the next manager")
                manager.send_signal(signal.SIGINT)
                assert manager.wait() == 130
        finally:
            for process in (first, manager):
                process.kill()
                process.wait()
    plan = read_plan(file)
    counts = recount(plan, f"file://{folder / 'fleet'}", tmp_path / "recount")
    assert all(store == stored > 0 for store, stored in counts.values()), counts
    wait_until(lambda: not processes_in(work), "the end of all processes")


def test_a_target_that_no_machine_can_run_is_broken_with_the_reason(tmp_path):
    file = campaign(tmp_path)
    program = tmp_path / "foreign"
    whole = bytearray((tmp_path / "crashing").read_bytes())
    whole[18] = 243
    program.write_bytes(whole)
    program.chmod(0o755)
    with file.open("a") as more:
        more.write(f'\n[[target]]\nname = "foreign"\nengine = "libfuzzer"\nprogram = "{program}"\n')
    folder = read_plan(file).folder
    words = ("local", "--workers", 1, "--port", 0, "--work", tmp_path / "work")
    with fleet(*words) as address, ended(Started("run", file, "--fleet", address, "--quiet")):
        wait_until(lambda: folder.is_dir() and said(folder, "No machine can run it."), "it")
    (target,) = (t for t in open_reader(folder).state().targets if t.name == "foreign")
    assert target.state == BROKEN
    assert "its program is for riscv64" in target.detail


def test_a_manager_waits_for_the_storage_that_it_had_and_nothing_is_left_behind(tmp_path):
    file = campaign(tmp_path, "out")
    folder, passing = read_plan(file).folder, tmp_path / "passing"
    passing.mkdir()
    environment = {**os.environ, "TMPDIR": str(passing)}
    words = ("local", "--workers", 1, "--port", 0, "--work", tmp_path / "work")
    with fleet(*words, env=environment) as address:
        run = ("run", file, "--fleet", address)
        with ended(Started(*run, "--quiet")):
            wait_for_more(folder, "turns")
        stored, aside = folder / "fleet", tmp_path / "aside"
        stored.rename(aside)
        words = [sys.executable, "-m", "fuzzwise", *map(str, run)]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as again:
            try:
                assert again.stderr is not None
                assert any("It is waited for" in line for line in again.stderr)
                aside.rename(stored)
                wait_for_more(folder, "turns from what is stored")
            finally:
                again.terminate()
    plan = read_plan(file)
    counts = recount(plan, f"file://{stored}", tmp_path / "recount")
    assert all(store == kept > 0 for store, kept in counts.values()), counts
    assert list(passing.iterdir()) == []


def test_only_certificates_of_the_same_authority_are_let_in(tmp_path):
    make_certificates(tmp_path / "ours", [], 2)
    make_certificates(tmp_path / "others", [], 2)
    own = ("--certificates", tmp_path / "ours")
    with fleet("scheduler", "--port", 0, *own) as address:
        assert address.startswith("tls://")
        with ended(Started("worker", address, "--work", tmp_path / "w", "--cores", 1, *own)):
            wait_until(
                lambda: "1 machine," in fuzzwise("fleet", "status", address, *own).stdout,
                "the machine with a certificate",
            )
            plain = fuzzwise("fleet", "status", address)
            foreign = fuzzwise("fleet", "status", address, "--certificates", tmp_path / "others")
    assert plain.returncode == foreign.returncode == 2
    assert "fuzzwise fleet certificates DIR" in plain.stderr
    assert "another authority" in foreign.stderr
