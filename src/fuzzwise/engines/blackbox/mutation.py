"""Inputs of runs, made in Python by the very code that the fuzzing loop uses."""

from __future__ import annotations

import ctypes
from functools import cache

from fuzzwise.engines.blackbox.build import native
from fuzzwise.engines.blackbox.model import KINDS, MAX_SEED, Mutation
from fuzzwise.errors import BadInput


class _Bytes(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("length", ctypes.c_uint64))


class _Mutation(ctypes.Structure):
    _fields_ = (
        ("kinds", ctypes.c_uint64),
        ("low", ctypes.c_double),
        ("high", ctypes.c_double),
        ("max_length", ctypes.c_uint64),
        ("seed", _Bytes),
        ("others", ctypes.POINTER(_Bytes)),
        ("other_count", ctypes.c_uint64),
    )


def make_input(seed: bytes, random_seed: int, run: int, mutation: Mutation) -> bytes:
    """The input of a run: a function of these four alone. Run 0 is the seed itself."""
    check_seeds(seed, random_seed, mutation)
    if not 0 <= run <= MAX_SEED:
        raise BadInput(f"The run number is {run}; expected 0 to 2^64 - 1.")
    others = (_Bytes * max(1, len(mutation.splice_with)))(
        *(_Bytes(other, len(other)) for other in mutation.splice_with)
    )
    how = _Mutation(
        kind_mask(mutation), *mutation.ratio, mutation.max_length, _Bytes(seed, len(seed)),
        others, len(mutation.splice_with),
    )  # fmt: skip
    out = ctypes.create_string_buffer(mutation.max_length)
    length: int = _library().fw_make_input(ctypes.byref(how), random_seed, run, out)
    return ctypes.string_at(out, length)


def input_hash(data: bytes) -> int:
    """The 64-bit FNV-1a that events carry, to tell whether an input is the one of the run."""
    result: int = _library().fw_hash(data, len(data))
    return result


def kind_mask(mutation: Mutation) -> int:
    """The kinds as the native code takes them: one bit each."""
    return sum(1 << KINDS.index(kind) for kind in set(mutation.kinds))


def check_seeds(seed: bytes, random_seed: int, mutation: Mutation) -> None:
    """Refuse a seed file that is too long, and a random seed out of range."""
    if len(seed) > mutation.max_length:
        raise BadInput(
            f"The seed has {len(seed)} bytes, but inputs may have {mutation.max_length} at most; "
            "raise max_length or take a smaller seed."
        )
    if not 0 <= random_seed <= MAX_SEED:
        raise BadInput(f"The random seed is {random_seed}; expected 0 to 2^64 - 1.")


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(native().mutator))
    library.fw_make_input.restype = ctypes.c_uint64
    library.fw_make_input.argtypes = (
        ctypes.POINTER(_Mutation), ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p,
    )  # fmt: skip
    library.fw_hash.restype = ctypes.c_uint64
    library.fw_hash.argtypes = (ctypes.c_char_p, ctypes.c_uint64)
    return library
