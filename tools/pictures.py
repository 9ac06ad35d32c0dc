"""Pictures for the README, from the folder of a campaign: its live view, its page, its report.

    python tools/pictures.py DIR docs/figures

writes run.svg, what `fuzzwise run` shows of the campaign in DIR on a terminal of 100 x 30 (while
it runs or after it), live.png, the top of its live page, and report.png, the top of its report,
both as chromium draws them.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI

from fuzzwise.report.campaign.frame import frame
from fuzzwise.store.states import CampaignState

WIDTH, HEIGHT = 100, 30
PAGE = "1200,1400"
LIVE = "1320,1250"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Rich names fonts on a server; a picture must not fetch anything.
SVG = re.sub(r"@font-face \{\{.*?\}\}\s*(?=@|\.)", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def live_view(state: CampaignState, width: int = WIDTH, height: int = HEIGHT) -> str:
    """The live view of a campaign as SVG."""
    console = Console(
        record=True, width=width, file=io.StringIO(), force_terminal=True, highlight=False
    )
    for line in frame(state, width, height):
        console.print(line, end="\n")
    console.print()  # or else the picture cuts the feet of the last line
    return console.export_svg(
        title="fuzzwise run", theme=MONOKAI, code_format=SVG, unique_id="fuzzwise"
    )


def report_page(folder: Path, picture: Path) -> str:
    """Draw the report of a campaign with a browser; a sentence about what became of it."""
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "report.html"
        _run(sys.executable, "-m", "fuzzwise", "report", str(folder), "-o", str(page))
        return _drawn(page.as_uri(), picture, PAGE)


def live_page(folder: Path, picture: Path) -> str:
    """Draw the live page of a campaign with a browser; a sentence about what became of it."""
    words = [sys.executable, "-m", "fuzzwise", "serve", str(folder), "--port", "0", "--json"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        said = ""
        while server.stdout and not said.rstrip().endswith("}"):
            said += server.stdout.readline()
        return _drawn(json.loads(said)["link"], picture, LIVE)
    finally:
        server.terminate()
        server.wait()


def _drawn(address: str, picture: Path, size: str) -> str:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return f"{picture} is not made: it needs chromium (apt-get install chromium)."
    with tempfile.TemporaryDirectory() as scratch:
        _run(
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *(f"--user-data-dir={scratch}/browser", f"--window-size={size}"),
            *(f"--screenshot={picture.resolve()}", address),
        )
    return f"{picture} is made."


def main() -> None:
    """Make all pictures."""
    from reading import read_state

    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("campaign", type=Path, help="the folder of a campaign")
    options.add_argument("out", type=Path, help="where the pictures go")
    given = options.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "run.svg").write_text(live_view(read_state(given.campaign)))
    print(f"{given.out / 'run.svg'} is made.")  # noqa: T201
    print(live_page(given.campaign, given.out / "live.png"))  # noqa: T201
    print(report_page(given.campaign, given.out / "report.png"))  # noqa: T201


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr.strip()}")


if __name__ == "__main__":
    main()
