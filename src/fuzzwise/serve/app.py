"""The addresses of the page: which there are, and what each answers."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp

from fuzzwise.errors import FuzzwiseError
from fuzzwise.report.campaign.page import TEMPLATES
from fuzzwise.serve import downloads
from fuzzwise.serve.campaigns import Campaign, Moment
from fuzzwise.serve.guard import LOGIN, Guard, Token, safe_next
from fuzzwise.serve.live import MOST_READERS, Draw, Live
from fuzzwise.serve.metrics import metrics_text
from fuzzwise.serve.pages import FILES, NotThere, Pages
from fuzzwise.serve.pieces import Page
from fuzzwise.text import printable

STATIC = {
    "page.css": (TEMPLATES / "campaign.css", FILES / "static" / "page.css"),
    "page.js": (FILES / "static" / "page.js",),
    "login.js": (FILES / "static" / "login.js",),
    "icon.svg": (FILES / "static" / "icon.svg",),
}
KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
MOST_FORM = 4096
UNEXPECTED = "A mistake of fuzzwise; whoever has started the page sees more of it."

Answer = Callable[["Site", Request], Awaitable[Response]]


class Site:
    """The campaigns, and the answers about them."""

    def __init__(self, campaigns: dict[str, Campaign], cookie: str) -> None:
        self.campaigns = campaigns
        self.cookie = cookie
        self.live = Live(list(campaigns.values()))
        self.pages = Pages()
        self.guard: Guard | None = None
        self.token: Token | None = None
        self.unexpected: Callable[[Exception], None] = lambda error: None  # noqa: ARG005

    def application(self, token: Token | None) -> ASGIApp:
        """All of it, behind its guard."""
        self.token = token
        routes = [
            Route("/", self._answer(_index)),
            Route("/events", self._answer(_events)),
            Route("/metrics", self._answer(_metrics)),
            Route(LOGIN, self._answer(_login, is_open=True), methods=["POST"]),
            Route("/static/{name}", _static),
            Route("/c/{key}/", self._answer(_overview)),
            Route("/c/{key}/target", self._answer(_target)),
            Route("/c/{key}/bug", self._answer(_bug)),
            Route("/c/{key}/timeline", self._answer(_timeline)),
            Route("/c/{key}/since", self._answer(_since)),
            Route("/c/{key}/input", self._answer(_input)),
            Route("/c/{key}/events", self._answer(_events)),
        ]
        made = Starlette(
            routes=routes,
            lifespan=self._lifespan,
            exception_handlers={404: self._no_such_page},
        )
        self.guard = Guard(made, token, self.cookie)
        return self.guard

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:  # noqa: ARG002
        task = asyncio.create_task(self.live.read_stores())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    def _answer(
        self, answer: Answer, *, is_open: bool = False
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answered(request: Request) -> Response:
            if not is_open and self.guard and not self.guard.is_known(request.headers):
                return self._ask(request, wrong=False)
            try:
                return await answer(self, request)
            except NotThere as error:
                return self.message(printable(str(error)), 404, request)
            except FuzzwiseError as error:
                return self.message(printable(str(error)), 503, request)
            except Exception as error:
                self.unexpected(error)
                return self.message(UNEXPECTED, 500, request)

        return answered

    def _ask(self, request: Request, *, wrong: bool, to: str = "") -> Response:
        address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        shown = self.pages.login(safe_next(to or address), wrong)
        return HTMLResponse(shown, 401, {"WWW-Authenticate": "Bearer"})

    async def _no_such_page(self, request: Request, error: Exception) -> Response:  # noqa: ARG002
        return self.message("There is no such page.", 404, request)

    def message(self, sentence: str, code: int, request: Request) -> Response:
        """A page with a sentence on it."""
        key = request.path_params.get("key", "")
        back = f"/c/{key}/" if key in self.campaigns else "/"
        return HTMLResponse(self.pages.message(sentence, back), code)

    def campaign(self, request: Request) -> Campaign:
        """The campaign of an address."""
        found = self.campaigns.get(request.path_params.get("key", ""))
        if found is None:
            raise NotThere("There is no such campaign here.")
        return found


async def _page(site: Site, request: Request, template: str, **more: str) -> Response:
    """A whole page, and the address of its events."""
    campaign = site.campaigns.get(request.path_params.get("key", ""))
    if campaign:
        await _look(site, campaign)
    view = site.live.view(_view_key(request, template), _draw_of(site, request, template))
    page, mark = await view.first()
    name = campaign.moment.state.name if campaign and campaign.moment.state else ""
    values = {"key": campaign.key if campaign else "", "campaign_name": name or "campaign"}
    values |= {"mark": mark, "here": "-", "title": name or (campaign.key if campaign else "")}
    query = f"&{request.url.query}" if request.url.query else ""
    base = f"/c/{campaign.key}/" if campaign else "/"
    values |= {"live": f"{base}events?page={template}{query}"}
    return HTMLResponse(site.pages.whole(f"{template}.html", page, **values | more))


async def _look(site: Site, campaign: Campaign) -> Moment:
    """A campaign as it is; while others look on, it is read for them, once anything is known."""
    if not (site.live.readers and campaign.moment.state):
        await run_in_threadpool(campaign.look)
    return campaign.moment


def _view_key(request: Request, template: str) -> object:
    key = request.path_params.get("key", "")
    query = request.query_params
    args = tuple(query.get(name, "") for name in ("name", "id", "from", "to"))
    return (template, key, args if template not in ("overview", "index") else ())


def _draw_of(site: Site, request: Request, template: str) -> Draw:
    """What draws the page of an address; NotThere where there is no such page."""
    query, pages = request.query_params, site.pages
    if template == "index":
        return lambda draw: pages.index([(c.key, c.moment) for c in site.campaigns.values()])  # noqa: ARG005
    campaign = site.campaign(request)
    match template:
        case "overview":
            return lambda draw: _overview_page(pages, campaign)  # noqa: ARG005
        case "target":
            name = query.get("name", "")
            return lambda draw: pages.target(campaign, campaign.moment, name, draw=draw)
        case "bug":
            identity = query.get("id", "")
            return lambda draw: pages.bug(campaign.moment, identity)  # noqa: ARG005
        case "timeline":
            part = _part(query.get("from"), query.get("to"))
            return lambda draw: pages.timeline(campaign, campaign.moment, part, draw=draw)
    raise NotThere("There is no such page.")


def _overview_page(pages: Pages, campaign: Campaign) -> Page:
    with campaign.pace.charged():  # it is drawn anew after each reading
        return pages.overview(campaign, campaign.moment)


def _part(start: str | None, end: str | None) -> tuple[float, float] | None:
    """A part of the time; None for all of it. What is no part of a time is all of it."""
    try:
        low, high = float(start or ""), float(end or "")
    except ValueError:
        return None
    return (low, high) if math.isfinite(low + high) and 0 <= low < high <= 1e10 else None


async def _index(site: Site, request: Request) -> Response:
    if len(site.campaigns) == 1:
        return RedirectResponse(f"/c/{next(iter(site.campaigns))}/", 302)
    for campaign in site.campaigns.values():
        await run_in_threadpool(campaign.look)
    return await _page(site, request, "index", title="Campaigns")


async def _overview(site: Site, request: Request) -> Response:
    site.campaign(request)
    return await _page(site, request, "overview", here="")


async def _target(site: Site, request: Request) -> Response:
    return await _page(site, request, "target", title=request.query_params.get("name", ""))


async def _bug(site: Site, request: Request) -> Response:
    return await _page(site, request, "bug", title=f"Bug {request.query_params.get('id', '')}")


async def _timeline(site: Site, request: Request) -> Response:
    return await _page(site, request, "timeline", here="timeline", title="Time line")


async def _events(site: Site, request: Request) -> Response:
    if site.live.readers >= MOST_READERS:
        return PlainTextResponse("Too many readers; close some pages.\n", 503)
    template = request.query_params.get("page", "")
    if ("key" in request.path_params) == (template == "index"):
        raise NotThere("There is no such page.")
    view = site.live.view(_view_key(request, template), _draw_of(site, request, template))
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    if "key" in request.path_params:
        await _look(site, site.campaign(request))
    mark = request.headers.get("last-event-id") or request.query_params.get("mark", "")
    stream = site.live.events(view, mark[:64])
    return StreamingResponse(stream, media_type="text/event-stream")


async def _since(site: Site, request: Request) -> Response:
    moment = await _look(site, site.campaign(request))
    part = _part("0", request.query_params.get("at"))
    return HTMLResponse(site.pages.since(moment, part[1] if part else 0.0))


async def _input(site: Site, request: Request) -> Response:
    campaign = site.campaign(request)
    moment = await run_in_threadpool(campaign.look)
    identity, number = request.query_params.get("bug", ""), request.query_params.get("number", "")
    state = moment.state
    bug = next((b for b in state.bugs if b.id == identity), None) if state else None
    place = int(number) if number.isascii() and number.isdecimal() and len(number) < 6 else -1
    found = downloads.open_input(state, bug, place) if state and bug else None
    if bug is None or found is None:
        raise NotThere("There is no such input in the campaign's folder.")
    file, size = found
    headers = {
        "Content-Disposition": f'attachment; filename="{downloads.file_name(bug, place)}"',
        "Content-Length": str(size),
    }
    kind = "application/octet-stream"
    return StreamingResponse(downloads.parts(file, size), headers=headers, media_type=kind)


async def _metrics(site: Site, request: Request) -> Response:
    accept = request.headers.get("accept", "")
    text, kind = await run_in_threadpool(metrics_text, list(site.campaigns.values()), accept)
    return Response(text, media_type=kind)


async def _login(site: Site, request: Request) -> Response:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_FORM:
            return PlainTextResponse("That is too long to be a token.\n", 413)
    form = parse_qs(body.decode(errors="replace"), max_num_fields=4)
    given, to = form.get("token", [""])[0].strip(), safe_next(form.get("next", ["/"])[0])
    if site.token is not None and not site.token.is_it(given):
        return site._ask(request, wrong=True, to=to)
    answer = RedirectResponse(to, 303)
    if site.token is not None:
        answer.set_cookie(site.cookie, site.token.cookie, httponly=True, samesite="lax", path="/")
    return answer


async def _static(request: Request) -> Response:
    files = STATIC.get(request.path_params["name"])
    if files is None:
        return PlainTextResponse("There is no such file.\n", 404)
    kind = KINDS[Path(request.path_params["name"]).suffix]
    text = await run_in_threadpool(lambda: "\n".join(file.read_text() for file in files))
    return Response(text, media_type=kind)
