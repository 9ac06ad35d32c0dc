"""Ways in which targets/does_not_run.c does not run, and what is said, whoever fuzzes it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

STARTUP = ("--startup", "2s")
ENDLESS = (*STARTUP, "--libfuzzer", "-timeout=1000")
"""For inputs that do not end: libFuzzer's own limit counts the time of a busy machine, too, and
ends one before the time of its start is over."""

# name of the target, words for `fuzz`, part of the sentence
BROKEN: list[tuple[str, tuple[str, ...], str]] = [
    ("waits-before-main", STARTUP, "has run no input within 2 s of its start: does it wait"),
    ("waits-at-start", STARTUP, "in LLVMFuzzerInitialize or before main?"),
    ("silent-at-start", STARTUP, "has run no input within 2 s"),
    ("loops", ENDLESS, "its first input does not end"),
    ("stops", ENDLESS, "its first input does not end"),
    ("exits-at-start", (), "ended with status 0 before it ran an input. Its last words: 'no lic"),
    ("fails-at-start", (), "ended with status 3 before it ran an input. Its last words: 'no con"),
    ("leaves", (), "ended with status 0 while it ran its first input"),
    ("exits", (), "ends (crash) before it has made an input, 3 times in a row"),
    ("aborts", (), "ends (crash) before it has made an input, 3 times in a row"),
    ("kills-itself", (), "ends (killed, by itself or for want of memory) before it has made"),
    ("loops", ("--libfuzzer", "-timeout=1"), "ends (timeout) before it has made an input, 3 times"),
    ("good", ("--libfuzzer", "-nonsense=4"), "libFuzzer does not know the option '-nonsense=4'"),
    ("good", ("--libfuzzer", "-runs=5"), "take --inputs instead"),
    ("waits-at-start", ("--time", "3s"), "has not run a single input (starting: it has run no"),
]


def fuzzed_in_time(
    fuzz: Callable[..., subprocess.CompletedProcess[str]], words: tuple[str, ...], sentence: str
) -> subprocess.CompletedProcess[str]:
    """How ``fuzz`` ends with these words, of which a sentence is expected.

    With ``STARTUP`` in front, a busy machine may not bring a target to where it fails before the
    time of its start is over; it has more time then.
    """
    seconds = 2
    while True:
        ended = fuzz(*words)
        said = ended.stderr
        late = f"no input within {seconds} s" in said or f"longer than {seconds} s to load" in said
        if sentence in said or not late or seconds > 100:
            return ended
        seconds *= 4
        words = (STARTUP[0], f"{seconds}s", *words[2:])
