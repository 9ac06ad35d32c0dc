"""Settings and data that several test files share."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import afl_target

settings.register_profile(
    "fuzzwise",
    deadline=None,
    derandomize=True,  # a run that was green stays green until the code changes
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fuzzwise")

_SET_CHILD_SUBREAPER = 36  # of prctl(2)


@pytest.fixture(autouse=True)
def _adopts_nobody() -> Iterator[None]:
    """Undo that an engine has made this process adopt orphans.

    Every later test that kills a campaign would leave its processes here, where nobody waits for
    them: after a thousand tests, each look at the table of processes passes a thousand of them.
    """
    yield
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.fixture(scope="session")
def published_table() -> Path:
    """The authors' published measurements, where they are available."""
    path = Path(__file__).parents[2] / "shared" / "data" / "fse21_fuzzingdata.csv"
    if not path.exists():
        pytest.skip("the authors' published measurements are not part of this repository")
    return path


@pytest.fixture(scope="session")
def markup() -> Path:
    """A harness, built for AFL++."""
    return afl_target.build(afl_target.EXAMPLES / "markup.c", afl_target.HARNESS)


@pytest.fixture(scope="session")
def parser() -> Path:
    """A program that reads its input, built for AFL++."""
    return afl_target.build(afl_target.TARGETS / "afl_parser.c")
