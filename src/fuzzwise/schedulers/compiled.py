"""The functions of a policy, compiled with numba: for replays, which call them millions of times.

A live campaign does without: to load numba takes longer than all its choices.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import numba
import numpy as np

from fuzzwise.schedulers.base import Functions
from fuzzwise.schedulers.kernel import role

ARMS = numba.types.float64[:, ::1]
MEMORY = numba.types.float64[::1]
GENERATOR = numba.typeof(np.random.default_rng(0))  # type: ignore[no-untyped-call]
CHOOSE = numba.types.int64(ARMS, MEMORY, GENERATOR)
LEARN = numba.types.void(ARMS, MEMORY, numba.types.int64, MEMORY)

_SIGNATURES: dict[str | None, Any] = {"choose": CHOOSE, "learn": LEARN}
"""Those of helpers are found when they are used."""


def compiled_functions(functions: Functions) -> Functions:
    """Both functions of a policy, compiled."""
    return Functions(compiled(functions.choose), compiled(functions.learn))


@cache
def compiled(function: Any) -> Any:
    """A function that was marked in ``kernel``, compiled together with those that it calls."""
    names = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    called = {name: compiled(value) for name, value in names.items() if role(value)}
    # numba must find compiled functions where the plain one finds plain ones.
    twin = FunctionType(function.__code__, {**function.__globals__, **called}, function.__name__)
    twin.__qualname__ = function.__qualname__
    return numba.njit(_SIGNATURES.get(role(function)), cache=True)(twin)
