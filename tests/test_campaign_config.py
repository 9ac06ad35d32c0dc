"""Campaign files: what a good one means, and every mistake told at once with its remedy."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzwise.campaign.file import default_epoch, read_plan
from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.cli import main
from fuzzwise.engines.blackbox import Limits, Mutation
from fuzzwise.engines.contract import Build
from fuzzwise.errors import BadInput

OBSERVED = "#!/bin/sh\n# FUZZWISE_STATE\n"
ELF = b"\x7fELF" + bytes(100)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with all kinds of files that a campaign file may name."""
    (tmp_path / "harness").write_text(OBSERVED)
    (tmp_path / "harness").chmod(0o755)
    (tmp_path / "observed").write_bytes(ELF + b"FUZZWISE_STATE")
    (tmp_path / "observed").chmod(0o755)
    (tmp_path / "plain").write_bytes(ELF)
    (tmp_path / "plain").chmod(0o755)
    (tmp_path / "text").write_text("no program")
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "b.cc").touch()
    (tmp_path / "include").mkdir()
    (tmp_path / "words.dict").write_text('# a comment\n\nkey="a\\xff\\\\"\n"b"\n')
    (tmp_path / "bad.dict").write_text('"good"\nno quotes\n')
    (tmp_path / "seeds").mkdir()
    for name in ("one.txt", "two.txt", "prog-three.txt"):
        (tmp_path / "seeds" / name).write_text(name)
    return tmp_path


def plan_of(home: Path, text: str, out: Path | None = None) -> CampaignPlan:
    path = home / "nightly.toml"
    path.write_text(text)
    return read_plan(path, out)


def test_a_short_file_gets_all_defaults(home: Path) -> None:
    plan = plan_of(home, '[[target]]\nprogram = "harness"')
    assert plan.name == "nightly"
    assert plan.folder == home / "nightly-out"
    assert plan.budget is None
    assert plan.cores == len(os.sched_getaffinity(0))
    assert plan.scheduler == "risk-rate"
    assert plan.epoch == 10
    assert (plan.confidence, plan.seed) == (0.95, 1)
    (target,) = plan.targets
    assert target.name == "harness"
    assert target.engine == "libfuzzer"
    assert target.command == (str(home / "harness"),)
    assert (target.corpus, target.dictionary, target.build) == ((), None, None)
    assert (target.settings.seconds, target.settings.memory_mib) == (10, 2048)
    assert (target.share, target.jobs, target.accepted_risk) == ("medium", 1, None)


def test_everything_that_a_file_can_say_of_a_campaign_and_a_harness(home: Path) -> None:
    plan = plan_of(
        home,
        """
        [campaign]
        name = "Every night"
        out = "kept"
        budget = "1h30m"
        cores = 3
        scheduler = "fixed-time/weighted-random/rate"
        accepted_risk = 1e-5
        confidence = 0.99
        epoch = "5s"
        seed = 7
        [[target]]
        name = "harness-1"
        engine = "libfuzzer"
        program = "observed"
        corpus = ["seeds", "seeds/o*.txt"]
        dictionary = "words.dict"
        options = ["-use_cmp=0", "-len_control=50"]
        max_length = 4096
        share = "high"
        jobs = 3
        accepted_risk = 1e-3
        [target.limits]
        time = "2s"
        memory_mib = 512
        [[target]]
        program = "harness"
        """,
    )
    assert (plan.name, plan.folder, plan.budget) == ("Every night", home / "kept", 5400)
    assert (plan.cores, plan.scheduler, plan.epoch) == (3, "weighted-random/rate", 5)
    assert (plan.confidence, plan.seed) == (0.99, 7)
    target, other = plan.targets
    assert target.command == (str(home / "observed"),)
    assert target.settings.options == ("-use_cmp=0", "-len_control=50")
    assert target.corpus == (home / "seeds", home / "seeds" / "one.txt")
    assert target.dictionary == home / "words.dict"
    assert (target.settings.max_length, target.share, target.jobs) == (4096, "high", 3)
    assert target.weight == 2 * other.weight
    assert (target.settings.seconds, target.settings.memory_mib) == (2, 512)
    assert (target.accepted_risk, other.accepted_risk) == (1e-3, 1e-5)


