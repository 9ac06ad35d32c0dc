"""Folders of targets that somebody has: what each file is taken for, and the campaign file."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import go_target
from fuzzwise.campaign.file import plan_of, read_plan
from fuzzwise.cli import load, main
from fuzzwise.engines.stock.parts import build_of, parts_of
from fuzzwise.errors import BadInput
from fuzzwise.folders.campaign_text import campaign_text
from fuzzwise.folders.model import Found, FoundFile, FoundTarget
from fuzzwise.folders.recognise import look, look_for_targets
from out_folder import make_out

WRAPPER = "#!/bin/sh\n# LLVMFuzzerTestOneInput\n"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_out(tmp_path_factory.mktemp("folders") / "out")


def target(found: Found, name: str) -> FoundTarget:
    return next(each for each in found.targets if each.name == name)


def file(found: Found, path: Path) -> FoundFile:
    return next(each for each in found.files if each.path == path)


def script(path: Path, text: str = WRAPPER) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def content_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in (folder, *folder.rglob("*"))
    }


def test_every_program_of_an_out_folder_is_found_whatever_its_name(out: Path) -> None:
    _, found = look(out)
    programs = {each.keys["program"].name: each.engine for each in found.targets}
    names = ("parse_fuzzer", "with space", "größe", "at@1.2", "-runs=5", "wrapped_fuzzer")
    assert programs == dict.fromkeys(names, "stock")


def test_every_option_becomes_a_key(out: Path) -> None:
    made = target(look(out)[1], "parse_fuzzer")
    assert made.keys == {
        "program": out / "parse_fuzzer",
        "corpus": [out / "parse_fuzzer_seed_corpus.zip"],
        "max_length": 77,
        "options": ["-use_value_profile=1", "-len_control=random(3, 9)"],
        "dictionary": out / "words.dictionary",
        "working_folder": out,
    }
    assert made.limits == {"time": "12s", "memory_mib": 1234}
    assert made.environment == {
        "ASAN_OPTIONS": "detect_leaks=0:strict_string_checks=1",
        "UBSAN_OPTIONS": "print_stacktrace=0",
        "MODE": "strict",
    }
    assert [remark.partition(" is not used")[0] for remark in made.remarks] == [
        "fork = 2",
        "[grammar]",
    ]


def test_what_lies_beside_a_target_is_its_own(out: Path) -> None:
    _, found = look(out)
    assert target(found, "with_space").keys["dictionary"] == out / "with space.dict"
    assert target(found, "gro_e").keys["corpus"] == [out / "größe_corpus"]
    assert target(found, "gro_e").limits == {"time": "25s", "memory_mib": 2560}


def test_broken_options_and_dictionaries_are_told_and_the_target_taken(out: Path) -> None:
    _, found = look(out)
    remarks = target(found, "at_1.2").remarks
    assert len(remarks) == 4
    assert "line 1 ('[libfuzzer') is neither" in remarks[0]
    assert "line 2 ('max_len = 5') is in no section" in remarks[1]
    assert "max_len = x is not used" in remarks[3]
    assert "dictionary" not in target(found, "runs_5").keys
    assert "'no dictionary' in line 1" in target(found, "runs_5").remarks[0]


def test_no_file_is_left_out_and_each_that_is_not_used_says_why(out: Path) -> None:
    tree, found = look(out)
    told = {each.path for each in found.files}
    left = [path for path in tree.files if path not in told and told.isdisjoint(path.parents)]
    assert left == []
    assert all(each.why for each in found.files if not each.taken_for)
    reasons = {
        "lost_bit_fuzzer": "may not be executed",
        "README.md": "no program",
        "true": "black box",
        "tool": "names no fuzz target",
        "llvm-symbolizer": "names functions",
        "gone_fuzzer_seed_corpus.zip": "for a target gone_fuzzer, which is not",
        "parse_fuzzer.dict": "another dictionary",
    }
    for name, reason in reasons.items():
        each = file(found, out / name)
        assert not each.taken_for
        assert reason in each.why, name


def test_an_option_that_the_libfuzzer_of_a_target_does_not_have_is_told(
    out: Path, tmp_path: Path
) -> None:
    shutil.copy2(out / "parse_fuzzer", tmp_path / "x")
    (tmp_path / "x.options").write_text("[libfuzzer]\nof_next_year = 1\nuse_cmp = 0\n")
    made = look(tmp_path)[1].targets[0]
    assert made.keys["options"] == ["-use_cmp=0"]
    assert "of_next_year = 1 is not used: the libFuzzer in this target" in made.remarks[0]


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        ("max_len = 0", "a length is"),
        ("max_len = 99999999999999", "a length is"),
        ("timeout = soon", "a limit of time"),
        ("rss_limit_mb = 3", "a limit of memory"),
        ("dict = missing.dict", "no such file"),
        ("dict = ../outside.dict", "no such file"),
        ("artifact_prefix = /tmp/x", "fuzzwise sets it itself"),
        ("runs = 5", "the campaign decides"),
        ("merge = 1", "something else than fuzz"),
        ("verbosity = 0", "fuzzwise sets it itself"),
    ],
)
def test_options_that_cannot_be_are_remarks(tmp_path: Path, line: str, remark: str) -> None:
    (tmp_path / "outside.dict").write_text('"x"\n')
    script(tmp_path / "o" / "x")
    (tmp_path / "o" / "x.options").write_text(f"[libfuzzer]\n{line}\n")
    made = look(tmp_path / "o")[1].targets[0]
    assert len(made.remarks) == 1
    assert remark in made.remarks[0]
    assert not {"options", "max_length", "dictionary"} & made.keys.keys()


def test_random_values_stay_where_processes_draw_them_and_are_drawn_once_elsewhere(
    tmp_path: Path,
) -> None:
    script(tmp_path / "x")
    (tmp_path / "x.options").write_text(
        "[libfuzzer]\nmax_len = random(1, 50)\n[asan]\nquarantine_size_mb = random(3,3)\n"
        "[env]\nfuzzwise_state = /tmp\n"
    )
    made = look(tmp_path)[1].targets[0]
    assert made.keys["options"] == ["-max_len=random(1, 50)"]
    assert made.environment == {"ASAN_OPTIONS": "quarantine_size_mb=3"}
    assert "3 was drawn once" in made.remarks[0]
    assert "fuzzwise's own" in made.remarks[1]


def test_builds_for_other_fuzzers_are_told(out: Path, tmp_path: Path) -> None:
    content = Path("/bin/true").read_bytes()
    for name, mark in (
        ("c", b"CENTIPEDE_RUNNER_FLAGS"),
        ("h", b"_LIBHFUZZ_PERSISTENT_BINARY_SIGNATURE_"),
    ):
        path = tmp_path / name
        path.write_bytes(content + mark + b"\0LLVMFuzzerTestOneInput\0")
        path.chmod(0o755)
    (tmp_path / "__centipede_address").mkdir()
    script(tmp_path / "__centipede_address" / "c")
    _, found = look(tmp_path)
    assert not found.targets
    assert "built for Centipede" in file(found, tmp_path / "c").why
    assert "built for honggfuzz" in file(found, tmp_path / "h").why
    assert "Centipede" in file(found, tmp_path / "__centipede_address").why


def test_a_target_of_aflplusplus_is_one(tmp_path: Path) -> None:
    if not shutil.which("afl-fuzz"):
        pytest.skip("afl++ is not installed")
    path = tmp_path / "x"
    path.write_bytes(Path("/bin/true").read_bytes() + b"__AFL_SHM_ID\0")
    path.chmod(0o755)
    (tmp_path / "x.options").write_text("[libfuzzer]\nmax_len = 10\nuse_cmp = 1\n[env]\na = b\n")
    (tmp_path / "afl-fuzz").write_text("#!/bin/sh\n")
    _, found = look(tmp_path)
    made = found.targets[0]
    assert (made.engine, made.keys["max_length"], made.environment) == ("afl++", 10, {"A": "b"})
    assert "one of AFL++" in made.remarks[0]
    assert "of AFL++ itself" in file(found, tmp_path / "afl-fuzz").why


def test_a_target_may_be_called_as_tools_begin(tmp_path: Path) -> None:
    for name in ("afl_parser", "afl-harness", "honggfuzz_compat", "centipede_like"):
        script(tmp_path / name)
    tools = ("afl-fuzz", "afl-cmin.bash", "afl-clang-fast++", "centipede", "jazzer_driver_asan")
    for name in tools:
        script(tmp_path / name)
    (tmp_path / "afl_options.txt").touch()
    _, found = look(tmp_path)
    assert {each.keys["program"].name for each in found.targets} == {
        *("afl_parser", "afl-harness", "honggfuzz_compat", "centipede_like"),
    }
    assert {each.path.name for each in found.files if not each.taken_for} == {
        *(*tools, "afl_options.txt"),
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("build.sh", "#!/bin/sh\n# LLVMFuzzerTestOneInput is in these\ntouch {0}\n"),
        ("build", "#!/bin/sh\ntouch {0}\n$CC -DENTRY=LLVMFuzzerTestOneInput x.c\n"),
        ("compile", "#!/bin/sh\n" + "true\n" * 20 + "# LLVMFuzzerTestOneInput\ntouch {0}\n"),
    ],
)
def test_a_script_that_only_speaks_of_targets_is_not_run(tmp_path, name, text):
    was_run = tmp_path / "was-run"
    folder = tmp_path / "repository"
    folder.mkdir()
    script(folder / name, text.format(was_run))
    _, found = look(folder)
    assert not found.targets
    assert "it is not run" in file(found, folder / name).why
    assert not was_run.exists()


def test_what_only_its_name_calls_a_target_is_asked(tmp_path: Path) -> None:
    """OSS-Fuzz takes it for one by its name alone."""
    script(tmp_path / "old_fuzzer", "#!/bin/sh\necho print_final_stats 1 >&2\n")
    script(tmp_path / "make_fuzzer", "#!/bin/sh\necho usage >&2\n")
    script(tmp_path / "other", "#!/bin/sh\ntouch asked\n")
    _, found = look(tmp_path)
    assert [(each.name, each.engine) for each in found.targets] == [("old_fuzzer", "stock")]
    assert "does not answer -help=1" in file(found, tmp_path / "make_fuzzer").why
    assert "names no fuzz target" in file(found, tmp_path / "other").why


def test_scripts_of_atheris_are_targets_and_modules_beside_them_are_not(tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    (tmp_path / "fuzz_it.py").write_text("import atheris\ndef TestOneInput(data): pass\n")
    (tmp_path / "fuzz_it_seed_corpus").mkdir()
    (tmp_path / "fuzz_it_seed_corpus" / "a").write_text("x")
    (tmp_path / "helper.py").write_text("x = 1\n")
    _, found = look(tmp_path)
    assert [(each.name, each.engine) for each in found.targets] == [("fuzz_it", "python")]
    assert found.targets[0].keys["corpus"] == [tmp_path / "fuzz_it_seed_corpus"]
    assert "without a function TestOneInput" in file(found, tmp_path / "helper.py").why


def test_what_a_wrapper_starts_is_no_target_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "fuzz_it.py").write_text("import atheris\ndef TestOneInput(data): pass\n")
    script(tmp_path / "fuzz_it", f'{WRAPPER}exec python3 $(dirname $0)/fuzz_it.py "$@"\n')
    _, found = look(tmp_path)
    assert [(each.name, each.engine) for each in found.targets] == [("fuzz_it", "stock")]
    assert file(found, tmp_path / "fuzz_it.py").why == "started by fuzz_it"


PYTHON = """#!/bin/sh
# LLVMFuzzerTestOneInput for fuzzer detection.
this_dir=$(dirname "$0")
chmod +x $this_dir/{name}.pkg
LD_PRELOAD=$this_dir/sanitizer_with_fuzzer.so \\
$this_dir/{name}.pkg $@
"""
JAVA = """#!/bin/bash
# LLVMFuzzerTestOneInput for fuzzer detection.
this_dir=$(dirname "$0")
LD_LIBRARY_PATH="$JVM_LD_LIBRARY_PATH":$this_dir \\
$this_dir/jazzer_driver --agent_path=$this_dir/jazzer_agent_deploy.jar \\
--cp=$this_dir/core.jar:$this_dir/lib/bind.jar:$this_dir \\
--target_class=ReadFuzzer --jvm_args="-Xmx2048m" $@
"""
JAVASCRIPT = """#!/bin/bash
# LLVMFuzzerTestOneInput so that the wrapper script is recognized as a fuzz target.
cd project/test
jazzer fuzz -i project -- $@
"""
MADE_OF = {
    "fuzz_it": (PYTHON.format(name="fuzz_it"), {"fuzz_it.pkg", "sanitizer_with_fuzzer.so"}),
    "ReadFuzzer": (
        JAVA,
        {
            *("core.jar", "lib/bind.jar", "jazzer_agent_deploy.jar", "jazzer_driver"),
            *("ReadFuzzer.class", "ReadFuzzer$Inner.class"),
        },
    ),
    "fuzz": (JAVASCRIPT, {"project/test/fuzz.js", "project/index.js"}),
}
"""Wrappers as OSS-Fuzz and its projects write them, and what each starts."""

NOT_OF_IT = (
    *("other_fuzz_it.pkg", "OtherFuzzer.class", "score.jar", "it", "fuzz_it.dict", "corpus/a.js"),
    *("project/node_modules/x.js", "project/corpus/seed.js", "fuzz_it_seed_corpus.zip"),
)


@pytest.mark.parametrize("name", MADE_OF)
def test_a_rebuild_of_what_a_wrapper_starts_is_another_build(tmp_path: Path, name: str) -> None:
    text, parts = MADE_OF[name]
    wrapper = script(tmp_path / name, text)
    for part in (*parts, *NOT_OF_IT):
        script(tmp_path / part, "first\n")
    assert set(parts_of(wrapper)) == {wrapper, *(tmp_path / part for part in parts)}
    before = build_of(parts_of(wrapper))
    for part in NOT_OF_IT:
        script(tmp_path / part, "another\n")
    assert build_of(parts_of(wrapper)) == before
    for part in parts:
        script(tmp_path / part, "built anew\n")
        assert build_of(parts_of(wrapper)) != before, part
        script(tmp_path / part, "first\n")
    assert build_of(parts_of(wrapper)) == before


def test_what_a_wrapper_starts_is_listed_as_a_part_of_it(tmp_path: Path) -> None:
    script(tmp_path / "fuzz_it", PYTHON.format(name="fuzz_it"))
    (tmp_path / "fuzz_it.pkg").write_bytes(b"")
    script(tmp_path / "ReadFuzzer", JAVA)
    script(tmp_path / "WriteFuzzer", JAVA.replace("ReadFuzzer", "WriteFuzzer"))
    for name in ("core.jar", "ReadFuzzer.class", "WriteFuzzer.class", "Alone.class"):
        (tmp_path / name).write_bytes(b"")
    _, found = look(tmp_path)
    assert {each.name for each in found.targets} == {"fuzz_it", "ReadFuzzer", "WriteFuzzer"}
    assert len({each.path for each in found.files}) == len(found.files)
    parts = {each.path.name: each.why for each in found.files if each.taken_for == "part"}
    assert parts == {
        "fuzz_it.pkg": "started by fuzz_it",
        "core.jar": "started by ReadFuzzer",
        "ReadFuzzer.class": "started by ReadFuzzer",
        "WriteFuzzer.class": "started by WriteFuzzer",
    }


def crate(folder: Path) -> Path:
    fuzz = folder / "fuzz"
    (fuzz / "fuzz_targets").mkdir(parents=True)
    (folder / "Cargo.toml").write_text('[package]\nname = "url"\n')
    (fuzz / "Cargo.toml").write_text(
        '[package]\nname = "url-fuzz"\n[package.metadata]\ncargo-fuzz = true\n'
        '[dependencies]\nlibfuzzer-sys = "0.4"\n'
        '[[bin]]\nname = "parse"\npath = "fuzz_targets/parse.rs"\n'
        '[[bin]]\nname = "print"\npath = "fuzz_targets/print.rs"\n'
    )
    for name in ("parse", "print"):
        (fuzz / "fuzz_targets" / f"{name}.rs").write_text("fn main() {}\n")
    for place in ("corpus", "artifacts"):
        (fuzz / place / "parse").mkdir(parents=True)
        (fuzz / place / "parse" / "one").write_text("x")
    return fuzz


def test_the_build_of_a_crate_is_used_with_its_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    fuzz = crate(tmp_path)
    program = script(fuzz / "target" / "x86_64-unknown-linux-gnu" / "release" / "parse")
    _, found = look(tmp_path)
    assert [each.name for each in found.targets] == ["parse"]
    assert found.targets[0].keys == {"program": program, "corpus": [fuzz / "corpus" / "parse"]}
    assert "earlier crashes; fuzzwise triage" in file(found, fuzz / "artifacts" / "parse").why
    why = file(found, fuzz / "fuzz_targets" / "print.rs").why
    assert "it is not built, and cargo-fuzz is not here" in why
    assert "no program" not in {each.why for each in found.files}


@pytest.mark.parametrize("given", ["", "crates/url", "crates/url/fuzz"])
def test_the_build_of_a_crate_in_a_workspace_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    fuzz = crate(tmp_path / "crates" / "url")
    crate(tmp_path / "crates" / "other")
    (tmp_path / "Cargo.toml").write_text('[workspace]\nmembers = ["crates/*"]\n')
    release = tmp_path / "target" / "x86_64-unknown-linux-gnu" / "release"
    program = script(release / "parse")
    script(release / "deps" / "parse-0123456789abcdef")
    _, found = look(tmp_path / given)
    assert {each.keys["program"] for each in found.targets} == {program}
    corpora = {each.keys["corpus"][0] for each in found.targets}
    assert fuzz / "corpus" / "parse" in corpora
    paths = [each.path for each in found.files]
    assert len(paths) == len(set(paths))
    assert "no program" not in {each.why for each in found.files}


def test_a_crate_is_built_where_cargo_fuzz_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No registry can be reached from tests: cargo is one that makes the files."""
    fuzz = crate(tmp_path / "crate")
    tools = tmp_path / "tools"
    release = "target/x86_64-unknown-linux-gnu/release"
    script(tools / "cargo-fuzz")
    script(
        tools / "cargo",
        f'#!/bin/sh\necho "$@" > "{tmp_path}/called"\nmkdir -p "$4/{release}"\n'
        f'for t in parse print; do cp "$0" "$4/{release}/$t"; done\n',
    )
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    said: list[str] = []
    _, found = look(tmp_path / "crate", said.append)
    assert [each.name for each in found.targets] == ["parse", "print"]
    assert (tmp_path / "called").read_text() == f"fuzz build --fuzz-dir {fuzz}\n"
    assert said == ["Building fuzz with cargo fuzz build."]


