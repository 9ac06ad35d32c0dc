"""Panics of Rust: the bug is where the harness panicked, not in how Rust does that."""

from __future__ import annotations

from fuzzwise.triage.examine import from_report
from fuzzwise.triage.names import plain

REPORT = """
==15==ERROR: UndefinedBehaviorSanitizer: ABRT on unknown address 0x000000003e39 (pc 0x7fd0f9088eec)
    #0 0x7fd0f9088eec  (/lib/x86_64-linux-gnu/libc.so.6+0x8aeec) (BuildId: 93ac)
    #1 0x7fd0f9039fb1 in raise (/lib/x86_64-linux-gnu/libc.so.6+0x3bfb1) (BuildId: 93ac)
    #2 0x7fd0f9024471 in abort (/lib/x86_64-linux-gnu/libc.so.6+0x26471) (BuildId: 93ac)
    #3 0x558377ae1149 in std::sys::pal::unix::abort_internal /rustc/59/src/mod.rs:305:14
    #4 0x558377ae0ee8 in std::process::abort /rustc/59/src/process.rs:2533:5
    #5 0x558377adfc69 in __rustc::__rust_abort /rustc/59/src/rt.rs:33:5
    #6 0x558377b41159 in __rustc::__rust_start_panic /rustc/59/library/panic_abort/src/lib.rs:50:5
    #7 0x558377adfc1d in __rustc::rust_panic /rustc/59/src/panicking.rs:886:25
    #8 0x558377b78aa4 in std::panicking::panic_with_hook /rustc/59/library/std/panicking.rs:850:5
    #9 0x558377b55feb in std::panicking::begin_panic::<&str>::{closure#0} /rustc/59/panicking.rs:7:5
    #10 0x558377adf3df in std::panicking::begin_panic::<&str> /rustc/59/panicking.rs:7:5
    #11 0x558377b410ce in my_parser::PLACE /src/lib.rs:4:86
    #12 0x558377b410ce in LLVMFuzzerTestOneInput /src/lib.rs:40:9
    #13 0x558377afe4c3 in fuzzer::Fuzzer::ExecuteCallback(unsigned char const*) (/t+0x3)
SUMMARY: UndefinedBehaviorSanitizer: ABRT (/lib/x86_64-linux-gnu/libc.so.6+0x8aeec) (BuildId: 93ac)
"""


def test_two_panics_are_two_bugs_each_in_its_place():
    one = from_report(REPORT.replace("PLACE", "number"))
    other = from_report(REPORT.replace("PLACE", "text"))
    assert one.bug.frames[0] == "my_parser::number"
    assert (one.file, one.line) == ("/src/lib.rs", 4)
    assert one.bug.id != other.bug.id


def test_the_hash_that_older_compilers_append_does_not_name_a_function():
    assert plain("my_parser::number::h0123456789abcdef") == "my_parser::number"
    assert plain("my_parser::h0123") == "my_parser::h0123"