def test_each_seed_of_a_black_box_is_a_target_of_its_own(home: Path) -> None:
    plan = plan_of(
        home,
        """
        [[target]]
        name = "prog"
        command = "sh -c 'cat @@' words.dict"
        corpus = "seeds/*.txt"
        [target.limits]
        time = "200ms"
        processes = 4
        [target.mutation]
        ratio = 0.01
        kinds = ["bits"]
        [[target]]
        command = ["./harness", "--stdin"]
        corpus = "seeds/one.txt"
        [[target]]
        name = "folder"
        command = "cat"
        corpus = ["seeds", "seeds/one.txt"]
        """,
    )
    first = plan.targets[:3]
    assert [t.name for t in first] == ["prog-one", "prog-three", "prog-two"]
    for target in first:
        assert target.engine == "black-box"
        sh = shutil.which("sh")
        assert target.command == (sh, "-c", "cat @@", str(home / "words.dict"))
        assert target.settings.limits == Limits(seconds=0.2, processes=4)
        assert target.settings.mutation == Mutation(ratio=(0.01, 0.01), kinds=("bits",))
        assert len(target.corpus) == 1
    assert {t.corpus[0].name for t in first} == {"one.txt", "two.txt", "prog-three.txt"}
    single = plan.targets[3]
    assert (single.name, single.corpus) == ("harness", (home / "seeds" / "one.txt",))
    assert single.command[1:] == ("--stdin",)
    assert Path(single.command[0]).is_absolute()
    assert {t.name for t in plan.targets[4:]} == {
        "folder-one", "folder-two", "folder-prog-three",
    }  # fmt: skip


def test_sources_are_built_into_the_folder_of_the_campaign(home: Path) -> None:
    plan = plan_of(
        home,
        """
        [[target]]
        sources = ["a.c", "b.cc"]
        flags = ["-O1", "-Iinclude", "-DX=1", "-include", "a.c", "-lm"]
        [[target]]
        name = "box"
        engine = "black-box"
        sources = "a.c"
        corpus = ["seeds/one.txt", "seeds/two.txt"]
        [[target]]
        name = "quiet"
        command = "{program} -q @@"
        sources = "a.c"
        corpus = "seeds/one.txt"
        """,
        out=home / "elsewhere",
    )
    assert plan.folder == home / "elsewhere"
    harness, one, two, quiet = plan.targets
    programs = home / "elsewhere" / "programs"
    flags = ("-O1", f"-I{home}/include", "-DX=1", "-include", f"{home}/a.c", "-lm")
    assert harness.build == Build((home / "a.c", home / "b.cc"), flags, programs / "a")
    assert (harness.name, harness.program) == ("a", programs / "a")
    assert one.build == two.build == Build((home / "a.c",), (), programs / "box")
    assert (one.name, two.name) == ("box-one", "box-two")
    assert one.command == (str(programs / "box"), "@@")
    assert quiet.command == (str(programs / "quiet"), "-q", "@@")
    assert not (home / "elsewhere").exists()


@pytest.mark.parametrize(
    ("budget", "cores", "targets", "epoch"),
    [
        (None, 2, 9, 10),
        (120, 2, 8, 4),
        (60, 1, 5, 2.4),
        (120, 1, 50, 1),
        (3600, 2, 20, 14.4),
        (86400, 8, 10, 60),
    ],
)
def test_the_default_epoch_shares_the_budget_within_bounds(budget, cores, targets, epoch) -> None:
    assert default_epoch(budget, cores, targets) == pytest.approx(epoch)


C = "[campaign]\n"
T = '[[target]]\nprogram = "harness"\n'
F = "[[target]]\n"
B = '[[target]]\ncommand = "cat @@"\ncorpus = "seeds/one.txt"\n'