def test_a_build_that_fails_is_told_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fuzz = crate(tmp_path / "crate")
    tools = tmp_path / "tools"
    script(tools / "cargo-fuzz")
    script(tools / "cargo", "#!/bin/sh\necho 'error: no network' >&2\nexit 1\n")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    _, found = look(tmp_path / "crate")
    assert not found.targets
    why = file(found, fuzz / "fuzz_targets" / "parse.rs").why
    assert "cargo fuzz build failed (error: no network)" in why


def test_a_mixture_has_all_of_it_and_each_name_once(tmp_path: Path) -> None:
    script(tmp_path / "a" / "fuzz")
    script(tmp_path / "b" / "fuzz")
    script(tmp_path / "FUZZ")
    _, found = look(tmp_path)
    names = [each.name.lower() for each in found.targets]
    assert len(names) == len(set(names)) == 3


def test_what_is_no_folder_of_targets_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(BadInput, match=r"(?s)no fuzz target in this folder.*notes\.txt: no prog"):
        look_for_targets(tmp_path)
    (tmp_path / "notes.txt").unlink()
    with pytest.raises(BadInput, match="It is empty"):
        look_for_targets(tmp_path)


def test_links_pipes_and_hidden_folders_are_told(tmp_path: Path) -> None:
    home = tmp_path / "home"
    script(home / "fuzz")
    script(tmp_path / "outside")
    (home / "out").symlink_to(tmp_path / "outside")
    (home / "loop").symlink_to(home)
    (home / "same").symlink_to(home / "fuzz")
    os.mkfifo(home / "pipe")
    (home / ".git").mkdir()
    (home / "run").mkdir()
    (home / "run" / "campaign.db").touch()
    (home / "findings" / "default").mkdir(parents=True)
    (home / "findings" / "default" / "fuzzer_stats").touch()
    (home / os.fsdecode(b"\xff")).touch()
    _, found = look(home)
    assert {each.keys["program"].name for each in found.targets} == {"fuzz", "same"}
    reasons = {each.path.name: each.why for each in found.files if not each.taken_for}
    for name, reason in {
        "out": "leads to no file of the folder",
        "loop": "leads to no file of the folder",
        "pipe": "neither a file nor a folder",
        ".git": "hidden",
        "run": "a campaign of fuzzwise",
        "findings": "what AFL++ has written",
        os.fsdecode(b"\xff"): "not in UTF-8",
    }.items():
        assert reason in reasons[name]


