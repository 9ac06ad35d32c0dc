"""What the live page refuses, or shows as text: names, paths, values, tokens, origins."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

pytest.importorskip("starlette")

from fuzzwise.serve.guard import HEADERS, safe_next
from fuzzwise.serve.live import MOST_READERS, Live
from serving import Serving, wait_for
from stored import begun, epoch, found, turn

SECRET = "a-token-that-nobody-guesses"
OUTSIDE = b"what nobody may fetch"

NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "</title><script>alert(1)</script>",
    "javascript:alert(1)",
    "../../../etc/passwd",
    "a\r\nSet-Cookie: mine=1",
    "event: bye\n\ndata: x",
    "\x1b[2J\x07\u202egnp",
    "%00%2e%2e%2f",
    "x" * 5000,
    "&name=other#fragment?",
    "]]><svg onload=alert(1)>",
    "\u2028\u2029 ­​",
]
"""Of targets, and what they say."""

INPUTS = ["../outside", "/etc/passwd", "link", "linked/outside", "folder", "pipe", "", "no\0name"]
"""Files that a store may name, and that are none of the campaign's."""


class Elements(HTMLParser):
    """The elements of a page, each with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A campaign in which every name, sentence and path is somebody else's."""
    home = tmp_path_factory.mktemp("hostile")
    folder = home / "campaign"
    folder.mkdir()
    (home / "outside").write_bytes(OUTSIDE)
    (folder / "good").write_bytes(b"a good input")
    with begun(folder, *NAMES) as store:
        for i, name in enumerate(NAMES):
            words = {"inputs": (f"dir/{name}",), "command": name, "report": name}
            bug = found(f"bug{i}{name[:40]}", **words)
            epoch(store, i + 1.0, name, turn(100 + i, bug, warnings=(name,), trend=name))
            store.event(i + 1.0, name, name, name)
            store.set_state(name, "broken" if i % 2 else "retired", name, name)
        files = ("good", *INPUTS)
        epoch(store, 99.0, NAMES[0], turn(5000, found("files", inputs=files)))
    (folder / "link").symlink_to(home / "outside")
    (folder / "linked").symlink_to(home)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    return folder


@pytest.fixture(scope="module")
def served(hostile):
    with Serving([hostile]) as page:
        yield page


@pytest.fixture(scope="module")
def guarded(hostile):
    with Serving([hostile], SECRET) as page:
        yield page


def assert_harmless(text: str) -> None:
    for tag, attributes in Elements(text).found:
        assert tag not in ("iframe", "object", "embed", "base", "img"), (tag, attributes)
        assert not any(name.startswith("on") or name == "style" for name in attributes), attributes
        if tag == "script":
            assert attributes["src"] in ("/static/page.js", "/static/login.js")
        link = attributes.get("href") or ""
        assert re.match(r"(/|\?|#|target\?|bug\?|input\?|timeline|$)", link), link
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2028]", text)


PAGES = [
    "/c/campaign/",
    "/c/campaign/timeline",
    "/c/campaign/since?at=0",
    "/c/campaign/bug?id=files",
]


@pytest.mark.parametrize("path", PAGES)
def test_pages_show_hostile_words_as_text(path, served):
    answer = served.get(path)
    assert answer.code == 200
    assert_harmless(answer.text)
    assert "&lt;script&gt;" in answer.text


@pytest.mark.parametrize("path", PAGES)
def test_every_page_may_be_the_first_that_is_asked_for(path, hostile, monkeypatch):
    async def has_not_come_to_it(live):
        await asyncio.Event().wait()

    monkeypatch.setattr(Live, "read_stores", has_not_come_to_it)
    with Serving([hostile]) as page:
        assert page.get(path).code == 200


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_target_of_any_name_has_its_page(name, served):
    answer = served.get(f"/c/campaign/target?name={quote(name, safe='')}")
    assert answer.code == 200
    assert_harmless(answer.text)
    assert "mine" not in answer.headers.get("set-cookie", "")


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_what_is_asked_for_and_is_not_there_is_shown_as_text(name, served):
    for where in ("target?name=no", "bug?id=no"):
        answer = served.get(f"/c/campaign/{where}{quote(name, safe='')}")
        assert answer.code == 404
        assert_harmless(answer.text)


def test_a_reader_who_asks_for_no_content_is_answered_at_once(served):
    assert served.get("/c/campaign/events?page=overview", method="HEAD").code == 200


def test_names_in_metrics_stay_in_their_line(served):
    text = served.get("/metrics").text
    for line in text.splitlines():
        assert re.match(
            r"(# (HELP|TYPE|UNIT|EOF)|fuzzwise_[a-z_]+(\{.*\})? [-+0-9.eInfNa]+$)", line
        ), line


def test_the_good_input_is_saved_and_nothing_else(served):
    answer = served.get("/c/campaign/input?bug=files&number=0")
    assert (answer.code, answer.body) == (200, b"a good input")
    assert answer.headers["content-disposition"] == 'attachment; filename="good"'
    assert answer.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize("number", range(1, len(INPUTS) + 1))
def test_a_file_that_is_not_the_campaigns_is_not_sent(number, served):
    answer = served.get(f"/c/campaign/input?bug=files&number={number}")
    assert answer.code == 404
    assert OUTSIDE not in answer.body


