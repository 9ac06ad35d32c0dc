"""Charts to files: self-contained HTML, SVG or PNG, offline and without a browser."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from fuzzwise.errors import BadInput, need_extra
from fuzzwise.files import write_whole

SUFFIXES = (".html", ".svg", ".png")


_STAND_IN = "\ue0f0"
"""A character without a meaning."""

_HEADER = "Content-Security-Policy"
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data:"
)


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
        data = _page(vl_convert, spec, version).encode()
    elif kind == ".svg":
        data = vl_convert.vegalite_to_svg(spec, vl_version=version).encode()
    else:
        data = vl_convert.vegalite_to_png(spec, vl_version=version, scale=2)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise BadInput(f"{path}: the chart cannot be written ({error.strerror}).") from error


def _page(vl_convert: Any, spec: str, version: str) -> str:
    """A page in which no name of the chart can end the script that it stands in.

    The chart is written into a script as it is; a "<" in it takes another form there, which means
    the same. The policy lets the page load nothing.
    """
    safe = spec.replace(_STAND_IN, "").replace("<", _STAND_IN)
    page: str = vl_convert.vegalite_to_html(safe, vl_version=version, bundle=True)
    page = page.replace(_STAND_IN, "\\u003c")
    return page.replace(
        "<head>", f'<head>\n    <meta http-equiv="{_HEADER}" content="{_POLICY}">', 1
    )
