"""The compilers of this machine."""

from __future__ import annotations

import os

from fuzzwise.errors import BadInput
from fuzzwise.programs import find

COMPILER_VARIABLE = "FUZZWISE_CC"
CXX_SUFFIXES = {".cc", ".cpp", ".cxx", ".c++", ".C"}


def find_compiler() -> str:
    """The C compiler that FUZZWISE_CC names, else the first of cc, gcc and clang."""
    asked = os.environ.get(COMPILER_VARIABLE)
    for name in (asked,) if asked else ("cc", "gcc", "clang"):
        if found := find(name):
            return str(found)
    if asked:
        raise BadInput(f"{COMPILER_VARIABLE} names {asked!r}, which is not an executable.")
    raise BadInput("No C compiler was found. Install one with: apt-get install gcc libc6-dev")


def find_cxx_compiler() -> str:
    """The first of c++, g++ and clang++."""
    for name in ("c++", "g++", "clang++"):
        if found := find(name):
            return str(found)
    raise BadInput("No C++ compiler was found. Install one with: apt-get install g++")
