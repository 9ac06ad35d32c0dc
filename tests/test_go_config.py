"""How fuzz tests of Go are named: to `fuzz`, in campaign files; and how they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

import go_target
from fuzzwise.campaign.file import read_plan
from fuzzwise.doctor import recognised
from fuzzwise.engines.contract import FuzzRequest
from fuzzwise.engines.go.config import plan_fuzz
from fuzzwise.engines.go.module import FuzzTest, fuzz_tests, import_path, module_of, parts_of
from fuzzwise.engines.recognise import recognise
from fuzzwise.errors import BadInput

TEST = 'package {name}\n\nimport "testing"\n\nfunc {function}(f *testing.F) {{}}\n'


def write_test(folder: Path, function: str, file: str = "x_test.go") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(TEST.format(name=folder.name, function=function))


@pytest.fixture
def module(tmp_path: Path) -> Path:
    home = tmp_path / "with space"
    write_test(home / "a", "FuzzOne")
    write_test(home / "a" / "b", "FuzzTwo")
    write_test(home / "a" / "b", "FuzzThree", "y_test.go")
    (home / "go.mod").write_text('// words\nmodule "example.org/m" // more\n\ngo 1.18\n')
    (home / "a" / "a.go").write_text("package a\n")
    return home


def test_fuzz_tests_are_those_that_go_would_see(module):
    for hidden in ("testdata/x", "vendor/x", ".hidden", "_left", "nested"):
        write_test(module / hidden, "FuzzHidden")
    (module / "nested" / "go.mod").write_text("module nested\n")
    write_test(module / "a", "NotFuzz", "z_test.go")
    write_test(module / "a", "FuzzPlain", "plain.go")
    assert fuzz_tests(module) == [
        FuzzTest(module / "a", "FuzzOne"),
        FuzzTest(module / "a" / "b", "FuzzThree"),
        FuzzTest(module / "a" / "b", "FuzzTwo"),
    ]
    assert fuzz_tests(module / "a" / "b")[0].function == "FuzzThree"
    assert fuzz_tests(module.parent) == []
    assert module_of(module / "a" / "b") == module
    assert import_path(module / "a" / "b") == "example.org/m/a/b"
    assert import_path(module) == "example.org/m"
    assert {path.name for path in parts_of(module / "a")} >= {"a", "a.go", "go.mod", "y_test.go"}


def test_a_target_is_a_function_or_a_package_with_one(module):
    go_target.need_go()
    for target in (module / "a" / "FuzzOne", module / "a"):
        assert recognise(target) == "go"
        plan = plan_fuzz(FuzzRequest(target))
        assert (plan.name, plan.command) == ("FuzzOne", (str(module / "a"), "FuzzOne"))
        assert recognised(target).engine == "go"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("a/b", "there are FuzzThree, FuzzTwo. Say which one, for example: fuzzwise fuzz "),
        ("a/FuzzNone", "there is no such fuzz test; there is FuzzOne."),
        (".", "FuzzOne, "),
    ],
)
def test_what_is_named_wrongly_is_told_with_what_there_is(module, target, said):
    place = module / target
    assert recognise(place) == "go"
    with pytest.raises(BadInput) as told:
        plan_fuzz(FuzzRequest(place))
    assert said in str(told.value)
    assert said in recognised(place).problem


def test_a_package_in_no_module_is_told(tmp_path):
    write_test(tmp_path / "loose", "FuzzLoose")
    with pytest.raises(BadInput, match=r"in no Go module.*go mod init"):
        plan_fuzz(FuzzRequest(tmp_path / "loose" / "FuzzLoose"))


@pytest.mark.parametrize(
    "asked",
    [{"measure": True}, {"afl_options": ("-p",)}, {"libfuzzer_options": ("-x=1",)},
     {"arguments": ("@@",)}, {"python": "python3"}, {"species": "edge"}, {"schedule": "later"}],
)  # fmt: skip
def test_what_is_for_another_fuzzer_is_refused(module, asked):
    with pytest.raises(BadInput, match="a fuzz test of Go has no such thing"):
        plan_fuzz(FuzzRequest(module / "a", **asked))


def planned(folder: Path, table: str):
    file = folder / "c.toml"
    file.write_text(f'[campaign]\nout = "out"\n\n[[target]]\nengine = "go"\n{table}')
    return read_plan(file).targets


def test_the_keys_of_a_campaign_file(module):
    (module / "seeds").mkdir()
    (target,) = planned(
        module,
        'package = "a/b"\nfunction = "FuzzTwo"\ncorpus = "seeds"\njobs = 1\n'
        '[target.limits]\ntime = "3s"\nmemory_mib = 512\nstartup = "9s"\n',
    )
    assert (target.name, target.command) == ("FuzzTwo", (str(module / "a/b"), "FuzzTwo"))
    assert target.corpus == (module / "seeds",)
    limits = target.settings
    assert (limits.seconds, limits.memory_mib, limits.startup) == (3.0, 512, 9.0)
    assert planned(module, 'package = "a"\n')[0].command[1] == "FuzzOne"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("", "package"),
        ('package = "none"\n', "there is no such file or folder"),
        ('package = "go.mod"\n', "which is no folder"),
        ('package = "."\n', "has no func FuzzX"),
        ('package = "a/b"\n', "there are FuzzThree, FuzzTwo, and a target is one of them"),
        ('package = "a"\nfunction = "FuzzTwo"\n', "but there is FuzzOne"),
        ('package = "a"\nprogram = "x"\n', 'write package = "FOLDER"'),
        ('package = "a"\nsources = "a/a.c"\n', "go compiles it"),
        ('package = "a"\ndictionary = "x"\n', "it is for targets of"),
        ('package = "a"\n[target.limits]\nmemory_mib = 3\n', "limits.memory_mib"),
    ],
)
def test_mistakes_in_a_campaign_file_are_told(module, table, said):
    (module / "a" / "a.c").write_text("")
    with pytest.raises(BadInput) as told:
        planned(module, table)
    assert said in str(told.value)
