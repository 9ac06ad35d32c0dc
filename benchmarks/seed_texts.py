"""Small valid inputs for real libraries that read text."""

from __future__ import annotations


def http_seeds() -> dict[str, bytes]:
    """Requests and answers of HTTP/1."""
    texts = {
        "get": "GET /path/file.html?x=1#part HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n",
        "post": "POST http://u:p@example.org:8080/ HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
        "chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nwiki\r\n0\r\nX: y\r\n\r\n",
        "upgrade": "GET /chat HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "connect": "CONNECT example.org:443 HTTP/1.0\r\n\r\n",
        "answer": "HTTP/1.0 404 Not Found\r\nConnection: close\r\nServer: a b\r\n\r\ngone",
    }
    return {name: text.encode() for name, text in texts.items()}


def yaml_seeds() -> dict[str, bytes]:
    """Documents of YAML."""
    texts = {
        "mapping": "name: value\nlist:\n  - one\n  - 'two'\n  - \"th\\u0072ee\"\n",
        "flow": "{a: [1, 2, {b: c}], ? complex : key}\n",
        "blocks": "text: |+\n  kept\n   lines\nfolded: >-2\n    one\n    two\n",
        "anchors": "%YAML 1.1\n%TAG ! tag:example.org,2000:\n---\nbase: &b !x {k: v}\nuse: *b\n...\n",
        "comment": "# only a comment\n--- !!str plain # text\n---\n- ~\n",
    }
    return {name: text.encode() for name, text in texts.items()}
