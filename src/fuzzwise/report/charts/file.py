"""Charts to files: self-contained HTML, SVG or PNG, offline and without a browser."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.files import write_whole

SUFFIXES = (".html", ".svg", ".png")


def load_altair() -> Any:
    """The altair module, or the command that installs it."""
    try:
        return importlib.import_module("altair")
    except ImportError as error:
        raise need_extra("Drawing a chart", "altair", "lab") from error


def check(path: Path) -> None:
    """Refuse a chart file of an unknown kind before any work is done."""
    if path.suffix.lower() not in SUFFIXES:
        raise BadInput(
            f"{path}: a chart is written as {', '.join(SUFFIXES)}; give it one of these endings."
        )


def save(chart: Any, path: Path) -> None:
    """Write an altair chart, whole or not at all: to a temporary name, then renamed."""
    check(path)
    try:
        import vl_convert
    except ImportError as error:
        raise need_extra("Drawing a chart", "vl-convert-python", "lab") from error
    spec = chart.to_json()
    version = vl_convert.get_vegalite_versions()[-1]
    kind = path.suffix.lower()
    if kind == ".html":
        data = vl_convert.vegalite_to_html(spec, vl_version=version, bundle=True).encode()
    elif kind == ".svg":
        data = vl_convert.vegalite_to_svg(spec, vl_version=version).encode()
    else:
        data = vl_convert.vegalite_to_png(spec, vl_version=version, scale=2)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise BadInput(f"{path}: the chart cannot be written ({error.strerror}).") from error
