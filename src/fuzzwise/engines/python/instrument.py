"""Counters for Python code: which code gets them, and which numbers they have.

Atheris numbers counters in the order in which code is imported. A module that is imported while
inputs run, because one of them asked for it, would have other numbers in the next process, and what
is counted for it would be counted for something else. So numbers belong to the place of the code,
and the state folder keeps them: one line FIRST COUNT PLACE for each piece of code.

libFuzzer learns of counters before the first input. Those for code that comes later are among them:
told later, they would show in the input after the one that asked for the code.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from inspect import CO_OPTIMIZED
from types import CodeType, ModuleType
from typing import Any

LATE = 8192
"""Counters for code that is imported while inputs run, at least."""

_ROOM = "room"
_OWN_PATH = sys.path[1:]
"""Where the interpreter finds modules by itself; the folder of a harness comes in front of that."""

OWN = ("atheris", "fuzzwise.engines.python")
"""Packages that are never instrumented: what does it."""


class Counters:
    """Instruments code; ``path`` is the file that keeps the numbers, if they are to be kept."""

    def __init__(self, atheris: Any, path: str | None) -> None:
        self._atheris = atheris
        self._path = path
        self._read = 0
        self._places: dict[str, tuple[int, int]] = {}
        self._uses: dict[str, int] = {}
        self._next = 0
        self._reserve_there: Callable[[], int] = atheris._reserve_counter
        self._patch_there: Callable[..., CodeType] = atheris.patch_code
        self._patching = False
        self._own: int = self._reserve_there() + 1  # Atheris has some for code of its own
        self.end: int = self._own
        """The first number that no code has."""
        self.room = 0
        """Counters that libFuzzer knows; code with numbers beyond is not counted."""
        self.take_over()

    def make_room(self) -> None:
        """Have all counters that there may be; as many as the campaign has had from its start."""
        self.room = self.end + self.end // 4 + LATE
        if self._path is not None:
            with _Locked(self._path) as file:
                self._learn(file)
                if _ROOM not in self._places:
                    self._add(file, _ROOM, self.room, 0)
                self.room = self._places[_ROOM][0]
        while self._reserve_there() < self.room:
            pass

    @property
    def made(self) -> int:
        """How many the code that was instrumented has."""
        return self.end - self._own

    def take_over(self) -> None:
        """Give the numbers instead of Atheris; again after its start, which undoes this."""
        if self._atheris._reserve_counter != self._reserve:
            self._reserve_there = self._atheris._reserve_counter
        for module in (self._atheris, self._atheris.instrument_bytecode):
            if hasattr(module, "_reserve_counter"):
                module._reserve_counter = self._reserve
            module.patch_code = self._patch_for_atheris

    def _patch_for_atheris(self, code: CodeType, *more: Any, **others: Any) -> CodeType:
        """For ``instrument_func`` and ``instrument_all``; inside of a patch, a part of it."""
        if self._patching:
            return self._patch_there(code, *more, **others)
        return self.patch(code)

    def patch(self, code: CodeType) -> CodeType:
        """The code with counters; as it was where Atheris cannot do it."""
        place = f"{code.co_filename}:{code.co_firstlineno}:{code.co_name}".replace("\n", " ")
        self._uses[place] = self._uses.get(place, 0) + 1
        place = f"{place}:{self._uses[place]}"
        if self._path is None:
            return self._patched(code, place)
        with _Locked(self._path) as file:
            self._learn(file)
            known = len(self._places)
            code = self._patched(code, place)
            for new in list(self._places)[known:]:
                self._add(file, new, *self._places[new])
            return code

    def _add(self, file: int, place: str, first: int, count: int) -> None:
        self._places[place] = first, count
        self._read += os.write(file, f"{first} {count} {place}\n".encode(errors="replace"))

    def _patched(self, code: CodeType, place: str) -> CodeType:
        first, count = self._places.get(place, (self.end, -1))
        self._next = first
        self._patching = True
        try:
            patched = self._functions_patched(code)
        except Exception:  # bytecode that this Atheris does not understand
            return code
        finally:
            self._patching = False
        made = self._next - first
        if made == count or made == 0:
            return patched
        if count >= 0:  # other code than the one that had the place before
            return self._patched(code, f"{place}:{made}")
        self._places[place] = (first, made)
        self.end = first + made
        return patched

    def _functions_patched(self, code: CodeType) -> CodeType:
        """Only what inputs run: the body of a module or a class is run once, by an import.

        Counted, it would be shown by the one input, if any, that came to the import first.
        """
        if code.co_flags & CO_OPTIMIZED:
            return self._patch_there(code, True)
        parts = tuple(
            self._functions_patched(part)
            if isinstance(part, CodeType) and not _is_part_of_a_line(part)
            else part
            for part in code.co_consts
        )
        return code.replace(co_consts=parts)

    def _reserve(self) -> int:
        self._next += 1
        return self._next - 1

    def _learn(self, file: int) -> None:
        """Read what this process, or another one, has written before."""
        size = os.fstat(file).st_size
        text = os.pread(file, size - self._read, self._read)
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):  # cut off by a kill
            os.ftruncate(file, self._read + len(whole))
        self._read += len(whole)
        for line in whole.decode(errors="replace").split("\n")[:-1]:
            first, count, place = line.split(" ", 2)
            self._places[place] = (int(first), int(count))
            if place != _ROOM:
                self.end = max(self.end, int(first) + int(count))


class _Locked:
    """A file that processes of one campaign share, for one of them at a time."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)

    def __enter__(self) -> int:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        return self._file

    def __exit__(self, *_: object) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)  # not only here: a fork has a copy of the file
        os.close(self._file)


def _is_part_of_a_line(code: CodeType) -> bool:
    return code.co_name.startswith("<") and code.co_name != "<lambda>"


class Finder(MetaPathFinder):
    """Instruments modules when they are imported."""

    def __init__(
        self, counters: Counters, include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> None:
        self._counters = counters
        self._include = {name.split(".")[0] for name in include}
        self._exclude = frozenset(exclude)

    def __enter__(self) -> Finder:
        """Look first."""
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        """Look no more."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the finders behind this one have, with a loader that instruments."""
        if fullname in self._exclude or fullname.startswith(OWN):
            return None
        if self._include and fullname.split(".")[0] not in self._include:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            look = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = look(fullname, path, target) if look else None
            if spec is None:
                continue
            if type(spec.loader) is not SourceFileLoader:
                return None  # an extension, or something of its own
            spec.loader = _Loader(spec.loader.name, spec.loader.path, self._counters)
            return spec
        return None


class without_finders:  # noqa: N801 - used like a function
    """Nothing is instrumented meanwhile: for what the runner itself imports."""

    def __enter__(self) -> None:
        self._before = sys.meta_path[:]
        sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder) is not Finder]

    def __exit__(self, *_: object) -> None:
        sys.meta_path[:] = self._before


class own_imports(without_finders):  # noqa: N801 - used like a function
    """For what the runner itself imports: neither instrumented, nor from the harness's folder.

    A file beside a harness is for the harness: the runner's ``import json`` is not for a json.py.
    """

    def __enter__(self) -> None:
        super().__enter__()
        self._path = sys.path[:]
        sys.path[:] = _OWN_PATH

    def __exit__(self, *_: object) -> None:
        sys.path[:] = self._path
        super().__exit__()


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, counters: Counters) -> None:
        super().__init__(name, path)
        self._counters = counters

    def get_code(self, fullname: str) -> CodeType | None:
        code = super().get_code(fullname)
        return None if code is None else self._counters.patch(code)
