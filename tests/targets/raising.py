"""A harness that fails in the way that the first byte of its input says."""

import ctypes
import json
import os
import sys
import time


class Odd(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def deep(n: int) -> int:
    return deep(n + 1)


def ping(n: int) -> int:
    return pong(n + 1)


def pong(n: int) -> int:
    return ping(n + 1)


def chained() -> None:
    try:
        int("x")
    except ValueError as error:
        raise KeyError("cause") from error


def meanwhile() -> None:
    try:
        int("x")
    except ValueError:
        {}["y"]


def together() -> None:
    try:
        int("x")
    except ValueError:
        raise ExceptionGroup("many", [ValueError("a"), TypeError("b")]) from None


def message(data: bytes) -> None:
    raise ValueError(data[1:].decode())


def huge() -> None:
    raise ValueError("line\n" * 10**6)


def liar() -> None:
    raise ValueError(
        'x\nTraceback (most recent call last):\n  File "y", line 1, in other\nKeyError: 1'
    )


def anonymous() -> None:
    (lambda: [1 // 0 for _ in range(2)])()


def TestOneInput(data: bytes) -> None:
    how = data[:1]
    if how == b"1":
        deep(0)
    if how == b"2":
        ping(0)
    if how == b"3":
        raise Odd
    if how == b"4":
        chained()
    if how == b"5":
        meanwhile()
    if how == b"6":
        together()
    if how == b"7":
        sys.exit(3)
    if how == b"8":
        ctypes.string_at(0)
    if how == b"9":
        compile("a b", "x", "exec")
    if how == b"a":
        message(data)
    if how == b"b":
        huge()
    if how == b"c":
        liar()
    if how == b"d":
        anonymous()
    if how == b"e":
        os.abort()
    if how == b"f":
        json.loads("{")
    if how == b"g":
        bytearray(10**14)
    if how == b"h":
        raise KeyboardInterrupt
    if how == b"t":
        time.sleep(1000)
