"""A campaign shown: live, as status, as page, Markdown, SARIF and JSON."""
