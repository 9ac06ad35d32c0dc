"""Programs of targets that come as sources: made again when something they are made of changed."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from fuzzwise.campaign.plan import CampaignPlan
from fuzzwise.engines.compilers import CXX_SUFFIXES
from fuzzwise.engines.contract import Build
from fuzzwise.engines.link_errors import remedy
from fuzzwise.engines.registry import engine_named
from fuzzwise.errors import BadInput
from fuzzwise.files import content_hash, write_whole
from fuzzwise.received import read_limited
from fuzzwise.text import clean

LONGEST = 600.0
"""Seconds after which a compiler has failed."""

_SHOWN_LINES = 3
_SHOWN_CHARACTERS = 600


def build_all(plan: CampaignPlan, say: Callable[[str], None]) -> dict[str, str]:
    """Build what has sources and is not up to date; the targets whose build failed, and why.

    A program is written under another name and renamed, and a file NAME.built beside it tells
    what it was made of: command, compiler, the content of sources, headers and libraries that
    the file names, and the program itself. ``say`` is told of every build before it begins.
    """
    failed: dict[str, str] = {}
    done: dict[tuple[str, Build], str] = {}
    for name, part in ((one.name, part) for one in plan.targets for part in one.parts):
        build = part.build
        if build is None:
            continue
        key = (part.engine, build)
        if key not in done:
            try:
                _make(build, part.engine, say)
                done[key] = ""
            except BadInput as error:
                done[key] = str(error)
            except OSError as error:
                done[key] = f"{build.program} could not be built: {error.strerror or error}."
        if done[key]:
            failed[name] = done[key]
    return failed


def _make(build: Build, engine: str, say: Callable[[str], None]) -> None:
    program = build.program
    record = program.with_name(f"{program.name}.built")
    part = program.with_name(f".{program.name}.part")
    words = _words(build, engine, part)
    made_of = _made_of(build, words)
    if _is_current(program, record, made_of):
        return
    say(f"Building {program.name}.")
    program.parent.mkdir(parents=True, exist_ok=True)
    # Compilers write through links, so that what they make has a folder of its own.
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        made = Path(folder) / part.name
        status, said = _run([str(made) if word == str(part) else word for word in words])
        if status != 0 or not made.is_file():
            raise BadInput(
                f"{program.name} could not be built: {_first_errors(said)} "
                f"{remedy(said) or 'Correct the sources or the flags, then run again.'}"
            )
        content = content_hash(made)
        made.replace(program)
        write_whole(record, f"{made_of} {content}\n".encode())


def _words(build: Build, engine: str, program: Path) -> list[str]:
    """The command that makes the program; optimised, with symbols, unless the flags say how."""
    extra = [] if any(flag.startswith("-O") for flag in build.flags) else ["-O2"]
    extra += [] if any(flag.startswith("-g") for flag in build.flags) else ["-g"]
    words = [*extra, *map(str, build.sources), *build.flags, "-o", str(program)]
    build_words = engine_named(engine).build_words
    assert build_words is not None  # others have refused the sources
    return build_words(words, any(path.suffix in CXX_SUFFIXES for path in build.sources))


@cache
def _version(compiler: str) -> str:
    return _run([compiler, "--version"])[1]


def _made_of(build: Build, words: Sequence[str]) -> str:
    """What the program depends on, as one number."""
    text = repr((words, _version(words[0])))
    digest = hashlib.sha256(text.encode(errors="surrogateescape"))
    named = [path for flag in build.flags if (path := Path(flag)).is_absolute() and path.is_file()]
    for path in sorted({*build.sources, *_headers(build, words[0]), *named}):
        digest.update(f"{path}\n".encode(errors="surrogateescape"))
        digest.update(bytes.fromhex(content_hash(path)))
    return digest.hexdigest()


def _headers(build: Build, compiler: str) -> list[Path]:
    """The files that the sources include, those of the system left out, as the compiler says."""
    sources = [str(path) for path in build.sources]
    status, said = _run([compiler, *build.flags, "-MM", *sources])
    if status != 0:
        return []  # the build will say why
    rules = said.replace("\\\n", " ").replace("\\ ", "\0")
    names = [word.replace("\0", " ") for word in rules.split() if not word.endswith(":")]
    return [path for name in names if (path := Path(name)).is_file()]


def _is_current(program: Path, record: Path, made_of: str) -> bool:
    try:
        return read_limited(record).decode() == f"{made_of} {content_hash(program)}\n"
    except (OSError, ValueError, BadInput):
        return False


def _run(words: Sequence[str]) -> tuple[int, str]:
    """A compiler, with all that it starts: its status, and the beginning of what it says."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            raise BadInput(f"{words[0]} took longer than {LONGEST:g} s and was ended.") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        return status, output.read(1 << 20).decode(errors="replace")


def _first_errors(said: str) -> str:
    """The lines that matter most of what a compiler says, safe to print."""
    lines = [line.strip() for line in clean(said).splitlines() if line.strip()]
    marks = ("error", "undefined reference", "cannot find", "undefined symbol")
    errors = [line for line in lines if any(mark in line for mark in marks)]
    text = " | ".join((errors or lines or ["the compiler said nothing."])[:_SHOWN_LINES])
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
