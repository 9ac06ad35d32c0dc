"""Triage: real crashes of small programs, literal reports, and hostile ones."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzwise.errors import BadInput
from fuzzwise.triage import gdb
from fuzzwise.triage.crash import BugIdentity, identify
from fuzzwise.triage.frames import MAX_FRAMES, Frame, parse
from fuzzwise.triage.names import plain
from fuzzwise.triage.stack_hash import key_frames, stack_hash
from fuzzwise.triage.symbolizer import environment, symbolizer

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
    "plain": [],
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
            timeout=60,
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
        return gdb.backtrace([str(build(name))], path, timeout=60)

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
        ("w-100000000", "SEGV", "other", "heap_write"),
        ("x", "SEGV", "other", "wild_write"),
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
    started = time.monotonic()
    assert gdb.backtrace([str(target)], path, timeout=3) is None
    assert time.monotonic() - started < 30
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
    found = gdb.backtrace([target, "a b;$x'\"*\\"], None, timeout=60)
    assert identify(found or "").frames == ("give_up",)
    assert gdb.backtrace([target, "a b"], None, timeout=60) is None


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


ASAN = """\
==7==ERROR: AddressSanitizer: {message}
{access}
    #0 0x49a1 in __interceptor_memcpy (/tmp/t+0x49a1) (BuildId: d760d2)
    #1 0x51b2 in std::function<void (int)>::operator()(int) const /src/a b/f.h:7:3
    #2 0x51c3  (/opt/my (x)/libz.so.1+0x1c3) (BuildId: d760d2)
    #3 0x51d4 (/opt/libz.so.1+0x1d4)
    #4 0x51e5 in operator new(unsigned long) (/tmp/t+0x51e5)
    #5 0x51f6 in bool ns::operator< <int>(ns::A const&, int) csu/../x.cc:12
    #6 0x5207  (<unknown module>)

0x1 is located 0 bytes to the right of 8-byte region
allocated by thread T0 here:
    #0 0x6000 in malloc (/tmp/t+0x6000)
    #1 0x6001 in wrong /tmp/wrong.c:1:1
