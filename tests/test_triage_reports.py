"""Triage of literal reports, and of hostile ones."""

from __future__ import annotations

import signal
import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzzwise.errors import BadInput
from fuzzwise.text import printable
from fuzzwise.triage.crash import BugIdentity, identify
from fuzzwise.triage.frames import MAX_FRAMES, Frame, has_sanitizer_report, parse
from fuzzwise.triage.names import plain
from fuzzwise.triage.stack_hash import key_frames, stack_hash

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
        ("SEGV on unknown address (pc 0x1 T0)", "", "SEGV", "access"),
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
         "BUS", "access",
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


def _key(words: str) -> tuple[str, ...]:
    return key_frames([Frame(word) for word in words.split()])


def test_a_bug_at_any_depth_of_a_recursion_is_one_bug() -> None:
    assert _key("a a a b") == ("a", "b")
    assert _key("x a b a b a y") == _key("x a b a y") == _key("x a y") == ("x", "a", "y")
    # A parser: divide in a product of a sum, within any number of brackets.
    brackets = "factor product sum "
    nested = {_key(f"divide product sum {brackets * n} statement") for n in range(9)}
    assert nested == {("divide", "product", "sum", "statement")}
    assert _key("a b c d e f a b c d e f g h") == ("a", "b", "c", "d", "e")


def test_in_a_stack_that_is_cut_off_cycles_count_once_wherever_they_end() -> None:
    def cut(start: str, cycle: str) -> tuple[str, ...]:
        words = start.split()
        while len(words) < MAX_FRAMES:
            words += cycle.split()
        return _key(" ".join(words[:MAX_FRAMES]))

    assert cut("x", "a b") == cut("x a a", "b a") == ("x", "a", "b")
    assert cut("x", "a b c") == cut("x a b c c", "a b c") == ("x", "a", "b", "c")
    assert cut("", "a b c d e") == ("a", "b", "c", "d", "e")


def test_an_endless_recursion_is_no_crash_at_one_place_of_it() -> None:
    frames = [Frame("f")] * 9
    assert stack_hash(frames, kind="stack-overflow") != stack_hash(frames, kind="SEGV")
    assert stack_hash(frames, kind="stack-overflow") == stack_hash(
        [*frames, Frame("main")], kind="stack-overflow"
    )


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

    assert of(signal.SIGSEGV) == ("SEGV", "access")
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


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        ("==7==ERROR: AddressSanitizer: SEGV on unknown address", True),
        ("noise\n==7== ERROR: libFuzzer: deadly signal\n", True),
        ("x.c:3:9: runtime error: index 4 out of bounds for type 'int [3]'\n", True),
        ("Program received signal SIGSEGV\n#0  0x1 in f ()\n", False),
        ("t: x.c:27: int main(): Assertion `v==77' failed.\n", False),
        ("", False),
    ],
)
def test_reports_of_sanitizers_are_told_from_other_output(text: str, whether: bool) -> None:
    assert has_sanitizer_report(text) is whether


def test_file_names_are_printable() -> None:
    assert printable("id:000,sig:11") == "id:000,sig:11"
    assert printable("a\x1b[31m\n\udcff\u202eb") == "a\\x1b[31m\\n\\udcff\\u202eb"


GDB = """\
Program received signal SIGABRT, Aborted.
#0  0x1 in ?? () from /lib/libc.so.6
#1  0x2 in raise () from /lib/libc.so.6
#2  0x3 in abort () from /lib/libc.so.6
{frames}
"""


@pytest.mark.parametrize(
    ("frames", "kind", "severity", "key"),
    [
        ("#3  0x4 in f ()\n#4  0x5 in free ()", "abort", "abort", ("f",)),
        ("#3  0x4 in ?? () from /lib/libc.so.6\n#4  0x5 in free ()\n#5  0x6 in f ()",
         "heap-corruption", "write", ("f",)),
        ("#3  0x4 in __chk_fail ()\n#4  0x5 in f ()\n#5  0x6 in g ()",
         "stopped-overflow", "write", ("f", "g")),
        ("#3  0x4 in __stack_chk_fail ()\n#4  0x5 in f ()\n#5  0x6 in garbage ()",
         "smashed-stack", "write", ("f",)),
        ("#3  0x4 in __assert_fail ()\n#4  0x5 in f ()", "abort", "abort", ("f",)),
    ],
)  # fmt: skip
def test_aborts_of_the_library_say_what_it_noticed(
    frames: str, kind: str, severity: str, key: tuple[str, ...]
) -> None:
    bug = identify(GDB.format(frames=frames))
    assert (bug.kind, bug.severity, bug.frames) == (kind, severity, key)


STDIO = (
    "fread fclose puts vfprintf snprintf asprintf __printf_chk __vfprintf_internal "
    "__printf_buffer_write __isoc99_sscanf _IO_file_doallocate"
)


@pytest.mark.parametrize("name", STDIO.split())
def test_what_is_inside_of_reading_and_writing_is_noise(name: str) -> None:
    user = [Frame("parse"), Frame("main")]
    assert stack_hash([Frame(name), *user]) == stack_hash(user)


@pytest.mark.parametrize(
    "name", ["read_file", "printf_page", "my_fread", "scan", "IO_open", "sputs"]
)
def test_functions_with_similar_names_are_not(name: str) -> None:
    user = [Frame("parse"), Frame("main")]
    assert stack_hash([Frame(name), *user]) != stack_hash(user)
