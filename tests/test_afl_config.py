"""Targets of AFL++ in campaign files: what a good one means, and every mistake with its remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzzwise.campaign.file import read_plan
from fuzzwise.engines.contract import Build, TargetPlan
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput

ELF = b"\x7fELF" + bytes(100)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with all kinds of files that a campaign file may name."""
    for name, mark in (
        ("made-for-afl", b"__AFL_SHM_ID"),
        ("observed", b"FUZZWISE_STATE"),
        ("plain", b""),
    ):
        (tmp_path / name).write_bytes(ELF + mark)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "not-executable").write_bytes(ELF + b"__AFL_SHM_ID")
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "words.dict").write_text('key="a\\xff"\n')
    (tmp_path / "bad.dict").write_text("no quotes\n")
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "one").write_text("1")
    return tmp_path


def target_of(home: Path, text: str) -> TargetPlan:
    path = home / "nightly.toml"
    path.write_text(f"[campaign]\ncores = 2\n[[target]]\n{text}")
    (target,) = read_plan(path, None).targets
    return target


def test_a_program_made_for_afl_needs_no_more_than_its_path(home):
    target = target_of(home, 'program = "made-for-afl"')
    assert target.engine == "afl++"
    assert target.command == (str(home / "made-for-afl"),)
    assert target.name == "made-for-afl"
    assert (target.settings.hang, target.settings.memory_mib) == (1.0, 2048)
    assert (target.jobs, target.settings.options, target.build) == (1, (), None)
    assert engine_named(target.engine).finds_coverage


def test_a_path_with_a_space_hides_nothing(home):
    (home / "made-for-afl").rename(home / "made for afl")
    target = target_of(home, 'program = "made for afl"\nname = "spaced"')
    assert target.engine == "afl++"
    assert target.command == (str(home / "made for afl"),)


def test_a_command_of_a_program_made_for_afl_is_one_for_afl(home):
    target = target_of(home, 'command = "./made-for-afl -v @@"')
    assert target.engine == "afl++"
    assert target.command == (str(home / "made-for-afl"), "-v", "@@")
    asked = target_of(home, 'command = "./made-for-afl @@"\nengine = "black-box"\ncorpus="seeds"')
    assert asked.engine == "black-box"
    assert target_of(home, 'program = "observed"').engine == "libfuzzer"


def test_everything_can_be_said(home):
    target = target_of(
        home,
        'engine = "afl++"\nprogram = "made-for-afl"\ncorpus = "seeds"\nshare = "high"\n'
        'dictionary = "words.dict"\nmax_length = 4096\noptions = ["-p", "explore"]\n'
        'accepted_risk = 0.001\n[target.limits]\ntime = "0.5s"\nmemory_mib = 100\n',
    )
    assert target.corpus == (home / "seeds",)
    assert target.dictionary == home / "words.dict"
    assert target.settings.max_length == 4096
    assert target.settings.options == ("-p", "explore")
    assert (target.settings.hang, target.settings.memory_mib) == (0.5, 100)
    assert (target.share, target.accepted_risk) == ("high", 0.001)


def test_sources_are_a_harness_unless_there_is_a_command(home):
    out = home / "nightly-out" / "programs" / "a"
    target = target_of(home, 'engine = "afl++"\nsources = "a.c"\nflags = ["-O1"]')
    assert target.build == Build((home / "a.c",), ("-fsanitize=fuzzer", "-O1"), out)
    assert target.command == (str(out),)
    whole = target_of(home, 'engine = "afl++"\nsources = "a.c"\ncommand = "{program} @@"')
    assert whole.build == Build((home / "a.c",), (), out)
    assert whole.command == (str(out), "@@")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('program = "plain"', "program names .*plain.*, which no compiler of AFL.. has built"),
        ('command = "./plain @@"', "command names .*plain.*, which no compiler of AFL"),
        ('program = "missing"', "program is 'missing'; there is no such file"),
        ('program = "not-executable"', "program is 'not-executable', which is not executable"),
        ("", "program is missing; expected the path of a target"),
        ('program = "made-for-afl"\njobs = 2', "jobs is 2, but a target of AFL.. has one"),
        ('program = "made-for-afl"\nsources = "a.c"', "program .*there are sources too"),
        ('program = "made-for-afl"\ncommand = "./made-for-afl"', "there is a command too"),
        ('program = "made-for-afl"\nflags = "-O1"', "flags are given without sources"),
        ('program = "made-for-afl"\npython = "python3"', "python .*it is for targets of python"),
        ('program = "made-for-afl"\ndictionary = "bad.dict"', "dictionary has .*no quotes"),
        ('program = "made-for-afl"\nmax_length = 2000000', "max_length .*takes up to 1048576"),
        ('program = "made-for-afl"\noptions = ["-V", "9"]', "the campaign decides how long"),
        ('program = "made-for-afl"\noptions = ["-x", "a"]', "write dictionary = … instead"),
        ('program = "made-for-afl"\noptions = "-m100"', "write memory_mib into"),
        ('program = "made-for-afl"\noptions = "-Mmain"', "a target of a campaign is one afl-fuzz"),
        ('program = "made-for-afl"\noptions = "-n"', "something else than fuzz"),
        ('program = "made-for-afl"\noptions = "--"', "options has '--'; expected one such as"),
        ('program = "made-for-afl"\n[target.mutation]\nratio = 0.1', "it is for targets of black"),
        (
            'program = "made-for-afl"\n[target.limits]\nprocesses = 3',
            "it is for targets of black-box",
        ),
        ('program = "made-for-afl"\n[target.limits]\ntime = "1us"', "time is '1us'"),
        ('sources = "a.c"\ncommand = "./made-for-afl @@"', "write '{program}' for what is built"),
    ],
)
def test_a_mistake_is_told_with_its_remedy(home, text, problem):
    with pytest.raises(BadInput, match=problem):
        target_of(home, f'engine = "afl++"\n{text}')
