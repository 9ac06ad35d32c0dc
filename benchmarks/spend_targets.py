"""The targets of the study on spending time: libraries of Debian and of PyPI, as a campaign file."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fresh_subjects import FRESH
from more_subjects import MORE_SUBJECTS
from real import target
from seed_files import markdown_seeds
from seed_more import toml_seeds
from subjects import HARNESSES, SUBJECTS, seeds

EPOCH = 6.0
"""Seconds of a turn in recordings: the default of campaigns that give a quarter of the recorded time."""


@dataclass(frozen=True)
class PythonSubject:
    """A pure Python package, fetched as a source distribution; its harness is ``fuzz_NAME.py``."""

    name: str
    version: str
    what: str
    make_seeds: Callable[[], dict[str, bytes]]


PYTHON = (
    PythonSubject("mistune", "3.0.2", "rendering Markdown to HTML", markdown_seeds),
    PythonSubject("tomli", "2.0.1", "reading TOML", toml_seeds),
)

WHAT = {one.name: one.what for one in (*SUBJECTS, *MORE_SUBJECTS)} | {
    one.name: one.what for one in PYTHON
}
"""What each target does, by its name."""


def is_for_choosing(name: str) -> bool:
    """Whether the default may be chosen by what is seen on this target; the others only check it.

    Every other one in alphabetical order, fixed before anything was looked at.
    """
    return sorted(WHAT).index(name) % 2 == 0


HAVE_BUGS = ("cjson-utils", "libxml2-regexp")
"""Those that show one within ten minutes: live campaigns go without them, as they are about targets
without bugs."""

HALVES = {
    half: tuple(
        one for one in sorted(WHAT) if is_for_choosing(one) == is_it and one not in HAVE_BUGS
    )
    for half, is_it in (("choosing", True), ("checking", False))
}
"""The targets of live campaigns that are recorded, too."""

GROUPS = HALVES | {"fresh": tuple(one.name for one in FRESH)}
"""The targets of all live campaigns: the fresh ones are in no recording."""


def campaign_file(
    work: Path,
    names: tuple[str, ...],
    *,
    cores: int,
    budget: str = "",
    epoch: float | None = EPOCH,
) -> Path:
    """A campaign file of these targets, which are built and given seeds where they are not yet."""
    lines = ["[campaign]", f"cores = {cores}"]
    lines += [f'epoch = "{epoch:g}s"'] if epoch else []
    lines += [f'budget = "{budget}"'] if budget else []
    for name in names:
        program = _program(name, work)
        lines += ["", "[[target]]", f'name = "{name}"', f'corpus = "seeds/{name}"']
        lines.append(f'program = "{program.relative_to(work)}"')
        if program.suffix == ".py":
            lines.append(f'python = "{sys.executable}"')
    file = work / f"targets-{names[0]}-{len(names)}-{cores}{'' if epoch else '-default'}.toml"
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    partial.write_text("\n".join(lines) + "\n")
    partial.rename(file)
    return file


def _program(name: str, work: Path) -> Path:
    """A copy that stays as it is: the counts of two builds do not add up."""
    for one in PYTHON:
        if one.name == name:
            return _python(one, work)
    subject = next(one for one in (*SUBJECTS, *MORE_SUBJECTS, *FRESH) if one.name == name)
    kept = work / "programs" / name
    if not (work / "seeds" / name).exists():
        seeds(subject, work / "seeds" / name)
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_name(f".{name}.partial")
        shutil.copy2(target(subject, work, stock=False), partial)
        partial.rename(kept)
    return kept


def _python(one: PythonSubject, work: Path) -> Path:
    """The harness, with the package beside it."""
    folder = work / "python"
    harness = folder / f"fuzz_{one.name}.py"
    if not (work / "seeds" / one.name).exists():
        (work / "seeds" / one.name).mkdir(parents=True)
        for name, data in one.make_seeds().items():
            (work / "seeds" / one.name / name).write_bytes(data)
    if not harness.exists():
        fetched = folder / "fetched"
        fetched.mkdir(parents=True, exist_ok=True)
        words = ["--no-deps", "--no-binary", ":all:", "-d", str(fetched)]
        wanted = f"{one.name}=={one.version}"
        subprocess.run([sys.executable, "-m", "pip", "-q", "download", *words, wanted], check=True)
        with tarfile.open(next(fetched.glob(f"{one.name}-*.tar.gz"))) as archive:
            archive.extractall(fetched, filter="data")
        package = fetched / f"{one.name}-{one.version}" / "src" / one.name
        shutil.copytree(package, folder / one.name, dirs_exist_ok=True)
        shutil.copy2(HARNESSES / harness.name, harness)
    return harness
