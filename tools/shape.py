"""The shape of the source: its lines, its long functions, who imports whom, and in which circles.

    python tools/shape.py                                    # of src/fuzzwise
    python tools/shape.py --beside COMMIT                    # beside what it was at a commit
    python tools/shape.py --beside COMMIT --write PAGE       # into a page, between its two marks

Imports are read from the syntax trees, those inside of functions and for type checkers included.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = "src/fuzzwise"
LONG = 40
"""Lines above which a function is long."""

BEGIN, END = "<!-- made by tools/shape.py -->", "<!-- until here -->"


@dataclass(frozen=True)
class Import:
    """One name that a file imports from the project; ``early``: when its module is loaded."""

    path: Path
    line: int
    module: str
    imported: str
    early: bool


@dataclass(frozen=True)
class Shape:
    """What there is to say of a source tree."""

    lines: int
    python_lines: int
    functions: int
    long: int
    longest: tuple[int, str]
    packages: Mapping[str, set[str]]


def shape(source: Path) -> Shape:
    """The shape of a package in a folder."""
    lengths = sorted(_functions(source))
    return Shape(
        lines=sum(_lines(path) for end in ("py", "c", "h") for path in source.rglob(f"*.{end}")),
        python_lines=sum(map(_lines, source.rglob("*.py"))),
        functions=len(lengths),
        long=sum(length > LONG for length, _ in lengths),
        longest=lengths[-1],
        packages=packages(source),
    )


def imports(source: Path) -> Iterator[Import]:
    """Everything that the modules of a package import from it, in the order of the files."""
    modules = {_module(source, path): path for path in sorted(source.rglob("*.py"))}
    for module, path in modules.items():
        tree = ast.parse(path.read_text())
        early = set(_early(tree.body))
        for node, name in imported(tree):
            other = name if name in modules else name.rpartition(".")[0]
            if other in modules and not name.endswith(".__version__"):
                yield Import(path, node.lineno, module, other, node in early)


def package_of(module: str, engines: Iterable[str] = ()) -> str:
    """The part of the project that a module belongs to; each of the engines is one by itself."""
    _, _, inside = module.partition(".")
    first, _, rest = inside.partition(".")
    name = f"{first}.{rest.partition('.')[0]}"
    return name if name in engines else first or module


def engines_of(source: Path) -> set[str]:
    """The engines and what they share, as parts of the project."""
    return {f"engines.{place.parent.name}" for place in source.glob("engines/*/__init__.py")}


def packages(source: Path) -> dict[str, set[str]]:
    """Who imports whom, package by package."""
    engines = engines_of(source)
    found = {package_of(_module(source, path), engines) for path in source.rglob("*.py")}
    edges: dict[str, set[str]] = {package: set() for package in sorted(found)}
    for each in imports(source):
        one, other = package_of(each.module, engines), package_of(each.imported, engines)
        if one != other:
            edges[one].add(other)
    return edges


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Names that reach each other: those of each circle together, sorted."""
    reach = {name: _reached(edges, name) for name in edges}
    together = {
        tuple(sorted(other for other in reach[name] if name in reach.get(other, ())))
        for name in edges
        if name in reach[name]
    }
    return [list(circle) for circle in sorted(together)]


def _reached(edges: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    todo = list(edges[start])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += edges.get(name, ())
    return found


def _module(source: Path, path: Path) -> str:
    parts = path.relative_to(source.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def imported(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """The full names that a file imports, each with its statement; all of ours are absolute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)


def _early(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """What runs when a module is loaded: functions and what only type checkers see do not."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from _early(statement.orelse)
            continue
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from _early(getattr(statement, part, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _early(handler.body)


def _functions(source: Path) -> Iterator[tuple[int, str]]:
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield node.end_lineno - node.lineno + 1, f"{path.relative_to(source)}, {node.name}"


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def table(before: Shape | None, now: Shape) -> list[str]:
    """The figures, and the imports of each package, as Markdown; beside what they were."""
    shapes = [now] if before is None else [before, now]
    heads = ["now"] if before is None else ["before", "now"]
    rows = [
        ("lines of Python, C and headers", [f"{one.lines:,}" for one in shapes]),
        ("lines of Python", [f"{one.python_lines:,}" for one in shapes]),
        ("functions", [f"{one.functions:,}" for one in shapes]),
        (f"functions over {LONG} lines", [f"{one.long}" for one in shapes]),
        ("longest function", [f"{one.longest[0]} (`{one.longest[1]}`)" for one in shapes]),
        ("packages in a circle", [_circles(one) for one in shapes]),
    ]
    names = sorted({name for one in shapes for name, edges in one.packages.items() if edges})
    edges = [(f"`{name}`", [_edges(one, name) for one in shapes]) for name in names]
    return [*_table("", heads, rows), "", *_table("package", heads, edges)]


def _table(first: str, heads: list[str], rows: list[tuple[str, list[str]]]) -> list[str]:
    return [
        f"| {' | '.join([first, *heads])} |",
        f"|{'---|' * (1 + len(heads))}",
        *(f"| {' | '.join([name, *cells])} |" for name, cells in rows),
    ]


def _circles(one: Shape) -> str:
    found = [", ".join(f"`{name}`" for name in circle) for circle in circles(one.packages)]
    count = sum(map(len, circles(one.packages)))
    return f"{count}: {'; '.join(found)}" if found else "none"


def _edges(one: Shape, package: str) -> str:
    if package not in one.packages:
        return "–"
    return ", ".join(sorted(one.packages[package])) or "nothing"


def at_commit(commit: str) -> Shape:
    """The shape that the source had at a commit."""
    words = ["git", "-C", str(ROOT), "archive", commit, SOURCE]
    packed = subprocess.run(words, check=True, capture_output=True).stdout  # noqa: S603
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as files:
            files.extractall(folder, filter="data")
        return shape(Path(folder) / SOURCE)


def write(page: Path, lines: Iterable[str]) -> None:
    """Put lines between the two marks of a page."""
    text = page.read_text()
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{page}: has no lines {BEGIN!r} and {END!r}; add them.")
    page.write_text("\n".join([before + BEGIN, "", *lines, "", END + after]))


def main() -> None:
    """Print the shape, or write it into a page."""
    parser = argparse.ArgumentParser(description="The shape of the source.")
    parser.add_argument("--beside", metavar="COMMIT", help="also what it was then")
    parser.add_argument("--write", metavar="PAGE", type=Path, help="write it into that page")
    options = parser.parse_args()
    before = at_commit(options.beside) if options.beside else None
    lines = table(before, shape(ROOT / SOURCE))
    if options.write:
        write(options.write, lines)
    else:
        print("\n".join(lines))  # noqa: T201


if __name__ == "__main__":
    main()
