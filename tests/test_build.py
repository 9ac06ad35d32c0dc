"""Building observed targets: wrappers in real builds, sanitizers, shared libraries, compilers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzwise.cli import main
from fuzzwise.engines.libfuzzer.build import compile_words, find_toolchain
from fuzzwise.engines.observer.build import COUNTING, NATIVE
from fuzzwise.errors import BadInput
from observed_target import EXAMPLES, TARGETS, fuzz

FUZZWISE = [sys.executable, "-m", "fuzzwise"]
COMPILERS = [name for name in ("clang", "clang-19", "clang-16") if shutil.which(name)]


def run(*words: object, cwd: Path | None = None, **environment: str) -> str:
    result = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, cwd=cwd, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr + result.stdout
    return result.stdout


def check_works(target: Path, out: Path, **environment: str) -> dict:
    result = fuzz(target, out, "--inputs", 3000, "--json", **environment)
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["inputs"] == 3000
    assert document["discoveries"] >= 1
    return document


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("sanitizer", ["none", "address", "undefined"])
def test_build_with_and_without_sanitizers(tmp_path, compiler, sanitizer):
    flags = [] if sanitizer == "none" else [f"-fsanitize={sanitizer}"]
    target = tmp_path / "target"
    run(*FUZZWISE, "build", EXAMPLES / "bad.c", "-o", target, *flags, FUZZWISE_CLANG=compiler)
    check_works(target, tmp_path / "out")


HARNESS = """
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<std::string> words;
  std::string word;
  for (size_t i = 0; i < size; i++) {
    if (data[i] > 128) { words.push_back(word); word.clear(); }
    else word += static_cast<char>(data[i]);
  }
  return words.size() > 3 ? 0 : 0;
}
"""


def test_build_cxx(tmp_path):
    source = tmp_path / "harness.cc"
    source.write_text(HARNESS)
    run(*FUZZWISE, "build", source, "-o", tmp_path / "target", "-std=c++17")
    check_works(tmp_path / "target", tmp_path / "out")


LIBRARY = """
int depth(const unsigned char *data, unsigned long size);
int depth(const unsigned char *data, unsigned long size) {
  if (size < 1 || data[0] < 100) return 0;
  if (size < 2 || data[1] < 100) return 1;
  return size > 2 && data[2] > 100 ? 3 : 2;
}
"""
USER = """
#include <stddef.h>
#include <stdint.h>
int depth(const unsigned char *data, unsigned long size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { depth(data, size); return 0; }
"""
MAKEFILE = """
CFLAGS ?= -O1
harness: harness.o libdepth.a
\t$(CC) $(CFLAGS) harness.o libdepth.a $(FUZZER) -o $@
libdepth.a: depth.o
\tar rcs $@ $<
"""


def project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "depth.c").write_text(LIBRARY)
    (folder / "harness.c").write_text(USER)
    return folder


def test_cc_is_a_drop_in_for_make(tmp_path):
    folder = project(tmp_path / "project")
    (folder / "Makefile").write_text(MAKEFILE)
    run("make", f"CC={' '.join(FUZZWISE)} cc", "FUZZER=-fsanitize=fuzzer", cwd=folder)
    assert check_works(folder / "harness", tmp_path / "out")["discoveries"] >= 3


def test_engine_is_a_drop_in_for_lib_fuzzing_engine(tmp_path):
    folder = project(tmp_path / "project")
    library = run(*FUZZWISE, "engine").strip()
    flags = ["-fsanitize=fuzzer-no-link", "-g", "-O1"]
    run("clang", *flags, "-c", "depth.c", "harness.c", cwd=folder)
    run("clang++", *flags, "depth.o", "harness.o", library, "-o", "harness", cwd=folder)
    assert check_works(folder / "harness", tmp_path / "out")["discoveries"] >= 3


@pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")
def test_wrappers_are_compilers_for_cmake(tmp_path):
    """CMake compiles and links test programs first: these must work without an engine."""
    folder = project(tmp_path / "project")
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(p C CXX)\n"
        "add_library(depth depth.c)\nadd_executable(harness harness.c)\n"
        "target_link_libraries(harness depth -fsanitize=fuzzer)\n"
    )
    for name, kind in (("cc", "cc"), ("cxx", "cxx")):
        script = tmp_path / name
        script.write_text(f'#!/bin/sh\nexec {" ".join(FUZZWISE)} {kind} "$@"\n')
        script.chmod(0o755)
    run(
        "cmake",
        "-S",
        folder,
        "-B",
        tmp_path / "b",
        CC=str(tmp_path / "cc"),
        CXX=str(tmp_path / "cxx"),
    )
    run("cmake", "--build", tmp_path / "b")
    assert check_works(tmp_path / "b" / "harness", tmp_path / "out")["discoveries"] >= 3


def test_coverage_of_instrumented_shared_libraries_counts(tmp_path):
    folder = project(tmp_path / "project")
    run(*FUZZWISE, "cc", "-O1", "-fPIC", "-shared", "depth.c", "-o", "libdepth.so", cwd=folder)
    run(*FUZZWISE, "build", "harness.c", "-L.", "-ldepth", f"-Wl,-rpath,{folder}", "-o", "harness",
        cwd=folder)  # fmt: skip
    assert check_works(folder / "harness", tmp_path / "out")["discoveries"] >= 3


def test_a_failing_compilation_fails(tmp_path):
    source = tmp_path / "broken.c"
    source.write_text("int LLVMFuzzerTestOneInput(;\n")
    for words in (
        ["build", source, "-o", tmp_path / "t"],
        ["cc", "-c", source, "-o", tmp_path / "o"],
    ):
        result = subprocess.run(
            [*FUZZWISE, *map(str, words)], capture_output=True, text=True, check=False
        )
        assert result.returncode == 1
        assert "error:" in result.stderr


@pytest.mark.parametrize("command", ["build", "cc", "cxx"])
def test_to_compile_nothing_is_bad_usage(command, capsys):
    assert main([command]) == 2
    assert f"Usage: fuzzwise {command}" in capsys.readouterr().err


def test_a_missing_compiler_is_named_with_what_installs_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="apt-get install clang"):
        find_toolchain()
    monkeypatch.setenv("FUZZWISE_CLANG", "clang-99")
    with pytest.raises(BadInput, match="clang-99"):
        find_toolchain()


def test_a_missing_runtime_is_named_with_what_installs_it(monkeypatch, tmp_path):
    fake = tmp_path / "clang"
    fake.write_text(f"#!/bin/sh\necho {tmp_path}/lib/clang/17\n")
    fake.chmod(0o755)
    monkeypatch.setenv("FUZZWISE_CLANG", str(fake))
    with pytest.raises(BadInput, match="apt-get install libclang-rt-17-dev"):
        find_toolchain()


@pytest.mark.parametrize(
    ("words", "linked"),
    [
        (["a.c", "-fsanitize=fuzzer,address", "-o", "t"], "libfuzzwise.a"),
        (["a.c", "-fsanitize=fuzzer", "-o", "t"], "libfuzzwise.a interceptors"),
        (["conftest.c", "-o", "conftest"], "libfuzzwise_stubs.a"),
        (["-c", "a.c", "-fsanitize=fuzzer"], ""),
        (["-shared", "a.o", "-o", "liba.so"], ""),
        (["--version"], ""),
    ],
)
def test_what_is_linked(words, linked):
    command = compile_words(find_toolchain(), words, cxx=False)
    archives = [Path(word).name for word in command if word.endswith(".a")]
    assert len(archives) == len(linked.split())
    for archive, part in zip(archives, linked.split(), strict=True):
        assert part in archive
    assert "-fsanitize=fuzzer-no-link" in command
    assert "-fsanitize=fuzzer" not in command
    if "fuzzer,address" in " ".join(words):
        assert "-fsanitize=address" in command


def test_counts_of_20000_seeds_and_200000_features_fit_into_256_mib(tmp_path):
    program = tmp_path / "memory"
    state = tmp_path / "state"
    state.mkdir()
    sources = [NATIVE / name for name in COUNTING]
    run("clang", "-O2", "-std=gnu11", f"-I{NATIVE}", TARGETS / "memory.c", *sources, "-o", program,
        "-lm", "-lpthread")  # fmt: skip
    run(program, state)
    used = sum(path.stat().st_blocks * 512 for path in state.iterdir())
    assert used <= 256 * 2**20


# ── what users get wrong ──────────────────────────────────────────────────────────────────────

MAIN = "int main(int argc, char **argv) { return argc > 3; }\n"


@pytest.mark.parametrize(
    ("name", "source", "flags", "said"),
    [
        ("own.c", MAIN, (), "a main of their own"),
        ("own.c", MAIN, ("-fsanitize=address",), "a main of their own"),
        ("both.c", USER + MAIN, (), "a main of their own"),
        ("harness.cc", USER.replace('extern "C"', ""), (), 'In C++ it needs extern "C"'),
        ("none.c", "int nothing;\n", (), "The sources have no harness"),
    ],
)
def test_sources_that_are_no_harness_are_explained(tmp_path, name, source, flags, said):
    (tmp_path / name).write_text(source)
    (tmp_path / "depth.c").write_text(LIBRARY)
    words = [*FUZZWISE, "build", name, *flags, "-o", "target"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert last.startswith("fuzzwise build: ")
    assert said in last


def test_the_sources_of_a_campaign_are_explained_too(tmp_path):
    (tmp_path / "own.c").write_text(MAIN)
    (tmp_path / "c.toml").write_text('[[target]]\nname = "own"\nsources = "own.c"\n')
    words = [*FUZZWISE, "run", "c.toml", "--time", "1s"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "a main of their own" in done.stdout


def test_the_engine_can_be_linked_by_clang(tmp_path):
    folder = project(tmp_path / "project")
    words = run(*FUZZWISE, "engine", "--link").split()
    flags = ["-fsanitize=fuzzer-no-link", "-g", "-O1"]
    run("clang", *flags, "-c", "depth.c", "harness.c", cwd=folder)
    run("clang", *flags, "depth.o", "harness.o", *words, "-o", "harness", cwd=folder)
    assert check_works(folder / "harness", tmp_path / "out")["discoveries"] >= 3
