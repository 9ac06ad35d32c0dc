"""The measurements that RR's authors published with their paper, judged as they judged them.

Columns: subject, run, tests (n), empirical (discoveries among as many further inputs), then
estimates multiplied by n and rounded, and incidence counts. The authors compare each run's
estimate with the *mean* Δ over all runs at the same n, zeros included.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzwise.errors import BadInput
from fuzzwise.lab.evaluate.measures import BEYOND, load_polars
from fuzzwise.power_law import PowerLaw, fit
from fuzzwise.received import read_limited
from fuzzwise.text import number

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("subject", "run", "tests", "empirical", "laplace", "localgt", "reset1", "reset10", "f1")


@dataclass(frozen=True)
class PublishedSubject:
    """What the published measurements of one subject say."""

    name: str
    law: PowerLaw
    bias: dict[str, float]
    variance: dict[str, float]
    left_out: dict[str, int]


@dataclass(frozen=True)
class Published:
    """All subjects; ``truth`` has mean Δ per subject and n, ``scores`` bias and variance."""

    subjects: tuple[PublishedSubject, ...]
    truth: pl.DataFrame
    scores: pl.DataFrame

    @property
    def mean_r2(self) -> float:
        """The mean of the subjects' R²."""
        return sum(s.law.r2 for s in self.subjects) / len(self.subjects)


def read(path: Path) -> pl.DataFrame:
    """The published table: one row a run and n, with Δ and every estimate as a probability."""
    polars = load_polars()
    col = polars.col
    table: pl.DataFrame = polars.DataFrame(_columns(path)).select(
        "subject",
        "run",
        n=col("tests"),
        delta=col("empirical") / col("tests"),
        **{
            "laplace": 1 / (col("tests") + 2),
            "good-turing": polars.when(col("f1") > 0)
            .then(col("f1") / col("tests"))
            .otherwise(1 / (col("tests") + 2)),
            "mean-local-laplace": col("laplace") / col("tests"),
            "mean-local-good-turing": col("localgt") / col("tests"),
            "reset-1": col("reset1") / col("tests"),
            "reset-10": col("reset10") / col("tests"),
        },
    )
    return table


def _columns(path: Path) -> dict[str, list[str | int]]:
    """The columns that are needed, as they are in the file."""
    header, lines = _lines(path)
    columns: dict[str, list[str | int]] = {name: [] for name in COLUMNS}
    for line, cells in enumerate(lines, start=2):
        if len(cells) != len(header):
            raise BadInput(
                f"{path}, line {line}: {len(cells)} cells, but the header has {len(header)}."
            )
        row = dict(zip(header, cells, strict=True))
        for name, values in columns.items():
            values.append(row[name] if name == "subject" else _count(path, line, name, row[name]))
    if not columns["tests"]:
        raise BadInput(f"{path}: holds no measurement, only a header.")
    return columns


def _lines(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header, which has all columns that are needed, and the cells of every line below."""
    try:
        text = read_limited(path).decode()
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: is not a text file in UTF-8.") from error
    lines = [_cells(line) for line in text.splitlines() if line.strip()]
    header = lines[0] if lines else []
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise BadInput(
            f"{path}, line 1: the column {missing[0]!r} is missing. Expected the table published "
            f"with the paper, with at least the columns {', '.join(COLUMNS)}."
        )
    return header, lines[1:]


@dataclass(frozen=True)
class SubjectLaw:
    """The power law of one subject."""

    name: str
    law: PowerLaw


def fit_truth(
    table: pl.DataFrame, beyond: int = BEYOND
) -> tuple[tuple[SubjectLaw, ...], pl.DataFrame]:
    """Mean Δ per subject and n, zeros included, and the power law through those beyond.

    Every point weighs as much as it has runs.
    """
    polars = load_polars()
    col = polars.col
    truth = (
        table.group_by("subject", "n")
        .agg(delta=col("delta").mean(), runs=polars.len())
        .sort("subject", "n")
    )
    laws = []
    for name in truth["subject"].unique().sort():
        points = truth.filter((col("subject") == name) & (col("n") > beyond))
        law = fit(
            points["n"].cast(polars.Float64).to_numpy(),
            points["delta"].to_numpy(),
            points["runs"].cast(polars.Float64).to_numpy(),
        )
        if law is None:
            raise BadInput(
                f"The subject {name!r} has fewer than two points beyond {beyond:,} inputs with a "
                "discovery, too few for a power law."
            )
        laws.append(SubjectLaw(name, law))
    return tuple(laws), truth


def evaluate(table: pl.DataFrame, beyond: int = BEYOND) -> Published:
    """Power law, bias and variance of every subject over the points n > ``beyond``."""
    polars = load_polars()
    col = polars.col
    names = [c for c in table.columns if c not in ("subject", "run", "n", "delta")]
    laws, truth = fit_truth(table, beyond)
    long = table.unpivot(
        index=["subject", "run", "n"], on=names, variable_name="estimator", value_name="value"
    ).join(truth, on=["subject", "n"])
    usable = (col("value") > 0) & (col("delta") > 0)
    scores = (
        long.group_by("subject", "estimator", "n")
        .agg(
            bias=(col("value").log10() - col("delta").log10()).filter(usable).mean(),
            variance=col("value").filter(usable).log10().var(),
            left_out=(~usable).sum(),
        )
        .sort("subject", "estimator", "n")
    )
    late = scores.filter(col("n") > beyond)
    subjects = []
    for name, law in ((each.name, each.law) for each in laws):
        means = (
            late.filter(col("subject") == name)
            .group_by("estimator")
            .agg(col("bias").mean(), col("variance").mean(), col("left_out").sum())
        )
        by_name = {row["estimator"]: row for row in means.iter_rows(named=True)}
        subjects.append(
            PublishedSubject(
                name,
                law,
                {e: by_name[e]["bias"] for e in names},
                {e: by_name[e]["variance"] for e in names},
                {e: by_name[e]["left_out"] for e in names},
            )
        )
    return Published(tuple(subjects), truth, scores)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(",")]


def _count(path: Path, line: int, column: str, cell: str) -> int:
    value = number(cell)
    if value is None or (column == "tests" and value == 0):
        raise BadInput(
            f"{path}, line {line}, column {column!r}: {cell!r} is not a count that can be there."
        )
    return value
