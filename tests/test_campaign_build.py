"""Targets that come as sources: built when needed, and a failed build harms no other target."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fuzzwise.campaign import build as building
from fuzzwise.campaign.build import build_all
from fuzzwise.campaign.file import read_plan
from fuzzwise.campaign.plan import CampaignPlan
from waiting import wait_until

HARNESS = """
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 2 && data[0] == 'a') __builtin_trap();
  return 0;
}
"""
PROGRAM = """
#include <stdio.h>
#include "number.h"
int main(void) { printf("%d\\n", NUMBER); return 0; }
"""
BOX = """
[[target]]
name = "box"
command = "{program}"
sources = "main.c"
flags = ["-Iinclude"]
corpus = ["main.c", "include/number.h"]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "include").mkdir()
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "include" / "number.h").write_text("#define NUMBER 1\n")
    (tmp_path / "harness.c").write_text(HARNESS)
    return tmp_path


def plan_of(home: Path, text: str) -> CampaignPlan:
    (home / "plan.toml").write_text(text)
    return read_plan(home / "plan.toml")


def built(plan: CampaignPlan) -> list[str]:
    """What was built now; nothing may fail."""
    said: list[str] = []
    assert build_all(plan, said.append) == {}
    return said


def output(plan: CampaignPlan) -> str:
    program = plan.targets[0].program
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def test_seeds_of_one_program_share_one_build(home: Path) -> None:
    plan = plan_of(home, BOX)
    assert len(plan.targets) == 2
    assert built(plan) == ["Building box."]
    assert output(plan) == "1\n"
    names = sorted(path.name for path in (plan.folder / "programs").iterdir())
    assert names == ["box", "box.built"]


def test_a_program_is_built_again_when_what_it_is_made_of_changes(home: Path) -> None:
    plan = plan_of(home, BOX)
    assert built(plan) == ["Building box."]
    assert built(plan) == []
    os.utime(home / "main.c")
    assert built(plan) == []
    (home / "include" / "number.h").write_text("#define NUMBER 2\n")
    assert built(plan) == ["Building box."]
    assert output(plan) == "2\n"
    (home / "main.c").write_text(PROGRAM.replace("%d", "<%d>"))
    assert built(plan) == ["Building box."]
    assert output(plan) == "<2>\n"
    other = plan_of(home, BOX.replace('"-Iinclude"', '"-Iinclude", "-O0"'))
    assert built(other) == ["Building box."]
    assert built(other) == []
    assert built(plan) == ["Building box."]


def test_a_program_that_is_gone_or_was_replaced_is_built_again(home: Path) -> None:
    plan = plan_of(home, BOX)
    built(plan)
    program = plan.targets[0].program
    program.unlink()
    assert built(plan) == ["Building box."]
    program.write_bytes(b"something else")
    assert built(plan) == ["Building box."]
    assert output(plan) == "1\n"
    program.with_name("box.built").write_text("nonsense")
    assert built(plan) == ["Building box."]


