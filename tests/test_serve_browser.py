"""The live page in a real browser, over a campaign that runs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

pytest.importorskip("starlette")
pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

from browsing import PATIENCE, browsing, page_of
from campaign_files import Campaign, ended, harness
from fuzzwise.report.campaign import words as say
from fuzzwise.report.words import count
from reading import read_state
from serving import Serving, wait_for
from stored import begun, epoch, found, turn

expect.set_options(timeout=PATIENCE)
WIDTHS = (390, 1280, 1920)


@pytest.fixture(scope="module")
def browser():
    with browsing() as made:
        yield made


# ── a real campaign ──────────────────────────────────────────────────────────────────────────


def test_a_real_campaign_is_seen_live_to_its_end(tmp_path, browser):
    """Numbers change without a reload, the connection is lost and found, the end is status's."""
    campaign = Campaign(tmp_path, {"accepted_risk": "1e-9", "name": '"live"'})
    campaign.libfuzzer("bitmap", harness("bitmap.c", "-fsanitize=address"))
    campaign.libfuzzer("base64", harness("base64.c", "-fsanitize=address"))
    process = campaign.start(600, "--quiet")
    try:
        campaign.wait_for_inputs("bitmap", "base64")
        with page_of(browser) as page:
            with Serving([campaign.folder]) as served:
                page.goto(served.address)
                expect(page.locator("#connection")).to_have_text("live")
                loaded = page.evaluate("performance.timeOrigin")
                _grows(page, "bitmap")
                wait_for(lambda: read_state(campaign.folder).bugs)
                expect(page.locator("table.bugs tbody tr")).not_to_have_count(0)
            expect(page.locator("#connection")).to_have_attribute("data-state", "lost")
            with Serving([campaign.folder], port=served.port):
                expect(page.locator("#connection")).to_have_text("live")
                _grows(page, "base64")
                process.send_signal(signal.SIGINT)
                ended(process)
                expect(page.locator("[data-piece=head] .chip")).to_have_text("finished")
                _is_like_status(page, campaign)
                assert page.evaluate("performance.timeOrigin") == loaded
                _downloads_a_bug(page, campaign)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def _row(page, name):
    return page.locator(f'tr[data-name="{name}"]')


def _grows(page, name):
    cell = f'tr[data-name="{name}"] [data-value]'
    before = page.get_attribute(cell, "data-value")
    page.wait_for_function(
        "([cell, before]) => Number(document.querySelector(cell).dataset.value) > Number(before)",
        arg=[cell, before],
        timeout=PATIENCE,
    )


def _is_like_status(page, campaign):
    words = [sys.executable, "-m", "fuzzwise", "status", str(campaign.folder), "--json"]
    told = json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)
    for target in told["targets"]:
        row = _row(page, target["name"])
        expect(row.locator("[data-value]")).to_have_attribute("data-value", str(target["inputs"]))
        expect(row.locator('[data-label="species"]')).to_have_text(count(target["species"]))
        expect(row.locator('[data-label="bugs"]')).to_have_text(str(len(target["bugs"])))
        expect(row.locator('[data-label="risk"]')).to_contain_text(
            say.chance(min(1.0, target["risk"]["value"]))
        )
    expect(page.locator("table.bugs tbody tr")).to_have_count(len(told["bugs"]))


def _downloads_a_bug(page, campaign):
    bug = read_state(campaign.folder).bugs[0]
    page.locator("table.bugs tbody a", has_text=bug.id).click()
    expect(page.locator("article pre.dump")).to_be_visible()
    with page.expect_download() as download:
        page.locator("article a[download]").click()
    saved = download.value.path()
    assert saved.read_bytes() == (campaign.folder / bug.inputs[0]).read_bytes()


# ── what people do on it ─────────────────────────────────────────────────────────────────────


@pytest.fixture
def running(tmp_path):
    """A campaign of forty targets that is being written; and its page."""
    names = [f"target-{i:02}" for i in range(38)] + ["<script>alert(1)</script>", "box & co"]
    folder = tmp_path / "forty"
    folder.mkdir()
    (folder / "one").write_bytes(bytes(range(64)))
    with begun(folder, *names) as store:
        for i, name in enumerate(names):
            bugs = [found(f"{i:016x}", inputs=("one",))] if i % 10 == 3 else []
            for step in (1, 2, 3):
                at, n = 10.0 * i + step, 100 * (i + 1) * step
                epoch(store, at, name, turn(n, *bugs, seconds=step + i / 10))
        store.set_state("target-05", "retired", "accepted-risk", "Low enough.")
        store.event(400.0, "retired", "target-05", "Low enough.")
        store.set_state("target-06", "broken", "no-inputs", "It does not start.")
        store.tick(420.0)
        with Serving([folder]) as served:
            yield store, served


def _names(page):
    return page.eval_on_selector_all(
        "#target-table tbody tr:not([hidden])", "rows => rows.map(row => row.dataset.name)"
    )


