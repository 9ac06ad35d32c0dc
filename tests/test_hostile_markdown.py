"""Markdown as code hosts render it: no word of others becomes a link, a tag or a picture."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from campaign_states import example_state
from fuzzwise.report.campaign import markdown as campaign_markdown
from fuzzwise.store.states import Stopped

HOSTILE = (
    "[a](https://evil.example) ![b](//evil.example/x.png) <https://evil.example/c> "
    "<img src=https://evil.example/d.png> <script>e</script> https://evil.example/f "
    "www.evil.example/g mail@evil.example @team team/repo#12 GH-7 :shipit: [h]: //evil.example "
    "`i` ``` **j** ~~k~~ $l$ | m \\| \\[n](//evil.example) [^1] &lt;o&gt; <!-- p"
)
AUTOMATIC = re.compile(r"\w://|www\.|[\w.+-]@\w|@\w|#\d|GH-\d|:\w+:")
"""What GitHub makes a link, a mention or a picture of wherever it stands in text but in code."""


class Rendered(HTMLParser):
    """The tags of Markdown that is rendered, and its text that is no code."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.feed(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += "" if "code" in self.open else data


@pytest.mark.parametrize("before", ["", "# ", "- ", "1. ", "> ", "    ", "```\n", "| ", "\n\n"])
def test_nothing_in_any_field_becomes_a_link_or_a_tag_in_markdown(before: str) -> None:
    said = f"{before}{HOSTILE}"
    state = example_state(4, running=False, hostile=False)
    words = {"id": said, "kind": said, "severity": said, "frames": (said,), "summary": said}
    files = {"file": said, "report": said, "inputs": (said,), "command": f"./{said!r} {said!r}"}
    bugs = tuple(replace(b, **words | files, target=said, targets=(said,)) for b in state.bugs[:1])  # type: ignore[arg-type]
    targets = tuple(
        replace(t, name=said, detail=said, reason=said, engine=said, warnings=(said,), trend=said)
        for t in state.targets
    )
    events = tuple(replace(event, target=said, detail=said) for event in state.events)
    hostile = replace(
        state, name=said, bugs=bugs, targets=targets, events=events, stopped=Stopped(said, said)
    )
    for share in (False, True):
        shown = Rendered(campaign_markdown.summary(hostile, {said}, share=share))
        assert "evil" in shown.text
        assert shown.tags <= {
            *("h2", "p", "strong", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td")
        }
        assert not AUTOMATIC.search(shown.text), AUTOMATIC.findall(shown.text)
