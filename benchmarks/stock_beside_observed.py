"""The risk that the stock engine tells beside that of the observed one, after equally many inputs.

Run ``python benchmarks/stock_beside_observed.py [SOURCE…] --inputs 300000``. Each source is built twice,
by clang alone and with the observer, and fuzzed from nothing by both. They choose seeds in different
ways, and so find different things: the two risks are of one order, not equal.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from fuzzwise.engines.contract import Session, TargetPlan
from fuzzwise.engines.libfuzzer.build import build_words, find_toolchain
from fuzzwise.engines.libfuzzer.session import LibFuzzerSession
from fuzzwise.engines.libfuzzer.settings import LibFuzzerSettings
from fuzzwise.engines.stock.session import StockSession
from fuzzwise.engines.stock.settings import StockSettings
from fuzzwise.judge import Terms, judge

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SOURCES = tuple(EXAMPLES / f"{name}.c" for name in ("ini", "url", "expression"))
LONGEST = 600.0


def told(session: Session) -> str:
    """The risk, and what it rests on."""
    seen = session.turn(LONGEST, 1).observation
    risk = judge(seen, Terms(None, 0.95), looked=0).risk
    assert risk is not None
    assert seen.discoveries is not None
    return (
        f"{risk.value:.2e} (at most {risk.high or 1:.2e}) after {seen.n:,} inputs, "
        f"{seen.species:,} species by {len(seen.discoveries):,} discoveries"
    )


def main() -> None:
    """Compare, one source after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, nargs="*", default=SOURCES)
    parser.add_argument("--inputs", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    toolchain = find_toolchain()
    for source in asked.sources:
        with tempfile.TemporaryDirectory() as scratch:
            home = Path(scratch)
            plain, observed = home / "plain", home / "observed"
            words = ["-O1", "-g", str(source)]
            built = [str(toolchain.cc), "-fsanitize=fuzzer", *words, "-o", str(plain)]
            subprocess.run(built, check=True)
            subprocess.run(build_words(toolchain, [*words, "-o", str(observed)]), check=True)
            stock = TargetPlan(
                "stock", "stock", (str(plain),), settings=StockSettings(inputs=asked.inputs)
            )
            ours = TargetPlan(
                *("observed", "libfuzzer", (str(observed),)),
                settings=LibFuzzerSettings(inputs=asked.inputs),
            )
            print(f"{source.name}, stock:    {told(StockSession(stock, home / 's', asked.seed))}")
            print(
                f"{source.name}, observed: {told(LibFuzzerSession(ours, home / 'o', asked.seed))}"
            )


if __name__ == "__main__":
    main()
