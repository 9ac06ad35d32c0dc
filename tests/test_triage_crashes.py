"""Triage of real crashes of small programs, with sanitizers and with gdb."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzwise.errors import BadInput
from fuzzwise.triage import gdb
from fuzzwise.triage.crash import identify
from fuzzwise.triage.frames import parse
from fuzzwise.triage.names import plain
from fuzzwise.triage.stack_hash import key_frames
from fuzzwise.triage.symbolizer import environment, symbolizer
from waiting import PATIENCE

SOURCE = r"""
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#define KEEP __attribute__((noinline, optnone))
static char *block;
KEEP char heap_read(int n) { return block[8 + n]; }
KEEP void heap_write(int n) { block[8 + n] = 1; }
KEEP void null_write(int n) { *(volatile int *)(long)n = 1; }
KEEP void wild_write() { *(volatile char *)0x4141414141414141 = 1; }
KEEP char after_free(int n) { free(block); return block[n & 7]; }
KEEP int divide(int n) { return 100 / n; }
KEEP void give_up() { abort(); }
KEEP void jump() { volatile long to = 0x123456789000; ((void (*)())to)(); }
KEEP void twice() { free(block); free(block); }
extern "C" void *__memset_chk(void *, int, size_t, size_t);
KEEP void copy(int n) { char room[8]; __memset_chk(room, 'x', n, sizeof room); }
KEEP void smash(int n) { char room[8]; memset(room, 'x', n); }
KEEP void claim(int n) { assert(n == 1234567); }
KEEP int add(int n) { volatile int big = 2147483647; return big + n; }
KEEP int endless(int n) { volatile char room[64]; room[0] = n; return endless(n + 1) + room[0]; }
KEEP int odd(int n);
KEEP int even(int n) { volatile char room[300]; room[0] = n; return odd(n + 1) + room[0]; }
KEEP int odd(int n) { volatile char room[100]; room[0] = n; return even(n + 1) + room[0]; }
KEEP int nested(int n, int depth) { return depth ? nested(n, depth - 1) : heap_read(n); }
KEEP void hang() { for (;;) usleep(1000); }
namespace {
template <typename A, typename B> struct Box {
  KEEP char operator()(int n) { return block[8 + n]; }
  template <typename C> KEEP C get(int n) { return (*this)(n); }
};
}
KEEP char boxed(int n) { return Box<int, void (*)(char const *)>().get<char>(n); }
int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "a b;$x'\"*\\") == 0) give_up();
  char text[64] = {0};
  if (fread(text, 1, 63, stdin) < 1) return 3;
  int n = atoi(text + 1);
  block = (char *)malloc(8);
  switch (text[0]) {
    case 'r': return heap_read(n);
    case 'w': heap_write(n); return 0;
    case 'n': null_write(n); return 0;
    case 'x': wild_write(); return 0;
    case 'u': return after_free(n);
    case '/': return divide(n);
    case 'a': give_up(); return 0;
    case 'j': jump(); return 0;
    case 'f': twice(); return 0;
    case 'c': copy(n); return 0;
    case 's': smash(n); return 0;
    case 'A': claim(n); return 0;
    case '+': return add(n);
    case 'e': return endless(n);
    case 'm': return even(n);
    case 'd': return nested(0, n);
    case 'b': return boxed(n);
    case 'h': if (n && !fork()) setpgid(0, 0); hang();
    case 'l': block = nullptr; return 0;
    case 'S': fputs("ready\n", stdout); kill(getpid(), SIGUSR1); return 0;
  }
  return 0;
}
"""
SANITIZERS = {
    "address": ["-fsanitize=address"],
    "undefined": ["-fsanitize=undefined", "-fno-sanitize-recover=undefined"],
    "plain": ["-fstack-protector-strong"],
    "nameless": ["-s"],
}


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Builds a target once, by the name of its flags."""
    compiler = shutil.which("clang++")
    if compiler is None:
        pytest.skip("clang++ is not installed")
    directory = tmp_path_factory.mktemp("triage")
    source = directory / "bugs.cpp"
    source.write_text(SOURCE)

    def built(name: str) -> Path:
        target = directory / name
        if not target.exists():
            debug = [] if name == "nameless" else ["-g"]
            command = [compiler, "-O0", *debug, *SANITIZERS[name], str(source), "-o", str(target)]
            subprocess.run(command, check=True, capture_output=True)
        return target

    return built


@pytest.fixture(scope="session")
def report(build: Callable[[str], Path]) -> Callable[..., str]:
    """What a target built with a sanitizer says when it reads a text."""

    def run(name: str, text: str, leaks: bool = False, padding: int = 0) -> str:
        variables = environment(leaks) | {"PADDING": "x" * padding}
        done = subprocess.run(
            [build(name)],
            input=text.encode(),
            env=os.environ | variables,
            capture_output=True,
            timeout=PATIENCE,
        )
        assert done.returncode != 0
        return done.stderr.decode(errors="replace")

    return run


