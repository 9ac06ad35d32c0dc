"""Crates with fuzz targets of cargo-fuzz: a folder fuzz/ with a Cargo.toml that has [[bin]]."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fuzzwise.config.table import read_toml
from fuzzwise.errors import BadInput
from fuzzwise.folders.model import SEEDS, TARGET, Found, FoundFile, FoundTarget, Tree
from fuzzwise.programs import find as find_program
from fuzzwise.text import clean, many, printable
from fuzzwise.triage.confined import observe

LONGEST = 3600.0
"""Seconds that a build may take."""

ENVIRONMENT = {"ASAN_OPTIONS": "detect_odr_violation=0"}
"""As cargo fuzz run has it: Rust's code and the runtime both have some of libFuzzer's names."""

ENGINE = "stock"
_MANIFEST = "Cargo.toml"
_HOW = "cargo install cargo-fuzz, then: cargo fuzz build"


def find(tree: Tree) -> Found:
    """The targets of all crates in the folder; they are built, where cargo-fuzz is there."""
    found = Found()
    for manifest in tree.files:
        if manifest.name == _MANIFEST and (names := _targets(manifest)):
            more = _crate(tree, manifest.parent, names)
            known = {each.path for each in found.files}  # crates of one workspace share some
            others = tuple(each for each in more.files if each.path not in known)
            found += Found(more.targets, others)
    return found


def _targets(manifest: Path) -> list[str]:
    """The names of the fuzz targets of a crate; none where it is not one of cargo-fuzz."""
    content = _manifest(manifest)
    metadata = _table(_table(content, "package"), "metadata")
    needs = _table(content, "dependencies")
    if metadata.get("cargo-fuzz") is not True and "libfuzzer-sys" not in needs:
        return []
    bins = content.get("bin", [])
    names = [_table({"bin": each}, "bin").get("name") for each in bins if isinstance(bins, list)]
    return [name for name in names if isinstance(name, str) and _is_file_name(name)]


def _is_file_name(name: str) -> bool:
    return bool(name) and "/" not in name and "\0" not in name and name not in (".", "..")


def _table(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = content.get(key, {})
    return found if isinstance(found, dict) else {}


def _crate(tree: Tree, fuzz: Path, names: list[str]) -> Found:
    problem = _built(tree, fuzz)
    found = Found()
    for name in names:
        program = _program(fuzz, name)
        if program is None:
            found += _not_built(tree, fuzz, name, problem)
        else:
            found += _target(tree, fuzz, name, program, problem)
    others = [
        FoundFile(path, "source", f"of the crate {fuzz.parent.name}")
        for path in _of_crate(tree, fuzz)
        if path not in {each.path for each in found.files}
    ]
    return found + Found(files=tuple(others))


def _not_built(tree: Tree, fuzz: Path, name: str, problem: str) -> Found:
    why = problem or f"it is not built, and cargo-fuzz is not here; {_HOW}"
    place = fuzz / "fuzz_targets" / f"{name}.rs"
    path = place if place in tree.known else fuzz / _MANIFEST
    files = [FoundFile(path, "", f"fuzz target {name}: {why}")]
    for folder in (fuzz / "corpus" / name, fuzz / "artifacts" / name):
        if tree.files_below(folder):
            files.append(FoundFile(folder, "", f"of the target {name}, which is not built"))
    return Found(files=tuple(files))


def _of_crate(tree: Tree, fuzz: Path) -> Iterator[Path]:
    """What is cargo's: sources, and folders of what it has built."""
    home = fuzz.parent if (fuzz.parent / _MANIFEST) in tree.known else fuzz
    for folder in dict.fromkeys((*_homes(fuzz), home / "src")):
        inside = folder.is_relative_to(tree.folder)
        if inside and folder.is_dir() and not folder.is_symlink():
            yield folder
    places = {home, fuzz, fuzz / "fuzz_targets", *(place.parent for place in _homes(fuzz))}
    for path in tree.files:
        if path.parent in places and path.suffix in (".rs", ".toml", ".lock"):
            yield path


def _target(tree: Tree, fuzz: Path, name: str, program: Path, problem: str) -> Found:
    keys: dict[str, Any] = {"program": program}
    files = [FoundFile(program, TARGET, f"engine {ENGINE}; of cargo-fuzz")]
    corpus = fuzz / "corpus" / name
    if number := tree.files_below(corpus):
        keys["corpus"] = [corpus]
        files.append(FoundFile(corpus, SEEDS, many(number, "file"), name))
    artifacts = fuzz / "artifacts" / name
    if number := tree.files_below(artifacts):
        why = (
            f"{many(number, 'input')} of earlier crashes; fuzzwise triage {artifacts} -- {program} "
            "@@ tells which bugs they show"
        )
        files.append(FoundFile(artifacts, "", why, name))
    remarks = (f"this is an earlier build: {problem}",) if problem else ()
    target = FoundTarget(name, ENGINE, keys, environment=ENVIRONMENT, remarks=remarks)
    return Found((target,), tuple(files))


def _built(tree: Tree, fuzz: Path) -> str:
    """Build the targets, where cargo-fuzz is there; what was wrong, "" where nothing was."""
    cargo = find_program("cargo")
    if cargo is None or find_program("cargo-fuzz") is None:
        return ""
    tree.say(f"Building {tree.shown(fuzz)} with cargo fuzz build.")
    command = [str(cargo), "fuzz", "build", "--fuzz-dir", str(fuzz)]
    try:
        outcome = observe(command, None, LONGEST, os.environ, fuzz.parent)
    except BadInput as error:
        return str(error)
    if outcome.status == 0:
        return ""
    lines = [line.strip() for line in clean(outcome.text).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error")] or lines[-1:] or ["no reason"]
    return f"cargo fuzz build failed ({printable(errors[0])[:200]})"


def _program(fuzz: Path, name: str) -> Path | None:
    """The newest build of a target."""
    built = [
        path
        for home in _homes(fuzz)
        for kind in ("release", "debug")
        for folder in (home, *_folders(home))
        if (path := folder / kind / name).is_file() and os.access(path, os.X_OK)
    ]
    return max(built, key=lambda path: path.stat().st_mtime_ns, default=None)


def _homes(fuzz: Path) -> list[Path]:
    """Folders in which cargo may have built it: its own, its crate's, and its workspace's."""
    places = [fuzz / "target", fuzz.parent / "target"]
    for folder in fuzz.parents:
        if "workspace" in _manifest(folder / _MANIFEST):
            places.append(folder / "target")
            break
    if asked := os.environ.get("CARGO_TARGET_DIR"):
        places.insert(0, fuzz.parent / asked)
    return list(dict.fromkeys(places))


def _manifest(path: Path) -> Mapping[str, Any]:
    """What a Cargo.toml says; nothing where there is none, or it cannot be read."""
    try:
        return read_toml(path) if path.is_file() else {}
    except (BadInput, OSError):
        return {}


def _folders(home: Path) -> list[Path]:
    """Those of the machines that were built for, by their names."""
    try:
        return sorted(path for path in home.iterdir() if path.is_dir())
    except OSError:
        return []