@pytest.mark.parametrize("number", ["-1", "99", "9" * 20, "1e3", "٣", "0x0", "", "0 "])
def test_no_input_by_a_number_that_is_none(number, served):
    assert served.get(f"/c/campaign/input?bug=files&number={quote(number)}").code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/%2e%2e/etc/passwd",
        "/static//etc/passwd", "//etc/passwd", "/c/../../etc/passwd", "/c/campaign/../../outside",
        "/c/campaign/campaign.db", "/c/campaign/good", "/c/%2e%2e/", "/c/campaign%00/",
        "/c/other/", "/c/other/events?page=overview", "/c/campaign/events?page=../x",
        "/.git/config", "/events?page=overview", "/c/campaign/events?page=index",
    ],
)  # fmt: skip
def test_there_is_nothing_beside_the_pages(path, served):
    answer = served.get(path)
    assert answer.code == 404
    assert OUTSIDE not in answer.body


@pytest.mark.parametrize(
    "part",
    ["from=nan&to=inf", "from=-1&to=5", "from=5&to=1", "from=1e308&to=1e309", "from=0&to=1e-300",
     "from=%00&to=x", "from=0&to=9999999999"],
)  # fmt: skip
def test_a_part_of_no_time_is_a_page_all_the_same(part, served):
    assert served.get(f"/c/campaign/timeline?{part}").code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_it_can_only_be_read(method, served):
    assert served.get("/c/campaign/", method=method).code == 405


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::2]", "", "a@b:c"])
def test_a_name_of_somebody_else_does_not_lead_here(host, served):
    assert served.get("/c/campaign/", {"Host": host}).code in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
    ],
)  # fmt: skip
def test_other_origins_are_refused(headers, served):
    assert served.get("/c/campaign/", headers).code == 403


@pytest.mark.parametrize("path", ["/c/campaign/", "/static/page.js", "/nothing", "/metrics"])
def test_every_answer_has_its_guard(path, served, guarded):
    for answer in (served.get(path), guarded.get(path)):
        for name, value in HEADERS.items():
            assert answer.headers[name.lower()] == value
        assert "access-control-allow-origin" not in answer.headers
        assert "unsafe" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "headers",
    [
        {}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {SECRET[:-1]}"},
        {"Authorization": f"Bearer {SECRET}x"}, {"Authorization": f"Basic {SECRET}"},
        {"Authorization": "Bearer " + "x" * 10_000}, {"Cookie": "fuzzwise={port}"},
        {"Cookie": f"fuzzwise-{{port}}={SECRET}"}, {"Cookie": "fuzzwise-{port}=" + "0" * 64},
        {"Cookie": "\xff;;=;fuzzwise-{port}"}, {"X-Forwarded-For": "127.0.0.1"},
        {"Host": "localhost"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/c/campaign/", "/metrics", "/c/campaign/events?page=overview"])
def test_without_the_token_nothing_of_a_campaign_is_told(path, headers, guarded):
    given = {name: value.replace("{port}", str(guarded.port)) for name, value in headers.items()}
    for accept in ("text/html", "*/*"):
        answer = guarded.get(path, given | {"Accept": accept})
        assert answer.code == 401
        assert "trial" not in answer.text


def test_a_token_in_an_address_counts_for_nothing(guarded):
    assert guarded.get(f"/c/campaign/?token={SECRET}").code == 401


def test_the_token_opens_the_page_by_header_and_by_cookie(guarded):
    assert guarded.get("/c/campaign/", {"Authorization": f"Bearer {SECRET}"}).code == 200
    answer = guarded.get("/login", method="POST", body=f"token={SECRET}&next=/c/campaign/")
    assert (answer.code, answer.headers["location"]) == (303, "/c/campaign/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert SECRET not in cookie
    assert guarded.get("/c/campaign/", {"Cookie": cookie.partition(";")[0]}).code == 200


@pytest.mark.parametrize("given", ["", "token=", "token=wrong", f"token={SECRET}1", "x" * 100_000])
def test_a_wrong_token_is_refused(given, guarded):
    answer = guarded.get("/login", method="POST", body=given)
    assert answer.code in (401, 413)
    assert "set-cookie" not in answer.headers


def test_the_token_is_not_taken_from_another_origin(guarded):
    headers = {"Origin": "http://evil.example"}
    assert guarded.get("/login", headers, method="POST", body=f"token={SECRET}").code == 403


@pytest.mark.parametrize(
    "to",
    ["//evil.example", "/\\evil.example", "https://evil.example", "\\\\evil", "/a\r\nX: y", ""],
)
def test_nobody_is_led_elsewhere_after_the_token(to):
    assert safe_next(to) == "/"


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
        b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", b"\0" * 1000,
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused(data, served):
    said = served.raw(data)
    assert not said.startswith(b"HTTP/1.1 2")
    assert served.get("/c/campaign/").code == 200


def test_readers_who_take_nothing_are_in_nobodys_way(served):
    """Each asks for events and never reads them; those beyond the most are refused."""
    asking = b"GET /c/campaign/events?page=overview HTTP/1.1\r\nHost: localhost\r\n\r\n"
    readers = []
    try:
        for _ in range(MOST_READERS):
            reader = socket.create_connection(("127.0.0.1", served.port))
            readers.append(reader)
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.sendall(asking)
        wait_for(lambda: b"503 " in first_bytes(served.port, asking))
        assert served.get("/c/campaign/").code == 200
    finally:
        for reader in readers:
            reader.close()
    wait_for(lambda: b"text/event-stream" in first_bytes(served.port, asking))


def first_bytes(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(data)
        return client.recv(4096)