@pytest.fixture
def trace(build: Callable[[str], Path], tmp_path: Path) -> Callable[[str, str], str | None]:
    """The backtrace gdb gives of a target that reads a text."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")

    def run(name: str, text: str) -> str | None:
        path = tmp_path / "an input"
        path.write_text(text)
        return gdb.backtrace([str(build(name))], path, timeout=PATIENCE)

    return run


@pytest.mark.parametrize(
    ("target", "text", "kind", "severity", "function"),
    [
        ("address", "r0", "heap-buffer-overflow", "read", "heap_read"),
        ("address", "w0", "heap-buffer-overflow", "write", "heap_write"),
        ("address", "n0", "SEGV", "null dereference", "null_write"),
        ("address", "u0", "heap-use-after-free", "read", "after_free"),
        ("address", "e0", "stack-overflow", "stack exhaustion", "endless"),
        ("address", "/0", "divide-by-zero", "divide", "divide"),
        ("address", "a", "abort", "abort", "give_up"),
        ("address", "A", "abort", "abort", "claim"),
        ("undefined", "+1", "undefined-behavior: signed integer overflow", "other", "add"),
        ("undefined", "/0", "undefined-behavior: division by zero", "divide", "divide"),
        ("undefined", "a", "abort", "abort", "give_up"),
    ],
)
def test_sanitizer_reports_of_real_crashes(
    report: Callable[..., str], target: str, text: str, kind: str, severity: str, function: str
) -> None:
    parsed = parse(found := report(target, text))
    bug = identify(found)
    assert (parsed.kind, parsed.severity) == (bug.kind, bug.severity) == (kind, severity)
    assert bug.frames == (function,)
    assert f" in {function} at bugs.cpp:" in parsed.summary
    assert next(f for f in parsed.frames if plain(f.function) == function).line is not None


@pytest.mark.parametrize(
    ("text", "kind", "severity", "function"),
    [
        ("n0", "SEGV", "null dereference", "null_write"),
        ("w-100000000", "SEGV", "write", "heap_write"),
        ("r-100000000", "SEGV", "read", "heap_read"),
        ("x", "SEGV", "write", "wild_write"),
        ("j", "SEGV", "jump", "jump"),
        ("f", "heap-corruption", "write", "twice"),
        ("c300", "stopped-overflow", "write", "copy"),
        ("s300", "smashed-stack", "write", "smash"),
        ("e0", "stack-overflow", "stack exhaustion", "endless"),
        ("/0", "divide-by-zero", "divide", "divide"),
        ("a", "abort", "abort", "give_up"),
        ("A", "abort", "abort", "claim"),
    ],
)
def test_gdb_backtraces_of_real_crashes(
    trace: Callable[[str, str], str | None], text: str, kind: str, severity: str, function: str
) -> None:
    found = trace("plain", text)
    assert found is not None
    bug = identify(found)
    assert (bug.kind, bug.severity, bug.frames) == (kind, severity, (function,))


def test_gdb_and_sanitizers_agree_on_the_bug(
    report: Callable[..., str], trace: Callable[[str, str], str | None]
) -> None:
    for text in ("n0", "a", "b-100000000"):
        found = trace("plain", text)
        assert found is not None
        assert identify(found).id == identify(report("address", text)).id


def test_the_allocation_of_a_leak_is_its_stack(report: Callable[..., str]) -> None:
    parsed = parse(report("address", "l", leaks=True))
    assert (parsed.kind, parsed.severity) == ("leak", "resource")
    assert [frame.function for frame in parsed.frames[:2]] == ["malloc", "main"]


def test_the_stacks_of_allocation_and_release_are_not_the_crash(report: Callable[..., str]) -> None:
    text = report("address", "u0")
    assert "freed by thread" in text
    frames = parse(text).frames
    assert [frame.function for frame in frames].count("main") == 1
    assert not any("free" in plain(f.function).removeprefix("after_free") for f in frames)


def test_one_bug_keeps_its_hash_at_other_addresses(report: Callable[..., str]) -> None:
    reports = [report("address", text) for text in ("r0", "r1", "r3", "r3")]
    assert len({text.split("#0 ", 1)[1].split()[0] for text in reports}) > 1, "no ASLR here"
    assert len({identify(text).id for text in reports}) == 1


def test_two_bugs_have_two_hashes(report: Callable[..., str]) -> None:
    texts = ("r0", "w0", "n0", "u0", "e0", "m0", "/0", "a", "A", "b0")
    assert len({identify(report("address", text)).id for text in texts}) == len(texts)


def test_the_depth_of_a_recursion_does_not_matter(report: Callable[..., str]) -> None:
    bugs = {identify(report("address", f"d{depth}")) for depth in (1, 2, 3, 10, 100)}
    assert [bug.frames for bug in bugs] == [("heap_read", "nested")]


def test_where_a_mutual_recursion_runs_out_of_stack_does_not_matter(
    report: Callable[..., str],
) -> None:
    reports = [report("address", "m0", padding=padding) for padding in range(0, 1600, 200)]
    assert {identify(text).frames for text in reports} == {("even", "odd")}


def test_templates_operators_and_anonymous_namespaces(report: Callable[..., str]) -> None:
    parsed = parse(report("address", "b0"))
    box = "(anonymous namespace)::Box<int, void (*)(char const*)>"
    assert parsed.frames[0].function == f"{box}::operator()(int)"
    assert parsed.frames[1].function == f"char {box}::get<char>(int)"
    assert key_frames(parsed.frames) == (f"{box}::operator()", f"{box}::get<char>", "boxed")


def test_without_names_bugs_are_told_apart_by_module_and_offset(
    trace: Callable[[str, str], str | None],
) -> None:
    bugs = [identify(trace("nameless", text) or "") for text in ("n0", "n4", "a")]
    assert all(bug.frames and bug.frames[0].startswith("nameless+0x") for bug in bugs)
    assert bugs[0] == bugs[1]
    assert bugs[0].id != bugs[2].id
    assert bugs[0].severity == "null dereference"


@pytest.mark.parametrize("text", ["q", "S", ""])
def test_gdb_has_no_backtrace_without_a_crash(
    trace: Callable[[str, str], str | None], text: str
) -> None:
    assert trace("plain", text) is None


def test_gdb_leaves_no_process_behind(build: Callable[[str], Path], tmp_path: Path) -> None:
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    # A copy, so that processes of tests that run at the same time are not mistaken for its own.
    target = Path(shutil.copy(build("plain"), tmp_path / "hanging"))
    path = tmp_path / "input"
    path.write_text("h1")
    assert gdb.backtrace([str(target)], path, timeout=3) is None
    assert target not in map(_program, Path("/proc").glob("[0-9]*"))


def _program(process: Path) -> Path | None:
    try:
        return (process / "exe").readlink()
    except OSError:
        return None


def test_gdb_says_what_it_cannot_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\nkill -SEGV $$\n")
    script.chmod(0o755)
    if shutil.which("gdb") is not None:
        with pytest.raises(BadInput, match="not a script"):
            gdb.backtrace([str(script)], None, timeout=60)
        with pytest.raises(BadInput, match="no program"):
            gdb.backtrace([str(tmp_path / "missing")], None, timeout=60)
        with pytest.raises(BadInput, match="no program"):
            gdb.backtrace([], None, timeout=60)
        with pytest.raises(BadInput, match="missing cannot be read: No such file"):
            gdb.backtrace(["/bin/true"], tmp_path / "missing", timeout=60)
        with pytest.raises(BadInput, match="positive"):
            gdb.backtrace(["/bin/true"], None, timeout=0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match="apt-get install gdb"):
        gdb.backtrace([str(script)], None, timeout=60)


def test_arguments_reach_the_program_under_gdb_as_they_are(build: Callable[[str], Path]) -> None:
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    target = str(build("plain"))
    found = gdb.backtrace([target, "a b;$x'\"*\\"], None, timeout=PATIENCE)
    assert identify(found or "").frames == ("give_up",)
    assert gdb.backtrace([target, "a b"], None, timeout=PATIENCE) is None


def test_the_symbolizer_is_that_of_the_path_or_else_of_the_newest_llvm(tmp_path: Path) -> None:
    for place in ("bin", "llvm-9/bin", "llvm-14/bin", "llvm-16/bin"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "llvm-symbolizer").touch(mode=0o755)
    (tmp_path / "llvm-16/bin/llvm-symbolizer").chmod(0o644)
    bin_path = str(tmp_path / "bin")
    assert symbolizer(bin_path, tmp_path) == tmp_path / "bin/llvm-symbolizer"
    assert symbolizer("/nowhere", tmp_path) == tmp_path / "llvm-14/bin/llvm-symbolizer"
    assert symbolizer("/nowhere", tmp_path / "bin") is None


def test_the_environment_keeps_the_options_of_the_user() -> None:
    added = environment(True, {"ASAN_OPTIONS": "quarantine_size_mb=1:detect_leaks=0"})
    assert added["ASAN_OPTIONS"].startswith("quarantine_size_mb=1:detect_leaks=0:symbolize=1:")
    assert added["ASAN_OPTIONS"].endswith(":detect_leaks=1")
    assert "print_stacktrace=1" in added["UBSAN_OPTIONS"]
    assert environment(False, {})["ASAN_OPTIONS"].endswith("handle_abort=1:detect_leaks=0")


def test_names_do_not_depend_on_debug_files_that_may_be_installed(
    report: Callable[..., str],
) -> None:
    files = [frame.file for frame in parse(report("address", "r1")).frames]
    assert any(file.endswith("bugs.cpp") for file in files)
    assert not any("libc" in file for file in files)
    assert "--debug-file-directory" in environment(False, {})["LLVM_SYMBOLIZER_OPTS"]
    own = {"LLVM_SYMBOLIZER_OPTS": "--basenames"}
    assert environment(False, own)["LLVM_SYMBOLIZER_OPTS"] == "--basenames"


def test_every_sanitizer_is_told_where_the_symbolizer_is() -> None:
    added = environment(False, {})
    for sanitizer in ("ASAN", "MSAN", "TSAN", "UBSAN"):
        assert added[f"{sanitizer}_SYMBOLIZER_PATH"] == str(symbolizer())