SUMMARY: AddressSanitizer: whatever
"""


@pytest.mark.parametrize(
    ("message", "access", "kind", "severity"),
    [
        ("heap-buffer-overflow on address 0x1", "READ of size 4", "heap-buffer-overflow", "read"),
        ("SEGV on unknown address 0x9", "==7==The signal is caused by a WRITE memory access.",
         "SEGV", "write"),
        ("SEGV on unknown address (pc 0x1 T0)", "", "SEGV", "other"),
        ("SEGV on unknown address 0x0", "==7==Hint: address points to the zero page.",
         "SEGV", "null dereference"),
        ("attempting double-free on 0x1 in thread T0:", "", "double-free", "write"),
        ("attempting free on address which was not malloc()-ed: 0x1", "", "bad-free", "write"),
        ("requested allocation size 0x7fff exceeds", "", "allocation-size-too-big", "resource"),
        ("negative-size-param: (size=-1)", "", "negative-size-param", "other"),
    ],
)  # fmt: skip
def test_address_sanitizer_texts(message: str, access: str, kind: str, severity: str) -> None:
    parsed = parse(ASAN.format(message=message, access=access))
    assert (parsed.kind, parsed.severity) == (kind, severity)
    assert parsed.frames == (
        Frame("__interceptor_memcpy", module="/tmp/t", offset=0x49A1),
        Frame("std::function<void (int)>::operator()(int) const", "/src/a b/f.h", 7),
        Frame(module="/opt/my (x)/libz.so.1", offset=0x1C3),
        Frame(module="/opt/libz.so.1", offset=0x1D4),
        Frame("operator new(unsigned long)", module="/tmp/t", offset=0x51E5),
        Frame("bool ns::operator< <int>(ns::A const&, int)", "csu/../x.cc", 12),
        Frame(),
    )
    assert key_frames(parsed.frames) == (
        "std::function<void (int)>::operator()",
        "libz.so.1+0x1c3",
        "libz.so.1+0x1d4",
        "ns::operator< <int>",
    )
    assert parsed.summary.endswith(" in std::function<void (int)>::operator() at f.h:7")


@pytest.mark.parametrize(
    ("text", "kind", "severity", "frames"),
    [
        ("x.c:3:9: runtime error: index 4 out of bounds for type 'int [3]'\n",
         "undefined-behavior: index out of bounds", "other", ("x.c:3",)),
        ("x.c:3:9: runtime error: load of null pointer of type 'int'\n    #0 0x1 in f /x.c:3:9\n",
         "undefined-behavior: load of null pointer", "null dereference", ("f",)),
        ("x.c:3:9: runtime error: store to misaligned address 0x7f01 for type 'int', which\n"
         "0x7f01: note: pointer points here\n 00 00\n  ^\n    #0 0x1 in f /x.c:3:9\n",
         "undefined-behavior: store to misaligned address", "write", ("f",)),
        ("x.c:1:2: runtime error: division by zero\n    #0 0x1 in early /x.c:1:2\n\n"
         "==7==ERROR: AddressSanitizer: ABRT on unknown address 0x1\n    #0 0x1 in late /x.c:9:2\n",
         "abort", "abort", ("late",)),
        ("==7==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 8 byte(s) in 1 "
         "object(s) allocated from:\n    #0 0x1 in malloc (/t+0x1)\n    #1 0x2 in f /x.c:1:2\n\n"
         "Indirect leak of 8 byte(s)\n    #0 0x1 in malloc (/t+0x1)\n    #1 0x2 in g /x.c:1:2\n",
         "leak", "resource", ("f",)),
        ("x.c:1:2: runtime error: division by zero\n    #0 0x1 in f /x.c:1:2\n\n"
         "==7==ERROR: LeakSanitizer: detected memory leaks\n    #0 0x1 in g /x.c:9:2\n",
         "undefined-behavior: division by zero", "divide", ("f",)),
        ("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\nREAD of size 1\n"
         "freed by thread T0 here:\n    #0 0x1 in g /x.c:1:2\n",
         "heap-use-after-free", "read", ()),
        ("==7==WARNING: MemorySanitizer: use-of-uninitialized-value\n    #0 0x1 in f /x.c:1:2\n\n"
         "  Uninitialized value was created by a heap allocation\n    #0 0x1 in g /x.c:1:2\n",
         "use-of-uninitialized-value", "read", ("f",)),
        ("==7== ERROR: libFuzzer: deadly signal\n    #0 0x1 in fuzzer::PrintStackTrace() (/t+0x1)\n"
         "    #1 0x2  (/lib/x86_64-linux-gnu/libc.so.6+0x3c04f)\n    #2 0x3 in abort stdlib/a.c:9\n"
         "    #3 0x4 in LLVMFuzzerTestOneInput /f.cc:4:1\n    #4 0x5 in main (/t+0x2)\n",
         "abort", "abort", ("LLVMFuzzerTestOneInput",)),
        ("==7== ERROR: libFuzzer: deadly signal\n    #0 0x1 in f /x.c:1:2\n",
         "deadly signal", "other", ("f",)),
        ("==7== ERROR: libFuzzer: timeout after 3 seconds\n    #0 0x1 in anywhere /x.c:1:2\n",
         "timeout", "resource", ()),
        ("==7== ERROR: libFuzzer: out-of-memory (malloc(8589934592))\n"
         "   To change the out-of-memory limit use -rss_limit_mb=<N>\n\n    #0 0x1 in f /x.c:1:2\n",
         "out-of-memory", "resource", ("f",)),
        ("==7== ERROR: libFuzzer: fuzz target exited\n    #0 0x1 in exit stdlib/exit.c:1:3\n"
         "    #1 0x1 in f /x.c:1:2\n", "exit", "other", ("f",)),
        ("t: x.c:27: int main(): Assertion `v==77' failed.\n", "abort", "abort", ()),
        ("\nThread 2 \"t\" received signal SIGBUS, Bus error.\n0x1 in f () at x.c:2\n2\t#0 x\n"
         "#0  f (s=0x1 \"a ) at (b\", n=<optimized out>)\n    at dir/x.c:2\n"
         "#1  0x7f in (anonymous namespace)::Q<void (*)(int)>::operator() (this=0x1) at x.cc:3\n"
         "#2  0x7f in ?? () from /lib/libz.so.1\n#3  <signal handler called>\n"
         "#4  0x7f in int (anonymous namespace)::g<int>(int) ()\n#5  0x7f in ?? ()\n"
         "(More stack frames follow...)\n#0  0x1 in h ()\n",
         "BUS", "other",
         ("f", "(anonymous namespace)::Q<void (*)(int)>::operator()", "libz.so.1",
          "(anonymous namespace)::g<int>")),
        ("#0  0x1 in f ()\n#1  0x2 in g ()\n", "unknown", "other", ("f", "g")),
        ("nothing to see here", "unknown", "other", ()),
    ],
)  # fmt: skip
def test_other_texts(text: str, kind: str, severity: str, frames: tuple[str, ...]) -> None:
    bug = identify(text)
    assert (bug.kind, bug.severity, bug.frames) == (kind, severity, frames)
    assert parse(text.replace("\n", "\r\n")) == parse(text)


def test_colours_and_control_characters_change_nothing() -> None:
    text = ASAN.format(message="SEGV on unknown address 0x1", access="READ of size 4")
    dirty = text.replace("0x51b2", "\x1b[1;31m0x51b2\x1b[0m").replace(
        "7:3", "\x007:\x073\x1b]0;t\x07"
    )
    assert dirty != text
    assert parse(dirty) == parse(text)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("main", "main"),
        ("f(int)", "f"),
        ("int f<int>(std::vector<int, std::allocator<int> >) const", "f<int>"),
        ("A::operator bool() const", "A::operator bool"),
        ("A::operator unsigned int() const", "A::operator unsigned int"),
        ("A::operator[](int)", "A::operator[]"),
        ("A::operator->() const", "A::operator->"),
        ("std::ostream& ns::operator<<(std::ostream&, A)", "ns::operator<<"),
        ("f(int)::{lambda()#1}::operator()() const", "f(int)::{lambda()#1}::operator()"),
        ("main::$_0::operator()(int) const", "main::$_0::operator()"),
        ("non-virtual thunk to A::f(int)", "A::f"),
        ("parse.part.0", "parse"),
        ("f(int) [clone .isra.0]", "f"),
        ("A::name[abi:cxx11]() const", "A::name"),
        ("__GI_raise", "raise"),
        ("pthread_kill@@GLIBC_2.34", "pthread_kill"),
        ("", ""),
    ],
)
def test_plain_names(function: str, name: str) -> None:
    assert plain(function) == name


def test_cycles_count_once_wherever_they_end() -> None:
    def key(words: str) -> tuple[str, ...]:
        return key_frames([Frame(word) for word in words.split()])

    assert key("a a a b") == ("a", "b")
    assert key("x a b a b a y") == key("x a b a b y") == key("x a b a y") == ("x", "a", "b", "y")
    assert key("a b c d a b c d a e") == ("a", "b", "c", "d", "e")
    assert key("a b b c a b c a b b") == ("a", "b", "c")
    assert key("a b c d e a b c d e") == ("a", "b", "c", "d", "e")


def test_the_hash_looks_at_names_and_never_at_addresses_or_lines() -> None:
    here = (Frame("f", "/one/x.c", 3, "/bin/t", 1), Frame("g(int)", "/one/x.c", 9))
    there = (Frame("f", "/two/x.c", 5, "/opt/t", 2), Frame("g"))
    assert stack_hash(here) == stack_hash(there) != stack_hash(here[:1])
    assert len(stack_hash(here)) == 16
    assert stack_hash(here, depth=1) == stack_hash(here[:1])
    assert stack_hash([Frame(f"f{i}") for i in range(9)]) == stack_hash(
        [Frame(f"f{i}") for i in range(5)]
    )
    with pytest.raises(BadInput, match="at least 1"):
        stack_hash(here, depth=0)


def test_without_frames_the_kind_is_the_bug() -> None:
    noise = [Frame("malloc"), Frame("__asan_memcpy"), Frame("main"), Frame()]
    assert stack_hash(noise, kind="SEGV") == stack_hash([], kind="SEGV")
    assert stack_hash([], kind="SEGV") != stack_hash([], kind="abort") != stack_hash([])
    assert stack_hash([], kind="f") != stack_hash([Frame("f")])


def test_the_signal_counts_where_the_text_names_no_crash() -> None:
    def of(number: int, text: str = "") -> tuple[str, str]:
        bug: BugIdentity = identify(text, number)
        return bug.kind, bug.severity

    assert of(signal.SIGSEGV) == ("SEGV", "other")
    assert of(signal.SIGABRT) == ("abort", "abort")
    assert of(signal.SIGFPE) == ("divide-by-zero", "divide")
    assert of(signal.SIGKILL) == ("killed", "resource")
    assert of(signal.SIGUSR1) == ("SIGUSR1", "other")
    assert of(999) == ("signal 999", "other")
    assert of(signal.SIGSEGV, "x.c:1:2: runtime error: division by zero")[1] == "divide"


HEADER = "==7==ERROR: AddressSanitizer: SEGV on unknown address\n"
FRAGMENTS = (
    *("==7==ERROR: AddressSanitizer: ", "SEGV on", "ERROR: libFuzzer: ", "x.c:1:2: ", "READ of"),
    *("runtime error: ", "Program received signal SIGSEGV", "#0 ", "    #1 0x1 in ", "\n", "\n"),
    *("operator", "<", ">", "(", ")", " ", "(/a+0x1)", " (BuildId: ab)", " at x.c:1", " from /l"),
    *("/x.c:1:2", "\x1b[31m", "\x1b]0;", "\x00", "\ufffd", "\u202e", "\ud800", "[clone", "::"),
)


@given(st.one_of(
    st.text(st.characters()),
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join),
))  # fmt: skip
@example("\ud800")
@example(HEADER + "#0 0x1 in \x1b[31mf\x1b[0m\x07\u202e /x.c:99999999999999999999:1")
def test_any_text_has_a_bug_without_control_characters(text: str) -> None:
    parsed, bug = parse(text), identify(text)
    places = [word for frame in parsed.frames for word in (frame.function, frame.file)]
    kept = [parsed.kind, parsed.summary, *places, *bug.frames]
    assert not {unicodedata.category(char) for char in "".join(kept)} & {"Cc", "Cs", "Zl", "Zp"}
    assert "\u202e" not in "".join(kept)
    assert len(bug.id) == 16
    assert len(parsed.frames) <= MAX_FRAMES


@pytest.mark.parametrize(
    "text",
    [
        "\n" * (4 << 20),
        "a:" * (4 << 20) + "runtime error: x",
        "\x1b[0" * (4 << 20),
        HEADER + "    #0 0x1 in " + "f<" * (4 << 20),
        HEADER + "    #0 0x1 in " + " (" * (4 << 20) + "+0x1)",
        HEADER + "    #0 0x1 in f" + " (BuildId: " * (1 << 20),
        HEADER + "    #0 0x1 in f\n" + "    #1 0x1 in f /x.c:1:2\n" * (1 << 18),
        "Program received signal SIGSEGV,\n#0  f (\n" + "    (\n" * (1 << 20),
        "#0 f () at x:1\n" * (1 << 18),
    ],
    ids=range(9),
)
def test_long_texts_take_a_moment_only(text: str) -> None:
    started = time.process_time()
    bug = identify(text)
    assert time.process_time() - started < 5
    assert bug == identify(text[: 1 << 20])
