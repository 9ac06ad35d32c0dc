"""What lies beside a target for it: seeds, a dictionary, options; as OSS-Fuzz calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzzwise.engines.target_files import wrong_line
from fuzzwise.errors import BadInput
from fuzzwise.folders.honoured import Honoured, honoured
from fuzzwise.folders.model import SEEDS, FoundFile, Tree
from fuzzwise.folders.options_file import read_options_file
from fuzzwise.seed_zips import SEED_CORPUS, count
from fuzzwise.text import many, printable

CORPORA = ("corpus", "corpora", "seeds")
"""Folders that have one for each target in them."""

ENDINGS = (SEED_CORPUS, ".dict", ".options", ".labels")
"""How files end that are a target's, behind its name."""

_AS_FOLDERS = ("_seed_corpus", "_corpus", "_seeds")


@dataclass
class Companions:
    """What a target has: keys of the campaign file, and the files they come from."""

    asked: Honoured = field(default_factory=Honoured)
    corpus: list[Path] = field(default_factory=list)
    files: list[FoundFile] = field(default_factory=list)

    @property
    def keys(self) -> dict[str, Any]:
        """All keys, those of the corpus first."""
        corpus = {"corpus": list(self.corpus)} if self.corpus else {}
        return {**corpus, **self.asked.keys}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is not as its files say."""
        return tuple(self.asked.remarks)


def companions(
    tree: Tree, program: Path, engine: str, knows: Callable[[str], bool] = lambda _: True
) -> Companions:
    """What belongs to a program; ``knows``: whether its libFuzzer has an option of a name."""
    found = Companions()
    owner = tree.shown(program)
    for name in _names(program):
        beside = program.with_name(f"{name}.options")
        if beside in tree.known:
            found.asked = honoured(read_options_file(beside), engine, knows)
            found.files.append(FoundFile(beside, "options", target=owner))
            break
    for name in _names(program):
        _labels(tree, program.with_name(f"{name}.labels"), owner, found)
        _archive(tree, program.with_name(f"{name}{SEED_CORPUS}"), owner, found)
        _folders(tree, program, name, owner, found)
    _dictionary(tree, program, owner, found)
    return found


def _names(program: Path) -> Iterator[str]:
    """What files of a target begin with: its name, and that without an ending."""
    yield program.name
    if program.suffix and program.stem != program.name:
        yield program.stem


def _labels(tree: Tree, path: Path, owner: str, found: Companions) -> None:
    if path in tree.known:
        why = "labels for OSS-Fuzz's list of bugs; they change nothing here"
        found.files.append(FoundFile(path, "labels", why, owner))


def _archive(tree: Tree, path: Path, owner: str, found: Companions) -> None:
    if path not in tree.known:
        return
    try:
        number = count(path)
    except BadInput as problem:
        why = str(problem).partition(": ")[2] or str(problem)
        found.files.append(FoundFile(path, "", why, owner))
        found.asked.remarks.append(f"{printable(path.name)} is not used: {why}")
        return
    found.corpus.append(path)
    found.files.append(FoundFile(path, SEEDS, many(number, "file"), owner))


def _folders(tree: Tree, program: Path, name: str, owner: str, found: Companions) -> None:
    """Folders of seeds, by their names; those that hold no file are none."""
    beside = [program.with_name(f"{name}{ending}") for ending in _AS_FOLDERS]
    homes = {program.parent, tree.folder}
    places = [*beside, *(home / group / name for home in sorted(homes) for group in CORPORA)]
    for place in places:
        if place.is_symlink() or not place.is_dir():
            continue
        number = tree.files_below(place)
        if number and place not in found.corpus:
            found.corpus.append(place)
            found.files.append(FoundFile(place, SEEDS, many(number, "file"), owner))


def _dictionary(tree: Tree, program: Path, owner: str, found: Companions) -> None:
    """The one that the options name, else the one that is called like the target."""
    asked = found.asked.dictionary
    if asked:
        path = program.parent / asked
        if path not in tree.known:
            found.asked.leave(f"dict = {asked}", "there is no such file in the folder")
            asked = ""
    candidates = [program.with_name(f"{name}.dict") for name in _names(program)]
    if not asked:
        path = next((path for path in candidates if path in tree.known), program)
        if path == program:
            return
    for other in candidates:
        if other in tree.known and other != path:
            found.files.append(FoundFile(other, "", "the target has another dictionary", owner))
    if wrong := wrong_line(path):
        why = f'it has {wrong}, and libFuzzer takes lines such as word="a\\xff" only'
        found.files.append(FoundFile(path, "", why, owner))
        found.asked.leave(path.name, why)
        return
    found.asked.keys["dictionary"] = path
    found.files.append(FoundFile(path, "dictionary", target=owner))