def test_targets_are_sorted_filtered_and_found_and_the_address_says_how(running, browser):
    store, served = running
    with page_of(browser) as page:
        page.goto(served.address)
        table = page.locator("#target-table")
        assert _names(page)[0] == "target-06", "broken ones come first"
        table.get_by_role("button", name="inputs").click()
        assert _names(page)[0] == "box & co"
        expect(table.locator("th[data-sort=inputs]")).to_have_attribute("aria-sort", "descending")
        table.get_by_role("button", name="inputs").click()
        assert _names(page)[0] == "target-00"
        page.get_by_label("Show").select_option("bugs")
        assert _names(page) == ["target-03", "target-13", "target-23", "target-33"]
        page.get_by_label("Search").fill("13")
        assert _names(page) == ["target-13"]
        expect(page.locator("#shown")).to_have_text("1 of 40 targets")
        deep = page.url
        page.locator("#target-table tr:not([hidden]) th a").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("target-13")
        page.go_back()
        expect(page.locator("#shown")).to_have_text("1 of 40 targets")
        page.go_back()
        assert len(_names(page)) == 40
        page.goto(deep)
        expect(page.locator("#shown")).to_have_text("1 of 40 targets")
        # What arrives later is arranged in the same way, and a reader at the keyboard stays there.
        page.locator("#target-table tr:not([hidden]) th a").focus()
        epoch(store, 430.0, "target-13", turn(99_999, found(f"{13:016x}", inputs=("one",))))
        expect(_row(page, "target-13").locator("[data-value]")).to_have_attribute(
            "data-value", "99999"
        )
        assert _names(page) == ["target-13"]
        assert page.evaluate("document.activeElement.textContent") == "target-13"


def test_what_happened_since_the_last_visit_is_told(running, browser):
    store, served = running
    with page_of(browser) as page:
        page.goto(served.address)
        expect(page.locator("#since")).to_be_hidden()
        store.event(425.0, "warning", "target-01", "It became slow.")
        page.goto(f"{served.address}/c/forty/timeline")  # from here, no visit is remembered
        long_ago = "localStorage.setItem('visit:forty', JSON.stringify({last: 424, seen: 1}))"
        page.evaluate(long_ago)
        page.goto(served.address)
        expect(page.locator("#since")).to_contain_text("It became slow.")
        expect(page.locator("#since")).not_to_contain_text("Low enough.")


def test_the_time_line_zooms_by_dragging_and_by_links(running, browser):
    _, served = running
    with page_of(browser) as page:
        page.goto(f"{served.address}/c/forty/timeline")
        box = page.locator("svg.lanes").bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] * 0.25, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.5, middle)
        page.mouse.up()
        page.wait_for_url("**/timeline?from=1*&to=2*")
        page.get_by_role("link", name="all of it").click()
        page.wait_for_url("**/timeline")
        page.go_back()
        page.wait_for_url("**/timeline?from=1*")


def test_beyond_this_machine_the_printed_link_opens_it(tmp_path, browser):
    with begun(tmp_path, "a") as store:
        epoch(store, 1.0, "a", turn(10))
        with Serving([tmp_path], "a-token-of-some-length") as served, page_of(browser) as page:
            page.goto(served.address)
            expect(page.get_by_role("heading", level=1)).to_contain_text("needs its token")
            page.goto("about:blank")
            page.goto(served.place.link)
            expect(page.get_by_role("heading", level=1)).to_have_text("trial")
            expect(page.locator("#connection")).to_have_text("live")
            assert "token" not in page.url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_hinders_those_who_see_little_or_use_a_keyboard(scheme, running, browser):
    """At any width, in both colour schemes, on every page: axe finds nothing serious."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    _, served = running
    pages = ("", "target?name=target-03", f"bug?id={3:016x}", "timeline", "target?name=none")
    settings = {"color_scheme": scheme, "bypass_csp": True}  # axe adds styles while it looks
    with page_of(browser, **settings) as page:
        for where in pages:
            page.goto(f"{served.address}/c/forty/{where}")
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, (where, width, wide)
            results = axe.run(page).response["violations"]
            serious = [
                (where, each["id"], [node["html"][:200] for node in each["nodes"][:3]])
                for each in results
                if each["impact"] in ("serious", "critical")
            ]
            assert not serious


def test_a_campaign_that_has_not_begun_fills_its_page_by_itself(tmp_path, browser):
    with Serving([tmp_path]) as served, page_of(browser) as page:
        page.goto(served.address)
        expect(page.locator("main")).to_contain_text("Nothing to show yet")
        with begun(tmp_path, "a") as store:
            epoch(store, 1.0, "a", turn(10))
            expect(_row(page, "a")).to_be_visible()


def test_several_campaigns_have_a_page_together(tmp_path, browser):
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        with begun(folder, "a") as store:
            epoch(store, 1.0, "a", turn(10))
    with Serving(folders) as served, page_of(browser) as page:
        page.goto(served.address)
        expect(page.locator("main li.card")).to_have_count(2)
        page.locator("main li.card a").nth(1).click()
        page.wait_for_url("**/c/two/")
