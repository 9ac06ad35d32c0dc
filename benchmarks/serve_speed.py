"""How fast the live page of a large campaign is, and what it costs: 500 targets, 1,000,000 epochs.

A campaign of that size is written on as it would run, an epoch a second on each of two cores; a
server shows it to five readers in a browser (chromium, by Playwright). Measured, in one run: the first
paint, the time to take an update into the page, the memory of the page, and what of a core the server
takes; and a real small campaign's inputs a second with five readers beside it and without, in
alternating pairs. Run ``python benchmarks/serve_speed.py [--epochs N] [--pairs N] [--store DIR]``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import store_speed
from fuzzwise.campaign.finished import run_entry
from fuzzwise.store.contract import Choice
from fuzzwise.store.places import open_reader
from fuzzwise.store.sql.store import SqlStore
from timing import report

TARGETS = 500
READERS = 5
WATCHED = 60.0
EXAMPLES = Path(__file__).parents[1] / "examples"
CAMPAIGN = """[campaign]
cores = 1
epoch = "500ms"
accepted_risk = 1e-12
out = "{out}"
[[target]]
program = "{program}"
max_length = 64
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=1_000_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--store", type=Path, help="a store made before, which is copied")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        large = Path(place) / "large"
        if given.store:
            shutil.copytree(given.store, large)
        else:
            large.mkdir()
            store_speed.TARGETS = TARGETS
            store_speed.make(large, given.epochs)
        store_speed.TARGETS = TARGETS
        page_of_large(large)
        if given.pairs:
            campaign_beside_readers(Path(place), given.pairs, given.seconds)


def page_of_large(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    state = open_reader(folder).state()
    print(f"{len(state.targets)} targets, {state.epochs:,} epochs, {len(state.bugs)} bugs")
    with ExitStack() as stack:
        stack.enter_context(being_written(folder))
        server, link = stack.enter_context(served(folder))
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--enable-precise-memory-info"],
        )
        stack.callback(browser.close)
        paints, pages = [], []
        for _ in range(READERS):
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.goto(link)
            page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
            paints.append(page.evaluate(_PAINT) / 1000)
            pages.append(page)
        report("first paint (the first is of a server just started)", paints, "s", "≤ 1 s")
        before, begun = cpu(server), time.monotonic()
        while time.monotonic() - begun < WATCHED:
            pages[0].wait_for_timeout(1000)
        share = (cpu(server) - before) / (time.monotonic() - begun)
        updates = [took for page in pages for took in page.evaluate(_UPDATES)]
        print(f"updates that each reader took: {[page.evaluate(_COUNT) for page in pages]}")
        memory = sorted((held / 2**20 for _, held in renderers(browser)), reverse=True)
        if updates:
            report("an update taken into the page", updates, "ms", "≤ 200 ms")
        report("memory of a page's process", memory[:READERS], "MiB", "≤ 150 MiB")
        print(f"the server takes {share:.2%} of a core with {READERS} readers (≤ 3 %)")
        every = [drawn(pages[0], browser) for _ in range(5)]
        report("500 rows at once, up to the frame that shows them", [w for w, _ in every], "ms", "")
        report("    of which the page's process works", [c for _, c in every], "ms", "")


_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
_UPDATES = "performance.getEntriesByName('update').map(entry => entry.duration)"
_COUNT = "Number(document.body.dataset.updates || 0)"
_DRAWN = """() => new Promise(done => {
  const rows = [...document.querySelectorAll('#target-table tbody tr')];
  const pieces = Object.fromEntries(rows.map(row => [row.dataset.piece, row.outerHTML]));
  const begun = performance.now();
  takeNews({pieces});
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
})"""


def drawn(page: Any, browser: Any) -> tuple[float, float]:
    """From the arrival of all rows to the frame in which they are seen; and time on processors."""
    before = sum(cpu(pid) for pid, _ in renderers(browser))
    took = page.evaluate(_DRAWN)
    return took, 1000 * (sum(cpu(pid) for pid, _ in renderers(browser)) - before)


def renderers(browser: Any) -> Iterator[tuple[int, int]]:
    """The browser's processes that hold pages, and their private memory."""
    session = browser.new_browser_cdp_session()
    for each in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        if each["type"] == "renderer":
            rollup = Path(f"/proc/{each['id']}/smaps_rollup").read_text()
            parts = (line.split() for line in rollup.splitlines())
            private = [p[1] for p in parts if p[0] in ("Private_Dirty:", "Private_Clean:")]
            yield each["id"], 1024 * sum(map(int, private))


@contextmanager
def being_written(folder: Path) -> Iterator[None]:
    """An epoch a second on each of two cores."""
    over = threading.Event()

    def write() -> None:
        with SqlStore.open(folder) as store:
            store.begin_run(run_entry(store_speed.plan(folder), None))
            i = 0
            while not over.wait(0.5):
                name = f"t{i % TARGETS}"
                epoch = store.start_epoch(1e6 + i, name, Choice("why", 0.1, "t7", 0.05))
                store.finish_epoch(epoch, 1e6 + i + 1, store_speed.turn(10**9 + i))
                store.tick(1e6 + i + 1)
                i += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


@contextmanager
def served(folder: Path) -> Iterator[tuple[int, str]]:
    """The process of a server, and its link."""
    words = [sys.executable, "-m", "fuzzwise", "serve", str(folder), "--port", "0", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        text = ""
        assert process.stdout is not None
        while not text.rstrip().endswith("}"):
            text += process.stdout.readline()
        yield process.pid, json.loads(text)["link"]
    finally:
        process.terminate()
        process.wait()


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def campaign_beside_readers(place: Path, pairs: int, seconds: float) -> None:
    """Inputs a second of a real campaign with five readers of its page, and without a page."""
    program = place / "base64"
    words = [sys.executable, "-m", "fuzzwise", "build", str(EXAMPLES / "base64.c")]
    subprocess.run([*words, "-o", str(program)], check=True, capture_output=True)
    ratios = []
    for number in range(pairs):
        order = (True, False) if number % 2 else (False, True)
        speed = {
            read: one_run(place / f"{number}-{read}", program, seconds, read) for read in order
        }
        ratios.append(speed[True] / speed[False])
        print(f"    pair {number + 1}: {speed[True]:,.0f} and {speed[False]:,.0f} inputs a second")
    print(f"the campaign's speed with {READERS} readers: {statistics.median(ratios):.3f} (≥ 0.99)")


def one_run(home: Path, program: Path, seconds: float, read: bool) -> float:
    home.mkdir()
    file = home / "campaign.toml"
    file.write_text(CAMPAIGN.format(out=home / "out", program=program))
    words = [
        sys.executable,
        "-m",
        "fuzzwise",
        "run",
        str(file),
        "--time",
        f"{seconds:g}s",
        "--quiet",
    ]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with ExitStack() as stack:
        if read:
            while not (home / "out" / "campaign.db").exists():
                time.sleep(0.05)
            _, link = stack.enter_context(served(home / "out"))
            for _ in range(READERS):
                address = f"{link}c/out/events?page=overview"
                reader = subprocess.Popen(["curl", "-sN", address], stdout=subprocess.DEVNULL)
                stack.callback(reader.wait)
                stack.callback(reader.kill)
        process.wait()
    (target,) = open_reader(home / "out").state().targets
    return target.inputs / target.seconds


if __name__ == "__main__":
    main()
