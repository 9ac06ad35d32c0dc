"""What is left of a folder when all kinds of targets were looked for: why each file is not used."""

from __future__ import annotations

import os
from pathlib import Path

from fuzzwise.engines.contents import is_elf
from fuzzwise.folders.companions import ENDINGS
from fuzzwise.folders.model import Found, FoundFile, Tree

_LIBRARIES = {".so": "a library", ".a": "a library", ".o": "an object file", ".jar": "of Java"}
_AS_A_BLACK_BOX = (
    "a program with nothing of a fuzzer in it; if it reads a file, a [[target]] with command = "
    "'PROGRAM @@' and corpus = 'SEEDS' fuzzes it as a black box"
)


def find(tree: Tree) -> Found:
    """All of it."""
    return Found(files=tuple(FoundFile(path, "", _why(path)) for path in tree.files))


def _why(path: Path) -> str:
    for ending in ENDINGS:
        if path.name.endswith(ending) and path.name != ending:
            return f"for a target {path.name.removesuffix(ending)}, which is not in the folder"
    if ".so." in path.name or path.suffix in _LIBRARIES:
        return _LIBRARIES.get(path.suffix, "a library")
    if path.suffix == ".toml":
        return "a file in TOML; if it is a campaign, give it to fuzzwise run itself"
    if os.access(path, os.X_OK):
        if is_elf(path):
            return _AS_A_BLACK_BOX
        return (
            "a script that names no fuzz target (LLVMFuzzerTestOneInput, as OSS-Fuzz has it in a "
            "comment); fuzzwise doctor asks it"
        )
    return "no program"
