"""mistune: renders Markdown to HTML."""

import mistune

MAX_INPUT = 1024

render = mistune.create_markdown(plugins=["strikethrough", "footnotes", "table", "url"])


def TestOneInput(data: bytes) -> None:  # noqa: N802
    """Render it."""
    if len(data) <= MAX_INPUT:
        render(data.decode("utf-8", "replace"))
