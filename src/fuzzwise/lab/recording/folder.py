"""The folder of a recording: private, and one recorder's at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.files import InUse, locked_file, make_private, refuse_links


@contextmanager
def locked_folder(out: Path) -> Iterator[None]:
    """The folder, made where it is missing, with a refusal where another recorder uses it."""
    try:
        make_private(out)
        refuse_links(out)
        file = locked_file(out / ".lock")
    except InUse as error:
        raise BadInput(
            f"Another fuzzwise records into {out}. Wait for it, or choose another folder."
        ) from error
    except OSError as error:
        raise BadInput(f"{out} cannot be used as a folder: {error.strerror}.") from error
    with file:
        yield
