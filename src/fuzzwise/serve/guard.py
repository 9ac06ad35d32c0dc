"""Who may ask for what: read-only, from this origin, and beyond this machine with a token."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fuzzwise.serve.addresses import is_loopback

LOGIN = "/login"
OPEN = (LOGIN, "/static/page.css", "/static/login.js", "/static/icon.svg")
"""What is shown to those who have no token yet: nothing of a campaign."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Token:
    """The secret beyond this machine; all is compared by hashes, in a time that tells nothing."""

    def __init__(self, secret: str) -> None:
        self._hash = _hash(secret)
        self.cookie = hmac.new(self._hash, b"cookie", "sha256").hexdigest()
        """What a browser keeps: it opens this page, and does not tell the token."""

    def is_it(self, given: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(_hash(given), self._hash)

    def is_cookie(self, given: str) -> bool:
        """Whether this is what a browser was given for the token."""
        return hmac.compare_digest(_hash(given), _hash(self.cookie))


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogateescape")).digest()


class Guard:
    """Around the whole application: refuses before anything is read, adds headers to all answers.

    ``token`` is None for a page on this machine only: then the name by which it is called must be
    one of this machine, or else a page elsewhere could have its own name lead here.
    """

    def __init__(self, app: ASGIApp, token: Token | None, cookie: str) -> None:
        self._app = app
        self._token = token
        self._cookie = cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        allowed = ("POST",) if scope["path"] == LOGIN else ("GET", "HEAD")
        if scope["method"] not in allowed:
            return _refused(405, "This page can only be read.", {"Allow": ", ".join(allowed)})
        if len(headers.getlist("host")) != 1 or (self._token is None and not _is_here(headers)):
            return _refused(421, "This page is not known by that name.")
        if _from_elsewhere(headers):
            return _refused(403, "Pages of other origins may not read this one.")
        if self._token is None or scope["path"] in OPEN or self.is_known(headers):
            return None
        return _refused(401, "A token is needed.", _ASK) if not _wants_page(headers) else None

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Whether a request has the token, in a header or a cookie; never in its address."""
        if self._token is None:
            return True
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._token.is_it(given.strip())
        return self._token.is_cookie(_cookie(headers.get("cookie", ""), self._cookie))


_ASK = {"WWW-Authenticate": "Bearer"}


def safe_next(address: str) -> str:
    """Where to go after the token: a place of this server, or its beginning."""
    plain = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if plain and address.isprintable() and "\\" not in address else "/"


def _is_here(headers: Headers) -> bool:
    try:
        return is_loopback(urlsplit(f"//{headers.get('host', '')}").hostname or "")
    except ValueError:
        return False


def _from_elsewhere(headers: Headers) -> bool:
    origin = headers.get("origin")
    if origin is not None:
        try:
            same = urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
        except ValueError:
            return True
        return not same or not origin.startswith(("http://", "https://"))
    site, mode = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
    return site in ("cross-site", "same-site") and mode != "navigate"


def _wants_page(headers: Headers) -> bool:
    """Whether somebody looks at a page, and so can be asked for the token."""
    return "text/html" in headers.get("accept", "")


def _cookie(header: str, name: str) -> str:
    try:
        found = SimpleCookie(header[:8192]).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def _refused(code: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{sentence}\n", code, headers)
