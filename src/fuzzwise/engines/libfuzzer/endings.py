"""What a process of libFuzzer that did not fuzz says about the reason, in a sentence."""

from __future__ import annotations

import re
import signal
from pathlib import Path

from fuzzwise.engines.process import Ending
from fuzzwise.errors import BadInput
from fuzzwise.text import clean, printable
from fuzzwise.triage.examine import from_report

_BEGUN = "INFO: "
"""What libFuzzer says first, once LLVMFuzzerInitialize has returned."""

_UNKNOWN_OPTION = re.compile(r"unrecognized flag '([^']{1,200})'")
_REPORT = "Sanitizer:"
MOST_WORDS = 300

_CRASHES = {
    *(signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP),
    *(signal.SIGSYS, signal.SIGXCPU, signal.SIGXFSZ),
}


def explain(program: Path, ending: Ending, has_run: bool) -> str:
    """Why a process ended that should not have; BadInput where it was an option."""
    check_options(program, ending.output)
    when = "" if has_run else f" {moment(ending.output)}"
    return f"{program} {how_it_ended(ending)}{when}. {last_words(ending.output)}"


def check_options(program: Path, output: str) -> None:
    """BadInput where libFuzzer has said that it does not know an option."""
    if unknown := _UNKNOWN_OPTION.search(output):
        raise BadInput(
            f"{program}: libFuzzer does not know the option {printable(unknown[1])!r}; remove it."
        )


def has_begun(output: str) -> bool:
    """Whether libFuzzer has come to its own first words."""
    return _BEGUN in output


def how_it_ended(ending: Ending) -> str:
    """With which status, or by which crash."""
    seen = from_report(ending.output).bug if _REPORT in ending.output else None
    if seen is not None and ending.kind == "crash":
        place = f" in {printable(seen.frames[0])}" if seen.frames else ""
        return f"crashed ({printable(seen.kind)}{place})"
    return f"ended {manner(ending)}"


def manner(ending: Ending) -> str:
    """With which status or signal."""
    if ending.status < 0:
        return f"with signal {-ending.status}"
    return f"with status {ending.status}"


def is_unseen(ending: Ending) -> bool:
    """Whether nobody saw why: neither libFuzzer, nor a sanitizer, nor was it a crash."""
    if ending.kind in ("exit", "done"):
        return True
    return ending.status < 0 and -ending.status not in _CRASHES and _REPORT not in ending.output


def in_short(ending: Ending) -> str:
    """What it was, or how it looks from outside."""
    return manner(ending) if is_unseen(ending) else ending.kind


def moment(output: str) -> str:
    """How far it was."""
    return "while it ran its first input" if has_begun(output) else "before it ran an input"


def where_it_waits(output: str) -> str:
    """Where one that has run nothing can be stuck."""
    if has_begun(output):
        return "its first input does not end"
    return "does it wait, or loop, in LLVMFuzzerInitialize or before main?"


def last_words(output: str) -> str:
    """What it said in the end, without libFuzzer's own words and the lines of a stack."""
    lines = [line.strip() for line in clean(output).splitlines()]
    own = [line for line in lines if line and not _is_report(line)]
    words = " ".join(" ".join(own).split())[-MOST_WORDS:]
    return f"Its last words: {printable(words)!r}" if words else "It said nothing."


def _is_report(line: str) -> bool:
    return "Sanitizer" in line or line.startswith((_BEGUN, "#", "=="))
