"""Which engine a program is for, where nobody says: from its bytes, and a script also by asking."""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from pathlib import Path

from fuzzwise.engines.contents import LIBFUZZER, OBSERVER, contains, is_elf
from fuzzwise.engines.process import FuzzingProcess, wait_for_any
from fuzzwise.engines.registry import claiming_engine, likely_engine
from fuzzwise.errors import BadInput
from fuzzwise.received import read_limited

PATIENCE = 4.0
"""Seconds that a script has to tell its options."""

LOOKED_FOR = (
    "LLVMFuzzerTestOneInput of libFuzzer, __AFL_SHM_ID of AFL++, FUZZWISE_STATE of fuzzwise"
)
AS_A_BLACK_BOX = (
    "--engine black-box --arguments @@ and one seed file (in a campaign file: command = 'PROGRAM "
    "@@' and corpus)"
)

_LONGEST = 1 << 20
_HELP = "print_final_stats"


def recognise(program: Path) -> str:
    """The name of the engine that a program was made for; BadInput where it is none for a fuzzer.

    What is not there, or cannot be run, is for the engine to refuse.
    """
    claimed = claiming_engine(program)
    if claimed or not program.is_file() or not os.access(program, os.X_OK):
        return claimed or likely_engine(program)
    if wrong := objection(program):
        raise BadInput(f"{program}: {wrong}")
    if not is_elf(program) and not _names_observer(program) and not answers(program):
        raise BadInput(
            f"{program}: nothing in it is of a fuzzer ({LOOKED_FOR}), and it does not answer "
            f"-help=1 within {PATIENCE:g} s as libFuzzer does. If it starts a fuzz target, say for "
            "whom: --engine stock, libfuzzer or afl++. Any other program that reads a file is "
            f"fuzzed with: {AS_A_BLACK_BOX}"
        )
    return likely_engine(program)


def objection(program: Path) -> str:
    """What is wrong with a program that surely has no observer; "" for scripts, which may."""
    if not is_elf(program) or contains(program, OBSERVER):
        return ""
    if any(contains(program, mark) for mark in LIBFUZZER):
        return (
            "was not built with fuzzwise. Fuzz it as it is with the engine stock, or build it "
            f"with: fuzzwise build SOURCES -o {shlex.quote(program.name)}"
        )
    return (
        f"nothing in it is of a fuzzer ({LOOKED_FOR}). If it reads a file or standard input, fuzz "
        f"it as a black box: {AS_A_BLACK_BOX}. A harness is built with: "
        f"fuzzwise build SOURCES -o {shlex.quote(program.name)}"
    )


def _names_observer(script: Path) -> bool:
    try:
        return OBSERVER in read_limited(script, _LONGEST)
    except (OSError, BadInput):
        return False


def answers(script: Path) -> bool:
    """Whether a script, or a program, that is asked for libFuzzer's options tells them."""
    with tempfile.TemporaryDirectory(prefix="fuzzwise-", ignore_cleanup_errors=True) as scratch:
        try:
            asked = FuzzingProcess([str(script.absolute()), "-help=1"], {}, Path(scratch))
        except OSError:
            return False
        deadline = time.monotonic() + PATIENCE
        while (ending := asked.ending()) is None and time.monotonic() < deadline:
            if _HELP in asked.output:
                break
            wait_for_any([asked], 0.1)
        asked.kill()
        return _HELP in (ending.output if ending else asked.output)