def test_the_file_of_init_is_what_run_uses(out: Path, tmp_path: Path) -> None:
    """And it is right as it is, from wherever it is."""
    before = content_of(out)
    for home in (tmp_path, out.parent):
        written = home / "campaign.toml"
        assert main(["init", str(out), "-o", str(written)]) == 0
        plan = read_plan(written)
        tree, found = look(out)
        ours = plan_of(tomllib.loads(campaign_text(tree, found, home)), written)
        assert plan == ours
        assert len(plan.targets) == len(found.targets)
        assert plan.folder == home / "out-campaign"
        written.unlink()
    assert content_of(out) == before


def test_init_overwrites_nothing(out: Path, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    written = tmp_path / "c.toml"
    written.write_text("mine")
    assert main(["init", str(out), "-o", str(written)]) == 2
    assert written.read_text() == "mine"
    assert "is there already" in capfd.readouterr().err
    assert main(["init", str(out), "-o", str(tmp_path / "no" / "c.toml")]) == 2
    assert main(["init", str(tmp_path / "none"), "-o", str(tmp_path / "d.toml")]) == 2
    assert "cannot be read" in capfd.readouterr().err


def test_init_as_json_lists_everything_and_writes_nothing(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(load("init"), [str(out), "--json"])
    assert list(tmp_path.iterdir()) == []
    document = json.loads(result.stdout)
    assert {"folder", "campaign", "targets", "files"} <= document.keys()
    assert len(document["targets"]) == 6
    unused = [each for each in document["files"] if each["taken_for"] is None]
    assert all(each["why"] for each in unused)


def test_a_read_only_folder_is_enough(out: Path) -> None:
    modes = {path: path.stat().st_mode for path in (out, *out.rglob("*"))}
    try:
        for path, mode in modes.items():
            path.chmod(stat.S_IMODE(mode) & ~0o222)
        assert len(look(out)[1].targets) == 6
    finally:
        for path, mode in modes.items():
            path.chmod(stat.S_IMODE(mode))


def test_init_prints_a_file_with_paths_from_the_current_folder(tmp_path: Path) -> None:
    script(tmp_path / "t" / "one")
    end = subprocess.run(
        ["fuzzwise", "init", "t", "-o", "-"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert tomllib.loads(end.stdout)["target"][0]["program"] == "t/one"
    assert '# corpus = "FOLDER"' in end.stdout  # none was found
    assert "t: 1 target." in end.stderr


# ── Go ─────────────────────────────────────────────────────────────────────────────────────


def test_every_fuzz_test_of_a_go_module_is_a_target(tmp_path: Path) -> None:
    module = go_target.module(tmp_path)
    before = content_of(module)
    seeds = module / "ini" / "testdata" / "fuzz" / "FuzzCalm"
    seeds.mkdir(parents=True)
    (seeds / "one").write_bytes(go_target.entry('[]byte("x")', "int(3)"))
    (module / "other").mkdir()
    (module / "other" / "o_test.go").write_text(
        'package other\n\nimport "testing"\n\nfunc FuzzCalm(f *testing.F) {}\n'
    )
    tree, found = look(module)
    assert [each.name for each in found.targets] == [
        *("ini.FuzzCalm", "FuzzEnds", "FuzzParse", "FuzzSays", "FuzzSeed", "other.FuzzCalm")
    ]
    assert {each.engine for each in found.targets} == {"go"}
    assert file(found, module / "ini" / "ini_test.go").taken_for == "target"
    assert file(found, module / "ini" / "ini.go").taken_for == "source"
    assert file(found, seeds).taken_for == "seeds"
    assert file(found, module / "ini" / "testdata" / "words.txt").why
    plan = plan_of(tomllib.loads(campaign_text(tree, found, tmp_path)), tmp_path / "c.toml")
    assert {target.command for target in plan.targets} >= {(str(module / "ini"), "FuzzParse")}
    now = content_of(module)
    assert all(now[path] == before[path] for path in before if path.endswith(".go"))


def test_a_package_in_a_module_and_a_module_without_go(tmp_path: Path, monkeypatch) -> None:
    module = go_target.module(tmp_path)
    assert len(look(module / "ini")[1].targets) == 5
    monkeypatch.setattr("fuzzwise.engines.go.toolchain.find", lambda name: None)
    monkeypatch.setattr("fuzzwise.engines.go.toolchain._USUAL", tmp_path / "none")
    _, found = look(module)
    assert not found.targets
    assert "apt-get install golang" in file(found, module / "ini" / "ini_test.go").why


def test_tests_of_go_in_no_module_are_told(tmp_path: Path) -> None:
    (tmp_path / "x_test.go").write_text("package x\n\nfunc FuzzX(f *testing.F) {}\n")
    _, found = look(tmp_path)
    assert "no go.mod" in file(found, tmp_path / "x_test.go").why
