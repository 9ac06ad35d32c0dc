"""Results that add up over several sittings: a line each in the work folder, and those that are kept in datasets/."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from fuzzwise.files import write_whole

Result = TypeVar("Result")
DATASETS = Path(__file__).parents[1] / "datasets"


@dataclass(frozen=True)
class Sittings(Generic[Result]):
    """The results of a benchmark called ``name``, which are of the dataclass ``kind``."""

    name: str
    kind: type[Result]

    def known(self, work: Path) -> list[Result]:
        """What was measured so far, and what is kept of earlier sittings."""
        files = [*sorted(work.glob(f"{self.name}-*.jsonl")), DATASETS / f"{self.name}.jsonl"]
        lines = [line for file in files if file.exists() for line in file.read_text().splitlines()]
        rows: list[Any] = [self.kind(**json.loads(line)) for line in lines]
        return sorted(set(rows))

    def add(self, work: Path, library: str, found: Any) -> None:
        """Write one down, and tell it."""
        with (work / f"{self.name}-{library}.jsonl").open("a") as log:
            log.write(json.dumps(asdict(found)) + "\n")
        print(found, file=sys.stderr, flush=True)

    def keep(self, results: list[Any]) -> None:
        """Keep them in datasets/."""
        lines = "".join(json.dumps(asdict(one)) + "\n" for one in results)
        write_whole(DATASETS / f"{self.name}.jsonl", lines.encode())
