"""Settings and data that several test files share."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

import afl_target
from postgres_server import database, postgres  # noqa: F401  # fixtures

settings.register_profile(
    "fuzzwise",
    deadline=None,
    derandomize=True,  # a run that was green stays green until the code changes
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fuzzwise")

_SET_CHILD_SUBREAPER = 36  # of prctl(2)
_HERE = Path(__file__).parent


def pytest_configure() -> None:
    """Let the processes of tests be interrupted, also where all of them run in the background."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def pytest_collection_modifyitems(items: Sequence[pytest.Function]) -> None:
    """Tests in files that can start processes are slow; others say so themselves."""
    for item in items:
        if _starts_processes(item.module):
            item.add_marker(pytest.mark.slow)


@cache
def _starts_processes(module: ModuleType) -> bool:
    """Whether a file uses subprocess, or something from a file beside it that does."""
    uses = vars(module).values()
    names = {
        u.__name__ if isinstance(u, ModuleType) else getattr(u, "__module__", "") for u in uses
    }
    others = {sys.modules[name] for name in names if isinstance(name, str) and name in sys.modules}
    beside = (other for other in others - {module} if _folder(other) == _HERE)
    return subprocess in others or any(map(_starts_processes, beside))


def _folder(module: ModuleType) -> Path | None:
    path = getattr(module, "__file__", None)
    return Path(path).parent if path else None


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
