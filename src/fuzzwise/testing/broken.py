"""What the checks say where a contract is not kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fuzzwise.errors import BadInput


class Broken(AssertionError):
    """A clause that does not hold.

    ``clause`` is its name in the contract's text, or the method whose own text says it; ``what`` is
    a sentence about what was seen.
    """

    def __init__(self, clause: str, what: str, who: str = "This") -> None:
        super().__init__(f"{who} breaks the clause '{clause}': {what}")
        self.clause = clause
        self.what = what


@dataclass(frozen=True)
class Contract:
    """The contract of ``who``, which is the first word of what is said about it."""

    who: str

    def broken(self, clause: str, what: str) -> Broken:
        """The error that says so."""
        return Broken(clause, what, self.who)

    def need(self, holds: bool, clause: str, what: str) -> None:
        """Broken, unless it holds."""
        if not holds:
            raise self.broken(clause, what)

    @contextmanager
    def without_error(self, clause: str, call: str) -> Iterator[None]:
        """For a call that has no reason to fail."""
        try:
            yield
        except Broken:
            raise
        except Exception as error:
            said = f"{call} raised {type(error).__name__}: {error}"
            raise self.broken(clause, said) from error

    @contextmanager
    def refused(self, clause: str, call: str) -> Iterator[None]:
        """For a call that has to be refused, with a sentence for the user."""
        try:
            yield
        except BadInput as error:
            is_sentence = " " in str(error).strip()
            self.need(is_sentence, clause, f"{call} raised {error!r}, which is no sentence.")
        except Broken:
            raise
        except Exception as error:
            said = f"{call} raised {type(error).__name__} and not BadInput: {error}"
            raise self.broken(clause, said) from error
        else:
            raise self.broken(clause, f"{call} was not refused.")
