"""A harness that rolls dice: what it executes is not a matter of the input alone.

With ROLLS=0 in the environment it does not, and is stable.
"""

import os
import random

ROLLS = int(os.environ.get("ROLLS", "1"))
dice = random.SystemRandom()


def roll() -> int:
    found = 0
    for _ in range(dice.randrange(60)):
        number = dice.randrange(1000)
        if number == 1:
            found += 1
        elif number == 2:
            found += 2
        elif number < 100:
            found += 3
    return found


def parse(data: bytes) -> int:
    depth = 0
    for byte in data:
        if byte == 40:
            depth += 1
        elif byte == 41:
            depth -= 1
        elif depth > 2 and byte > 100:
            depth += 10
    return depth


def TestOneInput(data: bytes) -> None:
    if ROLLS:
        roll()
    parse(data)
