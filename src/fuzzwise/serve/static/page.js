"use strict";
// The page is complete without this file. With it, what changes arrives as server-sent events:
// whole elements, made by the server from the same templates as the page.

const body = document.body;
const table = document.getElementById("target-table");
const filters = document.getElementById("filters");
const connection = document.getElementById("connection");

// ── what changes ────────────────────────────────────────────────────────────────────────────

function element(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content.firstElementChild;
}

function allPieces() {
  return new Map([...document.querySelectorAll("[data-piece]")].map((e) => [e.dataset.piece, e]));
}

const FOCUSABLE = "a, button, summary, [tabindex]";

// What a reader has done to a piece: where the focus is, what is open, how far it is scrolled.
function kept(old) {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  if (old.tagName === "TR" && !focused) return null;
  return {
    place: focused ? [...old.querySelectorAll(FOCUSABLE)].indexOf(focused) : -1,
    open: [...old.querySelectorAll("details")].map((each) => each.open),
    scrolled: [...old.querySelectorAll(".scroll")].map((each) => each.scrollLeft),
  };
}

function restore(fresh, { place, open, scrolled }) {
  fresh.querySelectorAll("details").forEach((each, i) => { each.open = Boolean(open[i]); });
  if (scrolled.some(Boolean)) {
    fresh.querySelectorAll(".scroll").forEach((each, i) => { each.scrollLeft = scrolled[i]; });
  }
  if (place >= 0) fresh.querySelectorAll(FOCUSABLE)[place]?.focus({ preventScroll: true });
}

// All is asked before anything is changed: each question after a change has the page laid out anew.
function replacePieces(there, pieces) {
  const known = [...pieces].filter(([name]) => there.has(name))
    .map(([name, html]) => [there.get(name), element(html)]);
  const before = known.map(([old]) => kept(old));
  for (const [old, fresh] of known) {
    fresh.hidden = old.hidden;
    old.replaceWith(fresh);
  }
  known.forEach(([, fresh], i) => { if (before[i]) restore(fresh, before[i]); });
}

function takeNews(news) {
  const pieces = new Map(Object.entries(news.pieces || {}));
  const there = allPieces();
  if (pieces.has("head") && !there.has("head")) {
    location.reload();  // the campaign has begun: there is a whole page now
    return;
  }
  for (const [name, keys] of Object.entries(news.lists || {})) {
    const list = document.querySelector(`[data-list="${CSS.escape(name)}"]`);
    if (!list) continue;
    const wanted = new Set(keys);
    for (const child of [...list.children]) if (!wanted.has(child.dataset.piece)) child.remove();
    for (const key of keys) {
      if (!there.has(key) && pieces.has(key)) list.append(element(pieces.get(key)));
    }
  }
  replacePieces(there, pieces);
  if (pieces.has("news")) showSince();
  if (table && (news.lists || [...pieces.keys()].some((name) => name.startsWith("target-")))) {
    arrange();
  }
  remember();
}

// ── the connection ──────────────────────────────────────────────────────────────────────────

function say(state, words) {
  connection.dataset.state = state;
  if (connection.textContent !== words) connection.textContent = words;
}

function listen() {
  if (!body.dataset.live) return;
  const address = `${body.dataset.live}&mark=${encodeURIComponent(body.dataset.mark)}`;
  const source = new EventSource(address);
  say("waiting", "connecting …");
  source.onopen = () => say("live", "live");
  source.addEventListener("news", (event) => {
    performance.mark("news");
    takeNews(JSON.parse(event.data));
    body.dataset.mark = event.lastEventId;
    performance.measure("update", "news");
    body.dataset.updates = Number(body.dataset.updates || 0) + 1;
  });
  source.addEventListener("problem", (event) => say("lost", JSON.parse(event.data).sentence));
  source.addEventListener("bye", () => say("lost", "the page’s server has ended"));
  source.onerror = () => {
    if (connection.textContent !== "the page’s server has ended") {
      say("lost", "connection lost; trying again …");
    }
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  };
  addEventListener("pagehide", () => source.close());
}

// ── the table of targets: sort, filter, search; all of it is in the address ────────────────

function choice() {
  const query = new URLSearchParams(location.search);
  const sort = query.get("sort") || "worst";
  return { sort, up: query.get("up") === "1", q: query.get("q") || "", show: query.get("show") || "" };
}

function choose(changes, replace) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value); else query.delete(name);
  }
  const text = query.toString();
  const address = text ? `?${text}` : location.pathname;
  if (replace) history.replaceState(null, "", address); else history.pushState(null, "", address);
  arrange();
}

const byName = new Intl.Collator("en", { numeric: true }).compare;

