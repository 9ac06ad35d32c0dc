"""Variables and folders of targets: in the fuzzing, in triage, in the lines that are printed."""

from __future__ import annotations

import json
import random
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commands import fuzzwise
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.places import bug_found
from fuzzwise.engines.registry import engine_named
from fuzzwise.engines.stock.words import drawn
from fuzzwise.errors import BadInput
from fuzzwise.triage.surroundings import ANYWHERE, Surroundings, apart
from fuzzwise.triage.workers import Workers
from stock_target import build

HARNESS = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *mode = getenv("PARSER_MODE");
  FILE *rules = fopen("rules.txt", "r");
  if (rules) fclose(rules);
  if (size < 3 || data[0] != 'a') return 0; /* were most inputs a crash, it would be given up */
  if (mode && !strcmp(mode, "strict mode") && rules) abort();
  return 0;
}
"""


def campaign(folder: Path, keys: str) -> Path:
    file = folder / "c.toml"
    file.write_text(f'[[target]]\nprogram = "out/needs it"\nname = "needs"\n{keys}\n')
    return file


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("surroundings")
    (folder / "out").mkdir()
    (folder / "out" / "rules.txt").write_text("all\n")
    (folder / "needs.c").write_text(HARNESS)
    build(folder / "out", folder / "needs.c", name="needs it")
    return folder


def test_a_target_is_fuzzed_and_shown_again_in_its_surroundings(home: Path, tmp_path: Path) -> None:
    """The bug needs a variable and a file in the folder that it runs in."""
    keys = 'working_folder = "out"\n[target.environment]\nPARSER_MODE = "strict mode"'
    plan = read_plan(campaign(home, keys)).targets[0]
    with Workers(1) as workers:
        session = engine_named(plan.engine).open_session(
            plan, tmp_path / "targets" / "needs", 1, workers
        )
        totals = session.turn(1.0, 1)
        while not totals.bugs:
            totals = session.turn(1.0, 1)
        assert session.reproduce(b"abc").ending == "crash"
    told = bug_found(tmp_path, tmp_path / "targets" / "needs", plan, totals.bugs[0])
    line = told.command
    end = subprocess.run(["/bin/sh", "-c", line], check=False, capture_output=True, cwd="/")
    assert end.returncode != 0, line
    words = shlex.split(line)
    bare = [str(home / "out" / "needs it"), words[-1]]
    assert subprocess.run(bare, check=False, capture_output=True, cwd="/").returncode == 0


def test_the_commands_that_are_shown_do_crash(home: Path, tmp_path: Path) -> None:
    """Below the present folder, from where paths are shown, and from the campaign's folder."""
    keys = 'working_folder = "out"\n[target.environment]\nPARSER_MODE = "strict mode"'
    file, out = campaign(home, keys), tmp_path / "campaign-out"
    bugs: list[dict[str, Any]] = []
    while not bugs:
        done = fuzzwise("run", file, "--out", out, "--time", "2s", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        bugs = json.loads(done.stdout)["bugs"]
    told = fuzzwise("status", "campaign-out", cwd=tmp_path).stdout
    (worst,) = re.findall(r"See the worst bug crash: (.*)", told)
    for command, place in ((worst, tmp_path), (bugs[0]["command"], out)):
        end = subprocess.run(["sh", "-c", command], cwd=place, capture_output=True, check=False)
        assert end.returncode in (77, 134, -6), (command, end.stderr)


def test_mistakes_are_told(home: Path) -> None:
    keys = (
        'working_folder = "needs.c"\n[target.environment]\n"A-B" = "x"\nFUZZWISE_JOB = "1"\nN = 1'
    )
    with pytest.raises(BadInput) as told:
        read_plan(campaign(home, keys))
    text = str(told.value)
    assert "4 mistakes" in text
    for part in ("working_folder", "no variable can be called that", "fuzzwise's own", "is 1"):
        assert part in text


def test_other_engines_refuse_the_keys(tmp_path: Path) -> None:
    (tmp_path / "seed").write_text("x")
    file = tmp_path / "c.toml"
    file.write_text(
        '[[target]]\ncommand = "/bin/true @@"\nengine = "black-box"\ncorpus = "seed"\n'
        '[target.environment]\nA = "b"\n'
    )
    with pytest.raises(BadInput, match=r"environment is .*it is for targets of"):
        read_plan(file)


def test_words_before_a_command_are_read_again() -> None:
    around = Surroundings((("A", "b c"), ("ASAN_OPTIONS", "x=1")), Path("/some folder"))
    assert apart(around.before(("/bin/x", "A=1", "@@"))) == (around, ("/bin/x", "A=1", "@@"))
    for others in (("/bin/x", "@@"), ("/usr/bin/env",), ("/usr/bin/env", "-i", "/bin/x")):
        assert apart(others) == (ANYWHERE, others)


def test_options_of_sanitizers_add_up_and_what_is_needed_comes_last() -> None:
    around = Surroundings((("ASAN_OPTIONS", "detect_leaks=0:exitcode=1"), ("LANG", "C")))
    known = around.joined({"ASAN_OPTIONS": "detect_leaks=1", "HOME": "/h"}, "exitcode=77")
    assert known == {
        "ASAN_OPTIONS": "detect_leaks=1:detect_leaks=0:exitcode=1:exitcode=77",
        "LANG": "C",
        "HOME": "/h",
    }


def test_random_values_are_drawn_for_each_process() -> None:
    rng = random.Random(1)
    seen = {drawn("-max_len=random(3, 5)", rng) for _ in range(100)}
    assert seen == {"-max_len=3", "-max_len=4", "-max_len=5"}
    assert drawn("-use_cmp=1", rng) == "-use_cmp=1"


@pytest.mark.parametrize(("engine", "is_taken"), [("stock", True), ("libfuzzer", False)])
def test_only_stock_targets_draw(home: Path, engine: str, is_taken: bool) -> None:
    keys = f'engine = "{engine}"\noptions = ["-max_len=random(1,9)"]'
    if is_taken:
        options = read_plan(campaign(home, keys)).targets[0].settings.options
        assert options == ("-max_len=random(1,9)",)
    else:
        with pytest.raises(BadInput, match="write a number"):
            read_plan(campaign(home, keys))
