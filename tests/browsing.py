"""Debian's chromium, driven by Playwright: for tests of the live page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fuzzwise.programs import find

CHROMIUM = str(find("chromium") or "")
PATIENCE = 600_000
"""Milliseconds for what must happen."""


@contextmanager
def browsing() -> Iterator:
    """A browser without a window; the test is skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield made
        finally:
            made.close()


@contextmanager
def page_of(browser, **settings) -> Iterator:
    """A page in a context of its own; nothing may go wrong in it unnoticed."""
    context = browser.new_context(**settings)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    mistakes = []
    page.on("pageerror", lambda error: mistakes.append(str(error)))
    page.on(
        "console",
        lambda said: mistakes.append(said.text) if "Content Security" in said.text else None,
    )
    page.on("dialog", lambda dialog: mistakes.append(dialog.message))
    try:
        yield page
    finally:
        context.close()
    assert not mistakes, mistakes
