"""Engines by name: one object is all that a new one needs, in this package or in another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fuzzwise.campaign.build import build_all
from fuzzwise.campaign.changes import glance
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.finished import run_entry
from fuzzwise.campaign.places import bug_found, target_folder
from fuzzwise.campaign.sessions import open_sessions
from fuzzwise.engines import registry
from fuzzwise.engines.registry import engine_named, engines, likely_engine, usable_engines
from fuzzwise.plugins import PluginLeftOut
from fuzzwise.store.sql.store import SqlStore
from fuzzwise.triage.bug_book import Bug
from fuzzwise.triage.workers import Workers

FIFTH = """
from pathlib import Path
from types import SimpleNamespace

from fuzzwise.engines.contract import Engine, TargetPlan

ENGINE = Engine(
    finds_coverage=False,
    keys=("program", "sources", "flags"),
    read_target=lambda table, common: [
        TargetPlan(
            common.name, common.engine, (table.text("program"),), build=common.build(common.name)
        )
    ],
    plan_fuzz=lambda request: TargetPlan("one", "fifth", (str(request.target),)),
    open_session=lambda plan, folder, seed, workers: SimpleNamespace(made_for=plan, folder=folder),
    one_input=lambda plan: ("fifth", "--run", "@@"),
    claims=lambda program, in_command: program.suffix == ".fifth",
    made_of=lambda plan: (plan.program, plan.program.with_suffix(".more")),
    build_words=lambda words, cxx: ["/bin/sh", "-c", 'echo "$@" > "$0"', words[-1], *words],
)
"""


def made_for_afl(path: Path) -> Path:
    path.write_bytes(b"\x7fELF" + bytes(100) + b"__AFL_SHM_ID")
    return path


@pytest.mark.parametrize(
    ("name", "in_command", "engine"),
    [
        ("harness.py", False, "python"),
        ("harness.py", True, "black-box"),
        ("harness", False, "libfuzzer"),
        ("harness", True, "black-box"),
        ("no\0name", False, "libfuzzer"),
        ("", False, "libfuzzer"),
    ],
)
def test_whose_a_program_is_where_nobody_says(tmp_path, name, in_command, engine):
    assert likely_engine(tmp_path / name, in_command) == engine


def test_what_was_made_for_afl_stays_so_in_a_command(tmp_path):
    program = made_for_afl(tmp_path / "program")
    assert likely_engine(program) == likely_engine(program, in_command=True) == "afl++"


def test_no_engine_is_loaded_before_it_is_asked_for():
    script = (
        "import sys\nfrom fuzzwise.engines.registry import engine_named, engines\n"
        "loaded = lambda: [name for name in engines() if engines()[name].module in sys.modules]\n"
        "print(loaded()); engine_named('python'); print(loaded())\n"
        "print([name for name in sys.modules if name.endswith(('.session', '.supervisor'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "[]\n['python']\n[]\n", done.stderr


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a package with an engine of a given name."""

    def installed(name: str) -> None:
        (tmp_path / "fifth_engine.py").write_text(FIFTH)
        about = tmp_path / "fifth-1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fifth\nVersion: 1\n")
        (about / "entry_points.txt").write_text(
            f"[{registry.GROUP}]\n{name} = fifth_engine:ENGINE\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        engines.cache_clear()
        usable_engines.cache_clear()

    yield installed
    monkeypatch.undo()
    engines.cache_clear()
    usable_engines.cache_clear()
    engine_named.cache_clear()


def test_a_name_that_is_taken_stays_ours(install):
    install("libfuzzer")
    with pytest.warns(PluginLeftOut, match="'fifth_engine:ENGINE' registers an engine named 'libf"):
        engines()
    assert engines() == registry.ours()


def test_an_installed_package_adds_an_engine(tmp_path, install):
    install("fifth")
    (tmp_path / "a.c").touch()
    (tmp_path / "plan.toml").write_text(
        '[[target]]\nname = "t"\nprogram = "x.fifth"\nsources = "a.c"'
    )
    plan = read_plan(tmp_path / "plan.toml")
    (target,) = plan.targets
    assert target.engine == "fifth"
    assert len(glance(target)) == 2
    said: list[str] = []
    assert build_all(plan, said.append) == {}
    assert said == ["Building t."]
    assert (plan.folder / "programs" / "t").read_text().startswith(f"-O2 -g {tmp_path / 'a.c'}")

    with Workers(1) as workers:
        session = open_sessions(plan, workers)["t"]
    assert vars(session) == {"made_for": target, "folder": plan.folder / "targets" / "t"}

    bug = Bug("0" * 16, "crash", "high", ("f",), 1, ("0/input",), 5, 1.0)
    home = target_folder(plan.folder, "t")
    assert bug_found(plan.folder, home, target, bug).command.startswith("fifth --run ")
    with SqlStore.open(plan.folder) as store:
        store.begin_run(run_entry(plan, None))
        assert [known.finds_coverage for known in store.state().targets] == [False]