MISTAKES = {
    # the file
    "not TOML": ("[campaign", "not valid TOML", ""),
    "huge number": (f"{C}seed = {'9' * 5000}", "not valid TOML", "number too long"),
    "deep tables": (f"a = {'[' * 5000}", "not valid TOML", ""),
    "no target": (C, "target is missing", "at least one table [[target]]"),
    "target is no list": ('target = "x"', "target is 'x'", "expected tables [[target]]"),
    "campaign is no table": (f"campaign = 3\n{T}", "campaign is 3", "expected a table [campaign]"),
    "unknown table": (f"[campain]\n{T}", "campain is not a known key", "did you mean 'campaign'?"),
    "strange key": (f'"\\u001b[31m" = 1\n{T}', "'\\x1b[31m' is not a known key", "known: "),
    # [campaign]
    "unknown key": (f"{C}buget = 3\n{T}", "campaign.buget is not", "did you mean 'budget'?"),
    "name": (f"{C}name = ''\n{T}", "campaign.name is ''", "expected a name of at most 100"),
    "name escapes": (f'{C}name = "\\u001b[2J"\n{T}', "is '\\x1b[2J'", "cannot be printed"),
    "out is a file": (f"{C}out = 'text'\n{T}", "/text', which cannot be", "choose another"),
    "out is no text": (f"{C}out = 3\n{T}", "campaign.out is 3", "expected the folder"),
    "budget": (f"{C}budget = 'soon'\n{T}", "campaign.budget is 'soon'", "write it as 90s"),
    "budget zero": (f"{C}budget = 0\n{T}", "campaign.budget is 0", 'a time from "1s"'),
    "budget endless": (f"{C}budget = inf\n{T}", "campaign.budget is inf", 'a time from "1s"'),
    "budget huge": (f"{C}budget = 0x{'f' * 6000}\n{T}", "is a huge number", 'to "3650d"'),
    "cores": (f"{C}cores = 0\n{T}", "campaign.cores is 0", "a whole number from 1 to 1024"),
    "cores text": (f"{C}cores = 'all'\n{T}", "campaign.cores is 'all'", "a whole number"),
    "scheduler": (f"{C}scheduler = 'risk-rat'\n{T}", "is 'risk-rat'", "mean 'risk-rate'?"),
    "no such scheduler": (f"{C}scheduler = '?'\n{T}", "is '?'", "known: round-robin"),
    "scheduler by runs": (
        f"{C}scheduler = 'fixed-run/thompson'\n{T}", "'fixed-run/thompson' (epochs",
        "write 'thompson'",
    ),
    "risk": (f"{C}accepted_risk = 0\n{T}", "campaign.accepted_risk is 0", "between 0 and 1"),
    "risk true": (f"{C}accepted_risk = true\n{T}", "accepted_risk is True", "between 0 and 1"),
    "risk huge": (f"{C}accepted_risk = 1{'0' * 400}\n{T}", "accepted_risk is 1000", "…000"),
    "confidence": (f"{C}confidence = 95\n{T}", "campaign.confidence is 95", "between 0 and 1"),
    "epoch": (f"{C}epoch = '1ms'\n{T}", "campaign.epoch is '1ms'", 'from "100ms" to "1d"'),
    "long epoch": (f"{C}epoch = '5m'\nbudget = '2m'\n{T}", "epoch is 300 s", "of 120 s; lower it"),
    "seed": (f"{C}seed = -1\n{T}", "campaign.seed is -1", "a whole number from 0"),
    # [[target]], both engines
    "unknown target key": (f"{T}corpse = 'x'", "target[1].corpse is not", "mean 'corpus'?"),
    "target name": (f"{T}name = 'a/b'", "target[1].name is 'a/b'", "letters, digits and . _"),
    "hidden name": (f"{T}name = '.x'", "target[1].name is '.x'", "letters, digits and . _"),
    "long name": (f"{T}name = '{'x' * 101}'", "name is 'xxx", "at most 100"),
    "same name": (T + T, "target name 'harness' is used 2 times", "give each"),
    "same folder": (f"{T}{T}name='HARNESS'", "'harness' and 'HARNESS' is used 2", "case does not"),
    "engine": (f"{T}engine = 'libfuzer'", "engine is 'libfuzer'", "did you mean 'libfuzzer'?"),
    "share": (f"{T}share = 'hihg'", "target[1].share is 'hihg'", "mean 'high'?"),
    "share number": (f"{T}share = 2", "target[1].share is 2", "one of low, medium, high"),
    "jobs": (f"{T}jobs = 65", "target[1].jobs is 65", "a whole number from 1 to 64"),
    "many jobs": (f"{C}cores = 2\n{T}jobs = 3", "jobs is 3, but the campaign has 2", "lower it"),
    "own risk": (f"{T}accepted_risk = 1", "target[1].accepted_risk is 1", "between 0 and 1"),
    "sources": (f"{F}sources = 'none.c'", "sources is 'none.c'", "no such file or folder"),
    "source kind": (f"{F}sources = ['text']", "sources has 'text'", "expected a C or C++ file"),
    "source number": (f"{F}sources = 3", "target[1].sources is 3", "expected some text"),
    "flags alone": (f"{T}flags = '-O1'", "flags are given without sources", "add sources"),
    "flags": (f"{F}sources='a.c'\nflags=['-o', 'x']", "flags has '-o'", "remove it"),
    "flags -c": (f"{F}sources='a.c'\nflags=['-c']", "flags has '-c'", "remove it"),
    # libFuzzer
    "no program": ("[[target]]\nname = 'x'", "target[1].program is missing", "or sources = [...]"),
    "missing program": (f"{F}program = 'none'", "program is 'none'", "no such file or folder"),
    "deep program": (f"{F}program = '{'deep/' * 40}none'", "is 'deep/deep/", "/deep/none'; there"),
    "program folder": (f"{F}program = 'seeds'", "program is 'seeds'", "executable file"),
    "program text": (f"{F}program = 'text'", "program is 'text'", "chmod +x"),
    "not observed": (f"{F}program = 'plain'", "program is 'plain'", "fuzzwise build SOURCES"),
    "both": (f"{T}sources = 'a.c'", "target[1].program is 'harness'", "remove one of the two"),
    "command": (f"{T}engine='libfuzzer'\ncommand='x'", "command is 'x'", "of black-box or afl++"),
    "mutation": (f"{T}[target.mutation]\nratio = 1", "mutation is {'ratio': 1}", "remove it"),
    "corpus": (f"{T}corpus = 'none'", "target[1].corpus is 'none'", "no such file or folder"),
    "corpus NUL": (f'{T}corpus = "a\\u0000b"', "corpus is 'a\\x00b'", "no such file or folder"),
    "corpus long": (f"{T}corpus = '{'x' * 5000}'", "corpus is 'xxx", "no such file or folder"),
    "corpus glob": (f"{T}corpus = 'x*/**x'", "corpus is 'x*/**x'", "no such file or folder"),
    "dictionary": (f"{T}dictionary = 'none'", "dictionary is 'none'", "no such file"),
    "wrong line": (f"{T}dictionary='bad.dict'", "dictionary has 'no quotes' in line 2", 'word="'),
    "dictionary folder": (f"{T}dictionary='seeds'", "dictionary has", "Is a directory"),
    "option": (f"{T}options = 'use_cmp=1'", "options has 'use_cmp=1'", "such as '-use_cmp=1'"),
    "option seed": (f"{T}options = ['-seed=1']", "has '-seed=1'", "fuzzwise sets it itself"),
    "option prefix": (f"{T}options='-artifact_prefix=x'", "has '-artifact_prefix=x'", "remove it"),
    "option jobs": (f"{T}options = '-jobs=2'", "has '-jobs=2'", "write jobs = … instead"),
    "option workers": (f"{T}options = '-workers=2'", "has '-workers=2'", "write jobs = …"),
    "option fork": (f"{T}options = '-fork=2'", "has '-fork=2'", "write jobs = … instead"),
    "option runs": (f"{T}options = '-runs=2'", "has '-runs=2'", "the campaign decides"),
    "option time": (f"{T}options = '-max_total_time=2'", "_time=2'", "the campaign decides"),
    "option timeout": (f"{T}options = '-timeout=2'", "has '-timeout=2'", "[target.limits]"),
    "option memory": (f"{T}options = '-rss_limit_mb=2'", "_mb=2'", "write memory_mib into"),
    "option dict": (f"{T}options = '-dict=x'", "has '-dict=x'", "write dictionary ="),
    "option length": (f"{T}options = '-max_len=9'", "has '-max_len=9'", "write max_length ="),
    "option merge": (f"{T}options = '-merge=1'", "has '-merge=1'", "else than fuzz"),
    "length": (f"{T}max_length = 0", "max_length is 0", "a whole number from 1"),
    "time": (f"{T}[target.limits]\ntime = '1ms'", "target[1].limits.time is '1ms'", 'from "1s"'),
    "file_mib": (f"{T}[target.limits]\nfile_mib = 1", "limits.file_mib is 1", "of black-box"),
    "processes": (f"{T}[target.limits]\nprocesses=1", "limits.processes is 1", "of black-box"),
    "limits key": (f"{T}[target.limits]\nmemory=1", "limits.memory is not", "'memory_mib'?"),
    # black box
    "no seeds": (f"{F}command = 'cat @@'", "target[1].corpus is missing", "expected a seed file"),
    "missing seed": (f"{F}command='cat @@'\ncorpus='none'", "corpus is 'none'", "name seed files"),
    "seed NUL": (f'{F}command="cat"\ncorpus="a\\u0000/*"', "corpus is 'a\\x00/*'", "name seed"),
    "large seed": (
        f"{B}[target.mutation]\nmax_length = 3", "corpus has 'one.txt' of 7 bytes", "smaller seed",
    ),
    "program of PATH": (f"{F}command='nonesuch'\ncorpus='a.c'", "'nonesuch', which is not", "give"),
    "program path": (f"{F}command='./none @@'\ncorpus='a.c'", "'./none', but there", "build it"),
    "program file": (f"{F}command='./text @@'\ncorpus='a.c'", "'./text', which is not", "chmod +x"),
    "quotes": (f'{F}command="cat \'"\ncorpus="a.c"', 'command is "cat \'"', "expected a command"),
    "empty command": (f'{F}command=[]\ncorpus="a.c"', "command is []", "expected a command"),
    "NUL": (f'{F}command="cat \\u0000"\ncorpus="a.c"', "'cat', '\\x00'", "remove its NUL"),
    "placeholder": (f"{F}command='{{program}}'\ncorpus='a.c'", "'{program}', but", "add sources"),
    "no placeholder": (f"{B}sources='a.c'", "command starts with 'cat'", "write '{program}'"),
    "box dictionary": (f"{B}dictionary = 'words.dict'", "is 'words.dict'", "of libfuzzer or"),
    "box options": (f"{B}options = '-a=1'", "options is '-a=1'", "into command"),
    "box length": (f"{B}max_length = 5", "max_length is 5", "into [target.mutation]"),
    "box program": (f"{B}program = 'x'", "target[1].program is 'x'", 'write command = "PROGRAM'),
    "ratio": (f"{B}[target.mutation]\nratio = 2", "mutation.ratio is 2", "a share of the bits"),
    "kinds": (f"{B}[target.mutation]\nkinds=['bit']", "kinds is ['bit']", "out of bits, bytes"),
    "box time": (f"{B}[target.limits]\ntime = '2d'", "limits.time is '2d'", 'to "1d"'),
    "box memory": (f"{B}[target.limits]\nmemory_mib = 0", "memory_mib is 0", "a whole number"),
    "two engines": (
        f"{F}name='x'\nsources='a.c'\n{F}name='x'\nengine='black-box'\nsources='a.c'\n"
        "corpus=['seeds/one.txt','seeds/two.txt']",
        "'x' and 'x-one' would be built into one file", "its own name",
    ),
    "one program": (
        f"{F}name='x'\nsources='a.c'\n{F}name='X'\nengine='black-box'\nsources='a.c'\n"
        "corpus=['seeds/one.txt','seeds/two.txt']",
        "'x' and 'X-one' would be built into one file", "its own name",
    ),
}  # fmt: skip