def test_another_compiler_makes_another_build(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    plan = plan_of(home, BOX)
    built(plan)
    other = home / "my-cc"
    other.write_text(f'#!/bin/sh\nexec {compiler} "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("FUZZWISE_CC", str(other))
    assert built(plan) == ["Building box."]


def test_an_upgraded_compiler_makes_another_build(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = home / "my-cc"
    other.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec cat {home}/version\nexec cc "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("FUZZWISE_CC", str(other))
    plan = plan_of(home, BOX)
    for version in ("1", "2"):
        (home / "version").write_text(version)
        building._version.cache_clear()
        assert built(plan) == ["Building box."]
        assert built(plan) == []


def test_a_compiler_that_fails_late_leaves_nothing_and_colours_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = home / "bad-cc"
    other.write_text(
        "#!/bin/sh\n"
        'case "$*" in *" -o "*) for last; do :; done; echo half > "$last";; esac\n'
        "printf '\\033[31merror:\\033[0m \\007full'\nexit 1\n"
    )
    other.chmod(0o755)
    monkeypatch.setenv("FUZZWISE_CC", str(other))
    plan = plan_of(home, BOX)
    failed = build_all(plan, lambda _: None)
    assert "could not be built: error: full Correct" in failed["box-main"]
    assert list((plan.folder / "programs").iterdir()) == []


def test_a_failed_build_names_the_error_and_leaves_the_others_alone(home: Path) -> None:
    (home / "broken.c").write_text('int main(void) { return "\x1b[31m" + nothing; }\n')
    (home / "linked.c").write_text("int far(void);\nint main(void) { return far(); }\n")
    broken = BOX.replace('"box"', '"broken"').replace('"main.c"\nflags', '"broken.c"\nflags')
    linked = BOX.replace('"box"', '"linked"').replace('"main.c"\nflags', '"linked.c"\nflags')
    plan = plan_of(home, broken + linked + BOX)
    said: list[str] = []
    failed = build_all(plan, said.append)
    assert set(failed) == {"broken-main", "broken-number", "linked-main", "linked-number"}
    assert said == ["Building broken.", "Building linked.", "Building box."]
    assert "broken could not be built: " in failed["broken-main"]
    assert "broken.c:1:" in failed["broken-main"]
    assert "nothing" in failed["broken-main"]
    assert "Correct the sources" in failed["broken-main"]
    assert failed["broken-main"].isprintable()
    assert "undefined reference" in failed["linked-number"]
    assert plan.targets[-1].program.exists()
    names = sorted(path.name for path in (plan.folder / "programs").iterdir())
    assert names == ["box", "box.built"]
    (home / "broken.c").write_text("int main(void) { return 0; }\n")
    (home / "linked.c").write_text("int main(void) { return 0; }\n")
    assert built(plan) == ["Building broken.", "Building linked."]


def test_a_build_that_failed_keeps_no_program_of_older_sources_in_use(home: Path) -> None:
    plan = plan_of(home, BOX)
    built(plan)
    (home / "main.c").write_text("int main(void) { return }\n")
    assert set(build_all(plan, lambda _: None)) == {t.name for t in plan.targets}
    (home / "main.c").unlink()
    failed = build_all(plan, lambda _: None)
    assert "No such file" in failed["box-main"]


def test_a_compiler_that_never_ends_is_ended_with_all_it_started(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = home / "slow-cc"
    other.write_text(f"#!/bin/sh\nsleep 600 & echo $! >> {home}/started\nwait\n")
    other.chmod(0o755)
    monkeypatch.setenv("FUZZWISE_CC", str(other))
    longest = 0.25
    while not (home / "started").exists():  # before its time is over, on a busy machine
        longest *= 2
        monkeypatch.setattr(building, "LONGEST", longest)
        failed = build_all(plan_of(home, BOX), lambda _: None)
        assert f"took longer than {longest:g} s" in failed["box-main"]
    pids = [int(line) for line in (home / "started").read_text().split()]
    assert pids
    # A killed process is still there for a moment.
    wait_until(lambda: not any(map(_is_alive, pids)), "the end of what it had started")


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def test_no_compiler_is_a_sentence_for_every_target(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(home, BOX + '[[target]]\nsources = "harness.c"\n')
    monkeypatch.setenv("FUZZWISE_CC", "nonesuch")
    monkeypatch.setenv("FUZZWISE_CLANG", "nonesuch")
    failed = build_all(plan, lambda _: None)
    assert set(failed) == {"box-main", "box-number", "harness"}
    assert all("'nonesuch', which is not an executable" in said for said in failed.values())


def test_a_folder_that_cannot_be_written_is_a_sentence(home: Path) -> None:
    plan = plan_of(home, BOX)
    plan.folder.mkdir()
    (plan.folder / "programs").write_text("in the way")
    failed = build_all(plan, lambda _: None)
    assert "could not be built" in failed["box-main"]


def test_harnesses_are_built_observed(home: Path) -> None:
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    plan = plan_of(home, '[[target]]\nsources = "harness.c"\n')
    assert built(plan) == ["Building harness."]
    assert built(plan) == []
    program = plan.targets[0].program
    assert b"FUZZWISE_STATE" in program.read_bytes()
    again = plan_of(home, f'[[target]]\nprogram = "{program}"\n')
    assert again.targets[0].build is None
    assert built(again) == []


def test_cxx_sources_of_black_boxes_are_linked_as_such(home: Path) -> None:
    if not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        pytest.skip("there is no C++ compiler")
    (home / "main.cc").write_text('#include <iostream>\nint main() { std::cout << "C++\\n"; }\n')
    plan = plan_of(home, BOX.replace('"main.c"\nflags', '"main.cc"\nflags'))
    built(plan)
    assert output(plan) == "C++\n"
