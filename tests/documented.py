"""What the documentation shows, as tests run it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SHORTER = (
    ("1m", "4s"),
    ("--time 5s", "--time 200ms"),
    ("--time 3s", "--time 200ms"),
    ("-runs=300000", "-runs=20000"),
    ("replay recording", "replay recording --repeats 3"),
)
"""What a reader waits for, and what a test does."""


def shortened(text: str) -> str:
    """Commands that take less time; nothing else about them changes."""
    for long, short in SHORTER:
        text = text.replace(long, short)
    return text


def run_python(page: Path, folder: Path) -> None:
    """All Python of a page as one program; text right behind a piece of it is what that prints."""
    shown = re.findall(
        r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", page.read_text(), flags=re.DOTALL
    )
    shown = [(code, text) for code, text in shown if "fuzzwise" in code]  # no harness of a user
    if not shown:
        return
    end = "\0\n"
    program = "".join(f"{code}\nprint({end!r}, end='')\n" for code, _ in shown)
    words = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert result.returncode == 0, result.stderr
    for (code, text), printed in zip(shown, result.stdout.split(end), strict=False):
        assert not text or printed == text, code
