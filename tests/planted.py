"""The example programs with known bugs: how to build them, and inputs that reach each bug.

Every input is a random stretch of harmless content, the trigger of one bug with random values, and
random content behind it, which the program never reaches.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from builds import compiled

EXAMPLES = Path(__file__).parents[1] / "examples"
Maker = Callable[[random.Random], bytes]

BUILDS = {
    "symbols": ("-g", "-fstack-protector-strong"),
    "stripped": ("-s", "-fstack-protector-strong"),
    "address": ("-g", "-fsanitize=address"),
    "address-stripped": ("-s", "-fsanitize=address"),
}


def build(program: str, kind: str, folder: Path) -> Path:
    """An example, built in one of the ways of BUILDS."""
    compiler = shutil.which("clang")
    if compiler is None:
        pytest.skip("clang is not installed")
    target = folder / f"{program}-{kind}"
    source = EXAMPLES / f"{program}.c"
    return compiled([compiler, "-O1", *BUILDS[kind], source], target)


def inputs(program: str, count: int, seed: int = 1) -> dict[str, list[bytes]]:
    """At least ``count`` inputs in all, by the bug they reach."""
    rng = random.Random(f"{program} {seed}")
    makers = PROGRAMS[program]
    each = -(-count // len(makers))
    return {bug: [maker(rng) for _ in range(each)] for bug, maker in makers.items()}


def _record(tag: str, payload: bytes) -> bytes:
    return tag.encode() + bytes([len(payload)]) + payload


def _bytes(rng: random.Random, low: int, high: int) -> bytes:
    return rng.randbytes(rng.randint(low, high))


def _name(rng: random.Random) -> bytes:
    text = _bytes(rng, 0, 32)
    return _record("N", bytes([len(text)]) + text)


def _harmless_records(rng: random.Random) -> bytes:
    makers: list[Callable[[], bytes]] = [
        lambda: _record("P", bytes([rng.randrange(256), rng.randrange(256), 0, 0, 9])),
        lambda: _record("Q", bytes([rng.randrange(8), 0, 0, 0])),
        lambda: _record("V", bytes([rng.randint(1, 255)]) + _bytes(rng, 0, 20)),
        lambda: _record("A", bytes([rng.randrange(10)])),
        lambda: _record("C", bytes([rng.randint(4, 255)]) + _bytes(rng, 0, 9)),
        lambda: _record("R", bytes([rng.randint(3, 255)]) + _bytes(rng, 0, 9)),
        lambda: _record("?", _bytes(rng, 0, 40)),
    ]
    return b"".join(rng.choice(makers)() for _ in range(rng.randint(0, 12)))


def _records(trigger: Maker) -> Maker:
    def make(rng: random.Random) -> bytes:
        return b"RB01" + _harmless_records(rng) + trigger(rng) + _bytes(rng, 0, 60)

    return make


def _long_name(rng: random.Random) -> bytes:
    # A canary starts with a zero byte: what overwrites it must differ.
    text = bytes(rng.randint(1, 255) for _ in range(rng.randint(56, 250)))
    return _record("N", bytes([len(text)]) + text)


def _circle(rng: random.Random) -> bytes:
    way = rng.sample(range(16), rng.randint(1, 9))
    closed = zip(way, [*way[1:], way[0]], strict=True)
    links = [_record("L", bytes(pair)) for pair in closed]
    outside = [n for n in range(16) if n not in way]
    links += [_record("L", bytes([n, rng.choice(way)])) for n in rng.sample(outside, 3)]
    return b"".join(links) + _record("F", bytes([rng.choice(way)]))


def _freed(rng: random.Random, last: str) -> bytes:
    number = rng.randint(1, 5)
    contact = rng.randrange(number)
    made = b"".join(_name(rng) for _ in range(number))
    return made + _record("D", bytes([contact])) + _record(last, bytes([contact]))


def _far_pixel(rng: random.Random) -> bytes:
    place = rng.randrange(16 * 4096) | rng.randint(1, 15) << 28
    return _record("P", place.to_bytes(4, "little") + _bytes(rng, 1, 3))


def _far_lookup(rng: random.Random) -> bytes:
    return _record("Q", (-rng.randint(1 << 26, 1 << 31)).to_bytes(4, "little", signed=True))


RECORDS: dict[str, Maker] = {
    "tidy_name": _records(_long_name),
    "add_note": _records(lambda r: _record("T", _bytes(r, 1, 90))),
    "set_pixel": _records(_far_pixel),
    "lookup": _records(_far_lookup),
    "follow": _records(_circle),
    "average": _records(lambda r: _record("V", b"\0" + _bytes(r, 0, 30))),
    "check_format": _records(lambda r: _record("A", bytes([r.randint(10, 255)]))),
    "show": _records(lambda r: _freed(r, "S")),
    "forget": _records(lambda r: _freed(r, "D")),
    "read_comment": _records(lambda r: _record("C", bytes([r.randrange(4)]) + _bytes(r, 0, 9))),
    "read_street": _records(lambda r: _record("R", bytes([r.randrange(2)]) + _bytes(r, 0, 9))),
}


def _nested(rng: random.Random, text: str) -> str:
    """A sum at a random depth of brackets, with other terms before it."""
    for _ in range(rng.choice((0, 0, 1, 2, 3, 9))):
        text = f"{rng.randrange(90)} {rng.choice('+-*')} ({text})"
    return text


def _sums(trigger: Callable[[random.Random], str]) -> Maker:
    harmless = ("show 1 + 2", "mark 7", "show (3 * 4) / 2", "show 2 ^ 5", "show [3]", "# x", "")

    def make(rng: random.Random) -> bytes:
        before = [rng.choice(harmless) for _ in range(rng.randint(0, 9))]
        return "\n".join([*before, trigger(rng), "show 1"]).encode() + _bytes(rng, 0, 40)

    return make


def _show(text: Callable[[random.Random], str]) -> Maker:
    return _sums(lambda rng: f"show {_nested(rng, text(rng))}")


def _variables(rng: random.Random) -> str:
    way = rng.sample("abcdef", rng.randint(1, 6))
    closed = zip(way, [*way[1:], way[0]], strict=True)
    lines = [f"{name} = {_nested(rng, f'{rng.randrange(9)} + {then}')}" for name, then in closed]
    return "\n".join([*lines, f"show {_nested(rng, rng.choice(way))}"])


def _dropped(rng: random.Random, last: str) -> str:
    names = rng.sample("abcdef", rng.randint(1, 6))
    lines = [f"{name} = {rng.randrange(1000)}" for name in names]
    return "\n".join([*lines, f"drop {names[0]}", last.format(names[0])])


SUMS: dict[str, Maker] = {
    "divide": _show(lambda r: f"{r.randrange(1000)} / {r.choice(('0', '(1 - 1)', '-0'))}"),
    "null": _show(lambda r: r.choice("abcdef")),
    "endless": _sums(_variables),
    "number": _sums(lambda r: "show " + "".join(r.choices("123456789", k=r.randint(60, 180)))),
    "pick": _show(lambda r: f"[-{r.randint(10**6, 10**8)}]"),
    "mark": _sums(lambda r: f"mark {256 * r.randint(1, 3000) + r.randrange(15)}"),
    "shift": _show(lambda r: f"{r.randrange(99)} ^ {r.choice((32, 40, 999, -1, -7))}"),
    "drop": _sums(lambda r: _dropped(r, "drop {}")),
    "recall": _sums(lambda r: _dropped(r, f"show {_nested(r, '@{}')}")),
}


def _shapes(trigger: Callable[[random.Random], str]) -> Maker:
    def make(rng: random.Random) -> bytes:
        harmless = (
            *(f"dot {rng.randrange(256)} {rng.randrange(64)}", f"grid {rng.randint(1, 99)}"),
            *("title Harbour", "line 3", f"scale {rng.randint(1, 100)}", "layer 7 -1", "show 7"),
        )
        before = [rng.choice(harmless) for _ in range(rng.randint(0, 12))]
        return "\n".join([*before, trigger(rng), ""]).encode() + _bytes(rng, 0, 40)

    return make


def _far_dot(rng: random.Random) -> str:
    return f"dot {rng.randrange(256)} {65536 * rng.randint(1, 255) + rng.randrange(64)}"


def _layers(rng: random.Random) -> str:
    way = rng.sample(range(8), rng.randint(1, 8))
    closed = zip(way, [*way[1:], way[0]], strict=True)
    return "\n".join([*(f"layer {a} {b}" for a, b in closed), f"show {rng.choice(way)}"])


SHAPES: dict[str, Maker] = {
    "draw_dot": _shapes(_far_dot),
    "draw_grid": _shapes(lambda r: r.choice(("grid 0", "grid -0", "grid 000", "grid 0 9"))),
    "draw_line": _shapes(lambda r: f"line {-r.randint(10**7, 4 * 10**8)}"),
    "set_title": _shapes(lambda r: "title " + "x!Z9~"[r.randrange(5)] * r.randint(70, 240)),
    "draw_layer": _shapes(_layers),
    "fill": _shapes(lambda r: f"fill {r.randrange(1000)}"),
    "scale_all": _shapes(lambda r: f"scale {r.choice((0, -1, 101, 7000))}"),
    "close_brush": _shapes(lambda r: "pen\n" * r.randrange(3) + "brush\nend\nend"),
}

PROGRAMS = {"records": RECORDS, "sums": SUMS, "shapes": SHAPES}