function inOrder(rows, sort, up) {
  const sign = up ? 1 : -1;
  const key = `data-by-${sort}`;
  const [value, compare] = sort === "name"
    ? [(row) => row.dataset.name, (a, b) => -sign * byName(a[0], b[0])]
    : [(row) => Number(row.getAttribute(key)), (a, b) => sign * (a[0] - b[0])];
  return rows.map((row) => [value(row), row]).sort(compare).map((pair) => pair[1]);
}

function arrange() {
  const { sort, up, q, show } = choice();
  const rows = [...table.tBodies[0].rows];
  const sorted = inOrder(rows, sort, up);
  if (sorted.some((row, i) => row !== rows[i])) {
    const focused = document.activeElement;
    table.tBodies[0].append(...sorted);
    if (table.contains(focused)) focused.focus({ preventScroll: true });
  }
  const wanted = q.toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const fits = row.dataset.name.toLowerCase().includes(wanted) &&
      (!show || (show === "bugs" ? Number(row.dataset.bugs) > 0 : row.dataset.state === show));
    if (row.hidden === fits) row.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  for (const head of table.tHead.querySelectorAll("[data-sort]")) {
    const mine = head.dataset.sort === sort;
    const first = sort === "name" ? !up : up;
    if (mine) head.setAttribute("aria-sort", first ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  }
  if (document.activeElement !== filters.elements.q) filters.elements.q.value = q;
  filters.elements.show.value = show;
  const words = shown === rows.length ? "" : `${shown} of ${rows.length} targets`;
  const told = document.getElementById("shown");
  if (told.textContent !== words) told.textContent = words;
}

function prepareTable() {
  for (const head of table.tHead.querySelectorAll("[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      const now = choice();
      const again = now.sort === head.dataset.sort;
      choose({ sort: head.dataset.sort, up: again && !now.up ? "1" : "" });
    });
    head.replaceChildren(button);
  }
  filters.hidden = false;
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.elements.q.addEventListener("input", () => choose({ q: filters.elements.q.value }, true));
  filters.elements.show.addEventListener("change", () => choose({ show: filters.elements.show.value }));
  addEventListener("popstate", arrange);
  arrange();
}

// ── what happened since the last visit ──────────────────────────────────────────────────────

const VISIT = 15 * 60 * 1000;  // whoever was away for longer comes again

function clock() {
  return Number(document.querySelector("[data-seconds]")?.dataset.seconds || 0);
}

function visit() {
  try {
    return JSON.parse(localStorage.getItem(`visit:${body.dataset.campaign}`)) || {};
  } catch {
    return {};
  }
}

function remember() {
  if (!document.getElementById("since") || !clock()) return;
  const now = { ...visit(), last: clock(), seen: Date.now() };
  try {
    localStorage.setItem(`visit:${body.dataset.campaign}`, JSON.stringify(now));
  } catch {
    // a browser that keeps nothing: every visit is the first
  }
}

let lastVisit;  // when it was, in seconds of the campaign

async function showSince() {
  const place = document.getElementById("since");
  if (!place || lastVisit === undefined) return;
  const answer = await fetch(`since?at=${Number(lastVisit) || 0}`);
  const html = answer.ok ? await answer.text() : "";
  if (place.innerHTML !== html) place.innerHTML = html;
  place.hidden = !html;
}

function beginVisit() {
  if (!document.getElementById("since")) return;
  const before = visit();
  const from = Date.now() - (before.seen || 0) > VISIT ? before.last : before.from;
  lastVisit = from;
  showSince();
  try {
    localStorage.setItem(`visit:${body.dataset.campaign}`, JSON.stringify({ ...before, from }));
  } catch {
    // as above
  }
  remember();
}

// ── zoom on the time line by dragging ───────────────────────────────────────────────────────

function prepareZoom() {
  let from = null;
  const share = (svg, event) => {
    const box = svg.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  document.addEventListener("pointerdown", (event) => {
    const svg = event.target.closest?.("svg.lanes");
    from = svg ? share(svg, event) : null;
  });
  document.addEventListener("pointerup", (event) => {
    const svg = document.querySelector("svg.lanes");
    if (from === null || !svg) return;
    const [low, high] = [from, share(svg, event)].sort((a, b) => a - b);
    from = null;
    if (high - low < 0.01) return;
    const { start, end } = svg.closest("[data-start]").dataset;
    const at = (part) => (Number(start) + part * (Number(end) - Number(start))).toFixed(3);
    location.search = `?from=${at(low)}&to=${at(high)}`;
  });
}

addEventListener("pageshow", (event) => { if (event.persisted) listen(); });

if (table) prepareTable();
prepareZoom();
beginVisit();
listen();
