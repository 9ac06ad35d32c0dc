"""Stack hashes: the same bug has the same hash, whatever input and addresses led to it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from fuzzwise.errors import BadInput
from fuzzwise.text import base_name
from fuzzwise.triage.kinds import UNKNOWN
from fuzzwise.triage.names import is_noise, plain
from fuzzwise.triage.python_report import RECURSION, UNCAUGHT
from fuzzwise.triage.stack_lines import MAX_FRAMES, Frame

_LONGEST_CYCLE = 4
_RECURSIONS = ("stack-overflow", RECURSION)


def stack_hash(frames: Sequence[Frame], depth: int = 5, *, kind: str = UNKNOWN) -> str:
    """16 hex digits that name the bug at the top of a stack.

    Hashed are the plain names of the ``depth`` topmost functions, as is common practice: line
    numbers would change with every edit above the bug, file names with the build directory, and
    argument lists with the tool that prints them. See ``key_frames`` for what is left out. Where
    no frame is left, the hash is that of the kind of the crash. An endless recursion is another
    bug than a crash at one place in the same functions, and so is an exception of another class.
    """
    key = key_frames(frames, depth, kind=kind)
    title = "recursion" if kind == "stack-overflow" else "frames"
    if kind.startswith(UNCAUGHT):
        title = kind
    words = "\n".join((title, *key) if key else ("kind", kind))
    return hashlib.sha256(words.encode(errors="replace")).hexdigest()[:16]


def key_frames(frames: Sequence[Frame], depth: int = 5, *, kind: str = UNKNOWN) -> tuple[str, ...]:
    """The frames that tell a bug from others, as position independent words.

    Without allocators, string functions, the runtimes of sanitizers and of libFuzzer, and what
    raises, aborts or starts a program. A frame without a name is the base name of its module and
    its offset there, or its source line; without these it is left out, as addresses differ from
    run to run.

    Recursion is folded, so that a bug at any depth of it is one bug: between two calls of the same
    function nothing counts. A stack that is cut off in the middle of a recursion is folded by its
    repeating cycles (of up to 4 functions) instead, as the end of the last round is not known.

    Where an endless recursion runs out of stack is chance: for the kind "stack-overflow", and for
    Python's RecursionError, these are, in alphabetical order, the functions that occur more than
    once.
    """
    if depth < 1:
        raise BadInput(f"The depth of a stack hash must be at least 1, not {depth}.")
    words = [word for frame in frames if (word := _word(frame))]
    if kind in _RECURSIONS:
        recurring = sorted(word for word, count in Counter(words).items() if count > 1)
        if recurring:
            return tuple(recurring)
    fold = _fold_cycles if len(frames) >= MAX_FRAMES else _fold
    return tuple(fold(words)[:depth])


def _word(frame: Frame) -> str:
    """The word for a frame, empty for noise and for frames of which nothing is known."""
    name, module = plain(frame.function), base_name(frame.module)
    if is_noise(name, module):
        return ""
    if name:
        return name
    if module:
        return module if frame.offset is None else f"{module}+{frame.offset:#x}"
    return f"{base_name(frame.file)}:{frame.line}" if frame.file else ""


def _fold(words: list[str]) -> list[str]:
    """The path from the crash to the start without its loops."""
    path: dict[str, None] = {}
    for word in words:
        if word in path:
            while next(reversed(path)) != word:
                path.popitem()
        path[word] = None
    return list(path)


def _fold_cycles(words: list[str]) -> list[str]:
    """The words with every run of a repeating cycle replaced by one round of it.

    A run may end in the middle of a round, so that the depth of a recursion does not matter.
    """
    for period in range(1, _LONGEST_CYCLE + 1):
        folded: list[str] = []
        at = 0
        while at < len(words):
            end = at + period
            while end < len(words) and words[end] == words[end - period]:
                end += 1
            repeats = end > at + period
            folded += words[at : at + period] if repeats else words[at : at + 1]
            at = end if repeats else at + 1
        words = folded
    return words
