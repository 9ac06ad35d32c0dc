"""Small valid inputs for the further targets of the study on spending time."""

from __future__ import annotations

import bz2
import struct


def bzip2_seeds() -> dict[str, bytes]:
    """Streams of bzip2: short, repetitive, and with many symbols."""
    texts = {"empty": b"", "short": b"hello, hello, hello", "runs": b"a" * 900 + b"b" * 300}
    texts["bytes"] = bytes(range(256)) * 2
    return {name: bz2.compress(text, 1) for name, text in texts.items()}


def lua_seeds() -> dict[str, bytes]:
    """Texts of Lua that have most of its grammar."""
    texts = {
        "functions": "local function f(a, ...) return a + #{...}, ... end\nprint(f(1, 2))\n",
        "loops": "for i = 1, 10 do if i % 2 == 0 then goto next end ::next:: end\nwhile x do break end\n",
        "tables": "t = {1, 'two', [3] = {a = 0x1p4}, n = nil}; t.m = function(self) self:m() end\n",
        "strings": "s = [==[long]] ]==] .. \"\\x41\\u{48}\\z  end\" .. 'q' -- comment\n--[[ more ]]\n",
        "rest": "local x <const>, y <close> = 1 << 2 // 3, not nil\nrepeat y = x ~ y until y >= 2 or a and b\n",
    }
    return {name: text.encode() for name, text in texts.items()}


def gif_seeds() -> dict[str, bytes]:
    """GIFs of two colours: one picture, an interlaced one, and one with extensions."""
    palette = bytes([0, 0, 0, 255, 255, 255])
    head = b"GIF89a" + struct.pack("<HHBBB", 4, 4, 0x80, 0, 0) + palette
    pixels = bytes([2, 5, 0x84, 0x8F, 0xA9, 0x0B, 0x05, 0])
    picture = b"," + struct.pack("<HHHHB", 0, 0, 4, 4, 0) + pixels
    interlaced = b"," + struct.pack("<HHHHB", 0, 0, 4, 4, 0xC0) + palette + pixels
    control = b"!\xf9\x04\x05\x0a\x00\x01\x00"
    application = b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
    comment = b"!\xfe\x05hello\x00"
    return {
        "plain": head + picture + b";",
        "interlaced": head + interlaced + b";",
        "extensions": head + application + control + picture + comment + control + picture + b";",
    }


def patch_seeds() -> dict[str, bytes]:
    """A JSON document, a line end, and changes to it."""
    document = '{"a": [1, 2, {"b": "c"}], "d": null, "e/f": true}'
    changes = {
        "operations": '[{"op": "add", "path": "/a/1", "value": 9}, {"op": "remove", "path": "/d"},'
        ' {"op": "move", "from": "/a/0", "path": "/a/2"}]',
        "others": '[{"op": "test", "path": "/e~1f", "value": true},'
        ' {"op": "copy", "from": "/a", "path": "/g"}, {"op": "replace", "path": "", "value": []}]',
        "merge": '{"a": {"b": null}, "d": [1], "e/f": null}',
    }
    return {name: f"{document}\n{text}".encode() for name, text in changes.items()}


def url_seeds() -> dict[str, bytes]:
    """Addresses, behind a byte that says whether they are those of CONNECT."""
    texts = ["@http://user:word@example.org:8080/a/b?c=d#e", "Aexample.org:443", "@/only/a/path?"]
    return {
        f"url{number}": text.encode() for number, text in enumerate([*texts, "@https://[::1]/*"])
    }


def expression_seeds() -> dict[str, bytes]:
    """Regular expressions of XML Schema, a line end, and a text."""
    texts = {
        "classes": "[a-z\\d-[aeiou]]{2,4}\\p{Lu}*\nxyzA",
        "groups": "(ab|c(d|e)+)?f*\nabff",
        "escapes": "\\i\\c*\\.[^\\s]+\\P{IsBasicLatin}?\nname.x",
        "counts": "a{3}b{1,}c{0,2}\naaabbc",
    }
    return {name: text.encode() for name, text in texts.items()}


def toml_seeds() -> dict[str, bytes]:
    """Documents of TOML."""
    texts = {
        "tables": "a = 1\n[b.c]\nd = [1, 2.5, 'x']\n[[e]]\nf = {g = true, h.i = 0x1f}\n",
        "values": 'when = 1979-05-27T07:32:00.5-08:00\nday = 2000-01-02\ntext = """\nlines \\\n  joined"""\n',
        "keys": '"quoted key" = +inf\n\'literal\' = -1e3_0\nbare-key = "\\u00e9\\t" # comment\n',
    }
    return {name: text.encode() for name, text in texts.items()}
