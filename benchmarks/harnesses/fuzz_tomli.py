"""tomli: reads a document of TOML."""

import contextlib

import tomli

MAX_INPUT = 4096


def TestOneInput(data: bytes) -> None:  # noqa: N802
    """Read it; that it may be wrong, or nested too deep, is documented."""
    if len(data) <= MAX_INPUT:
        with contextlib.suppress(tomli.TOMLDecodeError, RecursionError):
            tomli.loads(data.decode("utf-8", "replace"))
