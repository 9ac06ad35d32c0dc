"""What a stock target is made of: its program, or a script with all that it starts."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from fuzzwise.engines.observer.folder import fingerprint
from fuzzwise.engines.stock.recognise import has_libfuzzer, script_text

CODE = frozenset(
    {
        *(".pkg", ".py", ".pyc", ".par", ".jar", ".war", ".class", ".so", ".exe", ".wasm"),
        *(".js", ".cjs", ".mjs", ".ts", ".node", ".rb", ".pl", ".lua", ".php", ".sh"),
    }
)
"""Endings of files that are run, or loaded, though they may not be executable."""

MOST_WORDS, MOST_FILES = 5000, 2000
"""Words of a script that are looked up, and files of a project that are looked at."""

LONGEST_WORD = 250
"""Bytes of one that may be a path; no file has a longer name."""

_WORD = re.compile(r"""[^\s"'`:;=()<>|&]+""")
_LEFT_OUT = frozenset({"node_modules", "__pycache__", "corpus", "corpora", "seeds"})


def parts_of(program: Path) -> tuple[Path, ...]:
    """A program, and where it is a script, the code in its folder that it names.

    That is a file beside it or below, as ``$this_dir/NAME.pkg`` or ``$this_dir/lib/a.jar``; classes
    by their names; and of a folder all code in it. What a script starts from elsewhere, or loads
    without a name, is not found; with another one in its place it is taken for the same target.
    """
    text = script_text(program).decode(errors="surrogateescape")
    if not text:
        return (program,)
    others = {*_beside(program, text), *_below(program, text)}
    return (program, *sorted(others - {program}))


def build_of(parts: tuple[Path, ...]) -> str:
    """What tells two builds apart."""
    prints = [fingerprint(part) for part in parts]
    rest = hashlib.sha256(" ".join(prints[2:]).encode()).hexdigest()
    return " ".join([*prints[:2], *([rest] if prints[2:] else [])])


def _beside(program: Path, text: str) -> Iterator[Path]:
    for path in program.parent.iterdir():
        name = path.name
        if path.suffix == ".class":
            name = path.stem.partition("$")[0]  # that of the class, of inner ones the outer
        if _is_named(name, text) and _is_code(path):
            yield path


def _is_named(name: str, text: str) -> bool:
    """Whether it stands in a text as a word of its own."""
    if not name or name not in text:
        return False
    return re.search(rf"(?<![\w.@+-]){re.escape(name)}(?![\w@+-]|\.\w)", text) is not None


def _is_code(path: Path) -> bool:
    """Whether a file is one that is run: not what a script reads, nor what it writes."""
    try:
        if not path.is_file():
            return False
    except OSError:
        return False
    return path.suffix in CODE or os.access(path, os.X_OK) or has_libfuzzer(path)


def _below(program: Path, text: str) -> Iterator[Path]:
    """Files in folders beside the script, and all code of projects that it names."""
    folders: set[Path] = set()
    for word in islice(_WORD.finditer(text), MOST_WORDS):
        pieces = [piece for piece in word[0].split("/") if piece not in ("", ".")]
        if ".." in pieces or len(os.fsencode(word[0])) > LONGEST_WORD:
            continue
        for at in range(len(pieces)):
            first = program.parent / pieces[at]
            if pieces[at] in _LEFT_OUT or first.is_symlink() or not first.is_dir():
                continue
            path = first.joinpath(*pieces[at + 1 :])
            if _is_code(path):
                yield path
            elif path.is_dir():
                folders.add(first)
    for folder in sorted(folders):
        yield from islice(_code_in(folder), MOST_FILES)


def _code_in(folder: Path) -> Iterator[Path]:
    for here, below, names in os.walk(folder):
        below[:] = sorted(n for n in below if n not in _LEFT_OUT and not n.startswith("."))
        for name in sorted(names):
            path = Path(here, name)
            if path.suffix in CODE and not path.is_symlink() and path.is_file():
                yield path
