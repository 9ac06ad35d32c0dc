"""Functions without names, and what a faulting instruction did."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzwise.triage import gdb
from fuzzwise.triage.crash import identify
from fuzzwise.triage.faults import Fault, explain
from fuzzwise.triage.functions import base_address, function_start

SOURCE = """
#include <stdio.h>
__attribute__((noinline)) int twice(int n) { return printf("%d", n) + n; }
__attribute__((noinline)) int thrice(int n) { return twice(n) * printf("%d", n + 1); }
int main(int argc, char **argv) { (void)argv; return thrice(argc) + twice(argc + 1); }
"""

ENDING = """
#include <stdlib.h>
#define CLOSE __attribute__((noinline, aligned(1), used))
CLOSE void dies(int n) { if (n) abort(); __builtin_unreachable(); }
CLOSE int after(int n) { return n + 1; }
int main(int argc, char **argv) { (void)argv; dies(argc); return after(argc); }
"""


@pytest.fixture(scope="module", params=["-pie", "-no-pie"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("clang") or shutil.which("cc")
    if compiler is None or shutil.which("nm") is None:
        pytest.skip("there is no C compiler or no nm")
    folder = tmp_path_factory.mktemp("functions")
    (folder / "t.c").write_text(SOURCE)
    flags = ["-O1", request.param, *(["-fPIE"] if request.param == "-pie" else [])]
    subprocess.run([compiler, *flags, folder / "t.c", "-o", folder / "t"], check=True)
    return folder / "t"


def _symbols(program: Path) -> dict[str, tuple[int, int]]:
    listing = subprocess.run(["nm", "-S", program], check=True, capture_output=True, text=True)
    rows = [line.split() for line in listing.stdout.splitlines()]
    return {row[3]: (int(row[0], 16), int(row[1], 16)) for row in rows if len(row) == 4}


def test_every_address_of_a_function_leads_to_its_start(program: Path) -> None:
    stripped = program.with_name("stripped")
    subprocess.run(["strip", program, "-o", stripped], check=True)
    symbols = _symbols(program)
    for name in ("main", "twice", "thrice"):
        start, size = symbols[name]
        for address in (start, start + 1, start + size - 1):
            assert function_start(str(stripped), address) == start
            assert function_start(str(program), address) == start
    assert base_address(str(program)) <= min(start for start, _ in symbols.values())
    assert base_address(str(program)) % 4096 == 0
    assert function_start(str(program), 0) is None


def test_a_call_that_never_returns_is_in_the_function_that_makes_it(tmp_path: Path) -> None:
    compiler = shutil.which("clang")
    if compiler is None or shutil.which("gdb") is None:
        pytest.skip("clang or gdb is not installed")
    source, target = tmp_path / "t.c", tmp_path / "t"
    source.write_text(ENDING)
    subprocess.run([compiler, "-Oz", source, "-o", target], check=True)
    symbols = _symbols(target)
    assert symbols["after"][0] == sum(symbols["dies"]), "nothing between the functions"
    subprocess.run(["strip", target], check=True)
    found = gdb.backtrace([str(target)], None, timeout=600)
    frames = identify(found or "", function_start=function_start).frames
    assert frames[0] == f"t+{symbols['dies'][0]:#x}"


def test_files_that_are_no_programs_have_no_functions(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    for module in ("text", "missing", "\0", ".", ""):
        assert function_start(str(tmp_path / module) if module != "\0" else module, 5) is None
        assert base_address(str(tmp_path / module) if module != "\0" else module) == 0


@given(st.data())
def test_damaged_programs_have_some_functions_or_none(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(64)
    content[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<Q", content, 32, 64)
    struct.pack_into("<HH", content, 54, 56, 1)
    content += struct.pack("<IIQQQQQQ", 0x6474E550, 4, 120, 120, 0, 20, 20, 4)
    content += struct.pack("<BBBBiIii", 1, 0x1B, 3, 0x3B, 0, 1, -20, 0)
    changed = data.draw(st.lists(st.tuples(st.integers(6, 139), st.integers(0, 255))))
    for at, value in changed:
        content[at % len(content)] = value
    path = tmp_path_factory.mktemp("damaged") / "program"
    path.write_bytes(content)
    assert changed or function_start(str(path), 1 << 20) == 100
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    start = function_start(str(path), 1 << 20)
    assert start is None or start <= 1 << 20


def test_frames_without_names_are_named_after_their_function() -> None:
    def start(module: str, address: int) -> int | None:
        return address // 256 * 256 if module.startswith("/bin") else None

    def frames(*addresses: int, module: str = "/bin/t") -> tuple[str, ...]:
        lines = [f"    #{i} 0x1  ({module}+{a:#x})" for i, a in enumerate(addresses)]
        text = "\n".join(["==7==ERROR: AddressSanitizer: SEGV on unknown address", *lines])
        return identify(text, function_start=start).frames

    assert frames(0x123, 0x456) == frames(0x101, 0x4FF) == ("t+0x100", "t+0x400")
    assert frames(0x123, 0x456) != frames(0x123, 0x556)
    assert frames(0x123, module="/opt/t") == ("t+0x123",)


WRITE = "The signal is caused by a WRITE memory access."
READ = "The signal is caused by a READ memory access."
FAR = 0x7000_0000


@pytest.mark.parametrize(
    ("instruction", "words"),
    [
        ("mov    %al,(%rdi)", WRITE),
        ("mov    (%rdi),%al", READ),
        ("movb   $0x1,0x8(%rax,%rbx,4)", WRITE),
        ("movzbl 0x8(%rax,%rbx,4),%ecx", READ),
        ("mov    %eax,0x0", WRITE),
        ("mov    %fs:0x28,%rax", READ),
        ("mov    0x2ee1(%rip),%rax        # 0x555555558010 <(stores)>", READ),
        ("add    %esi,0x20(%rdi)", WRITE),
        ("add    0x20(%rdi),%esi", READ),
        ("lock xadd %eax,(%rdx)", WRITE),
        ("xchg   (%rdx),%eax", WRITE),
        ("cmpxchg %edx,(%rdi)", WRITE),
        ("cmpb   $0x0,(%rdi)", READ),
        ("testl  $0x1,0x10(%rax)", READ),
        ("bt     %eax,(%rdi)", READ),
        ("bts    %eax,(%rdi)", WRITE),
        ("incl   (%rdi)", WRITE),
        ("divl   (%rdi)", READ),
        ("imul   $0x3,(%rdi),%eax", READ),
        ("call   *0x8(%rax)", READ),
        ("push   %rbp", WRITE),
        ("push   (%rax)", READ),
        ("rep stos %al,%es:(%rdi)", WRITE),
        ("repz cmpsb %es:(%rdi),%ds:(%rsi)", READ),
        ("vmovdqu (%rsi),%ymm0", READ),
        ("vmovdqu %ymm0,(%rdi)", WRITE),
        ("vmovdqu64 %zmm0,(%rdi){%k1}", WRITE),
        ("vpcmpeqb (%rdi),%ymm0,%ymm1", READ),
        ("flds   (%rdi)", READ),
        ("fstps  (%rdi)", WRITE),
        ("nop", ""),
        ("ldr    x0, [x1]", ""),
        ("", ""),
    ],
)
def test_an_instruction_tells_a_read_from_a_write(instruction: str, words: str) -> None:
    assert explain(Fault(1, FAR, 0x1000_0000, 0x2000_0000, instruction)) == words
    untold = Fault(128, 0, 0x1000_0000, 0x2000_0000, instruction)
    assert explain(untold) == words, "an address that is not told is not null"


def test_a_copying_instruction_reads_or_writes_depending_on_the_address() -> None:
    def told(address: int, destination: int | None) -> str:
        text = "rep movsb %ds:(%rsi),%es:(%rdi)"
        return explain(Fault(1, address, 0x1000_0000, 0x2000_0000, text, destination))

    assert told(FAR, FAR) == WRITE
    assert told(FAR + 8, FAR) == WRITE
    assert told(FAR, FAR + 0x1000) == READ
    assert told(FAR, None) == ""


def test_hints_about_addresses() -> None:
    store = "mov    %al,(%rdi)"
    assert explain(Fault(1, 8, 0x1000_0000, 0x2000_0000, store)).startswith(
        "Hint: address points to the zero page."
    )
    assert explain(Fault(1, 0x0FFF_FFF8, 0x1000_0000, 0x2000_0000, store)).startswith(
        "Hint: the stack is exhausted."
    )
    assert "wild jump" in explain(Fault(1, FAR, 0x1000_0000, FAR))
    assert "wild jump" in explain(Fault(128, 0, 0x1000_0000, 0x2000_0000, "ret"))
    assert explain(Fault(0, FAR, 0x1000_0000, FAR, store)) == "", "sent by kill(2)"
