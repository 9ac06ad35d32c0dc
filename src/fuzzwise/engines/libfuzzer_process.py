"""Where one process of libFuzzer stands, by its lines."""

from __future__ import annotations


class ProcessCount:
    """Where one process stands: its latest line, and where its own inputs began."""

    def __init__(self) -> None:
        self.is_counting = False
        self.start = 0
        self.latest = 0
        self.announced = 0
        self.features: int | None = None
        self.corpus = 0
        self.seconds = 0.0
        self.ends = (0, 0, 0)

    @property
    def made(self) -> int:
        """Inputs of its own so far."""
        return max(0, self.latest - self.start)

    def number(self, at: int) -> int:
        """The number, among its own inputs, of an execution."""
        return max(1, at - self.start)

    def begin(self, n: int, features: int | None, corpus: int) -> None:
        """The initial corpus is loaded, or this is the first line that there is."""
        self.is_counting = True
        self.start = self.latest = n
        self.features, self.corpus = features, corpus

    def begin_forked(self, features: int, corpus: int) -> None:
        """The first job of fork mode has ended; features and corpus are those before it."""
        self.is_counting = True
        self.features, self.corpus = features, corpus

    def discoveries(self, features: int, corpus: int) -> int:
        """Inputs since the latest line that showed new features; each joins the corpus."""
        if self.features is None or features <= self.features:
            return 0
        return max(1, min(corpus - self.corpus, features - self.features))

    def at(self, n: int, features: int | None, corpus: int) -> None:
        """The latest line says so."""
        self.latest, self.corpus = n, corpus
        if features is not None:
            self.features = features

    def imported(self, n: int, features: int | None, corpus: int) -> None:
        """Each unit that came from another process was executed once, and is none of its inputs."""
        self.start = min(n, self.start + max(0, corpus - self.corpus))
        self.at(n, features, corpus)
