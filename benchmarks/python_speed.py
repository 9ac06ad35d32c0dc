"""What observing costs on Python: executions per second beside those of stock Atheris.

Both run the same script with the same limits on the length of inputs, one after the other, with the
order changed every time. The time to start is measured with one input, and taken off.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from fuzzwise.engines.python.probe import RUNNER, variables

SCRIPT = """
import sys
import atheris

def tokens(text):
    found, word = [], ""
    for letter in text:
        if letter.isalnum() or letter == "_":
            word += letter
        else:
            if word:
                found.append(word)
                word = ""
            if letter in "+-*/()":
                found.append(letter)
    return found + [word] if word else found

def depth(words):
    level = most = 0
    for word in words:
        if word == "(":
            level += 1
            most = max(most, level)
        elif word == ")" and level:
            level -= 1
    return most

def TestOneInput(data):
    words = tokens((data + bytes(48))[:48].decode("latin-1"))  # all inputs take as long
    if len(words) > 3 and depth(words) == 2 and words[0] == "sum":
        return

atheris.instrument_func(tokens)
atheris.instrument_func(depth)
atheris.instrument_func(TestOneInput)
atheris.Setup(sys.argv, TestOneInput)
atheris.Fuzz()
"""


def seconds(script: Path, runs: int, seed: int, *, observed: bool, per_seed: bool = False) -> float:
    """How long it takes, on a core: other work on the machine does not count."""
    with tempfile.TemporaryDirectory() as folder:
        options = [f"-runs={runs}", f"-seed={seed}", "-max_len=48", "-len_control=0"]
        words = [sys.executable, *([str(RUNNER)] if observed else []), str(script), *options]
        environment = dict(os.environ)
        if observed:
            environment |= variables()
            environment["FUZZWISE_STATE"] = folder
            environment["FUZZWISE_PER_SEED"] = str(int(per_seed))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(words, env=environment, cwd=folder, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@click.command()
@click.option("--repeats", default=10, show_default=True)
@click.option("--runs", default=60_000, show_default=True)
def main(repeats: int, runs: int) -> None:
    """Print executions per second, and the ratio of each pair."""
    ways = {"stock": (False, False), "observed": (True, False), "per seed": (True, True)}
    found: dict[str, list[float]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(SCRIPT)
        for repeat in range(repeats):
            names = list(ways) if repeat % 2 else list(reversed(ways))
            for name in names:
                observed, per_seed = ways[name]
                start, whole = (
                    seconds(script, n, repeat + 1, observed=observed, per_seed=per_seed)
                    for n in (1, runs)
                )
                found[name].append(runs / (whole - start))
    for name, rates in found.items():
        ratios = [rate / stock for rate, stock in zip(rates, found["stock"], strict=True)]
        low, _, high = statistics.quantiles(ratios, n=4)
        print(
            f"{name:>9}: {statistics.median(rates):8,.0f}/s, "
            f"{statistics.median(ratios):.2f} of stock (middle half {low:.2f} to {high:.2f})"
        )


if __name__ == "__main__":
    main()
