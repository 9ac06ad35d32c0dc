"""Words of others in which code hosts see no link, no picture and nobody to notify."""

from __future__ import annotations

import re

BREAK = "\u200b"
"""A space without width: hosts look for links in the text as it is rendered, behind all escapes."""

_LINKS = re.compile(
    r"(?<=:)(?=//)"  # an address, with whatever protocol
    r"|(?<=www)(?=\.)"
    r"|(?<=\])(?=\()"  # [words](address), also in the messages of SARIF
    r"|(?<=@)(?=\w)"  # somebody, or an address of mail
    r"|(?<=#)(?=\d)|(?<=GH)(?=-\d)"  # an issue
    r"|(?<=:)(?=[\w+-]*[a-z+-][\w+-]*:)",  # an emoji, which is a picture
    re.I,
)


def unlinked(text: str) -> str:
    """A text that looks the same, and in which nothing becomes a link by itself."""
    return _LINKS.sub(BREAK, text)