def complaint(home: Path, text: str) -> str:
    with pytest.raises(BadInput) as error:
        plan_of(home, text)
    return str(error.value)


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_told_with_its_place_and_its_remedy(home: Path, case: str) -> None:
    text, what, remedy = MISTAKES[case]
    said = complaint(home, text)
    assert said.startswith(f"{home}/nightly.toml ")
    if "not valid TOML" not in what:
        assert "has 1 mistake; nothing was started" in said
        said = said.split("\n", 1)[1]
        assert "\n" not in said
    assert what in said
    assert remedy in said
    assert said.isprintable()
    assert len(said) < 700
    assert not (home / "nightly-out").exists()


def test_ten_mistakes_are_told_at_once(home: Path) -> None:
    said = complaint(
        home,
        """
        surprise = 1
        [campaign]
        budget = "soon"
        cores = 0
        scheduler = "none"
        [[target]]
        program = "none"
        share = "all"
        [target.limits]
        memory_mib = 1
        [[target]]
        command = "nonesuch @@"
        corpus = "none"
        dictionary = "none"
        """,
    )
    assert "has 10 mistakes; nothing was started:" in said
    places = [line.split()[0] for line in said.splitlines()[1:]]
    assert sorted(places) == sorted(
        [
            "surprise", "campaign.budget", "campaign.cores", "campaign.scheduler",
            "target[1].program", "target[1].share", "target[1].limits.memory_mib",
            "target[2].command", "target[2].corpus", "target[2].dictionary",
        ]
    )  # fmt: skip


