"""A program in Rust with libFuzzer linked in, as stable rustc makes it: fuzzed as it is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from shown_again import fuzzed_until_a_bug, run_shown_command

SOURCE = Path(__file__).parent / "targets" / "rust_ledger.rs"
COVERAGE = (
    *("-sanitizer-coverage-level=4", "-sanitizer-coverage-inline-8bit-counters"),
    *("-sanitizer-coverage-pc-table", "-sanitizer-coverage-trace-compares"),
)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rustc, clang = shutil.which("rustc"), shutil.which("clang")
    if not rustc or not clang:
        pytest.skip("rustc and clang are not both installed")
    if subprocess.run([rustc, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("rustc is a link to a tool chain that is not there")
    folder = tmp_path_factory.mktemp("rust")
    library, program = folder / "libledger.a", folder / "ledger"
    words = [rustc, "-g", "-O", "--edition=2021", "-C", "panic=abort", "-C", "passes=sancov-module"]
    words += [word for flag in COVERAGE for word in ("-C", f"llvm-args={flag}")]
    subprocess.run([*words, "-o", str(library), str(SOURCE)], check=True)
    whole = f"-Wl,--whole-archive,{library},--no-whole-archive"
    link = [clang, "-g", "-fsanitize=fuzzer", whole, "-lpthread", "-ldl", "-lm"]
    subprocess.run([*link, "-o", str(program)], check=True)
    return program


def test_a_panic_is_found_told_with_its_place_and_shown_again(ledger, tmp_path):
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    (seeds / "one").write_text("cash:12\nrent:-7\ncash:3\n")
    bug = fuzzed_until_a_bug(ledger, seeds, out=tmp_path / "out")
    planted = next(
        number
        for number, line in enumerate(SOURCE.read_text().splitlines(), 1)
        if "planted:" in line
    )
    assert "ledger" in bug.frames[0] or "rust_ledger" in bug.frames[0]
    assert bug.frames[0].endswith("::share") or bug.frames[0].endswith("::balance")
    assert (Path(bug.file).name, bug.line) == (SOURCE.name, planted)
    shown = run_shown_command(bug, tmp_path / "out")
    assert shown.returncode != 0
    assert f"{SOURCE.name}:{planted}" in shown.stdout