def test_of_very_many_mistakes_some_are_told_and_the_others_counted(home: Path) -> None:
    keys = "".join(f"wrong{number} = 1\n" for number in range(120))
    with pytest.raises(BadInput) as caught:
        plan_of(home, f'[[target]]\nsources = "a.c"\n{keys}')
    first, *told = str(caught.value).splitlines()
    assert "has 120 mistakes" in first
    assert len(told) == 51
    assert "wrong0 is not a known key; known: " in told[0]
    assert told[-1] == "  and 70 more"


def test_files_that_are_missing_or_no_text_are_told(home: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.toml cannot be read: No such file"):
        read_plan(home / "none.toml")
    with pytest.raises(BadInput, match=r"is a folder\. Give a file in TOML"):
        read_plan(home)
    (home / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="not a text file in UTF-8"):
        read_plan(home / "binary.toml")


def test_a_file_can_be_checked_without_starting_anything(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / "c.toml"
    file.write_text('[[target]]\nprogram = "harness"\n')
    assert main(["run", str(file), "--check"]) == 0
    assert "has no mistake: 1 target. Nothing was started." in capsys.readouterr().out
    assert main(["run", str(file), "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"campaign": "c", "targets": ["harness"]}
    file.write_text('[[target]]\nprogram = "none"\nsharf = 1\n')
    assert main(["run", str(file), "--check"]) == 2
    assert "has 2 mistakes" in capsys.readouterr().err
    assert not (home / "c-out").exists()


KEYS = (
    *("name", "out", "budget", "cores", "scheduler", "accepted_risk", "confidence", "epoch"),
    *("seed", "engine", "program", "command", "sources", "flags", "corpus", "dictionary"),
    *("options", "max_length", "share", "jobs", "limits", "mutation", "time", "memory_mib"),
    *("file_mib", "processes", "ratio", "kinds"),
)
NUMBERS = ("0", "-1", "1e400", "nan", "-inf", "0xffffffffffffffffffff", "9" * 400, "true")
TEXTS = ("''", '"\\u0000"', "'a.c'", "'harness'", "'seeds'", "'../**/x['", "'{program}'", "'~'")
VALUES = st.one_of(
    st.sampled_from((*NUMBERS, *TEXTS, "1979-05-27", "[]", "[[]]", "{}", "['a', 1]", "[1, 2, 3]")),
    st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="'"), max_size=9).map(
        lambda text: f"'{text}'"
    ),
)
LINES = st.one_of(
    st.sampled_from(("[campaign]", "[[target]]", "[target.limits]", "[target.mutation]")),
    st.tuples(st.sampled_from(KEYS), VALUES).map(" = ".join),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, max_size=12).map("\n".join))
def test_whatever_a_file_says_there_is_a_plan_or_a_sentence(home: Path, text: str) -> None:
    path = home / "any.toml"
    path.write_text(text)
    try:
        outcome = f"any.toml has {len(read_plan(path).targets)} targets"
    except BadInput as error:
        outcome = str(error)
    assert "any.toml" in outcome


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60))
def test_random_bytes_are_refused_in_a_sentence(home: Path, data: bytes) -> None:
    path = home / "any.toml"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=r"any\.toml"):
        read_plan(path)
