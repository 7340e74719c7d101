"""A shared run in a browser: created, opened without an account, and no leak of the link."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from refinement.models import ShareLink
from refinement.services.runs.shares import share_link_make
from tests.browser.test_accessibility import inspect
from tests.views.runs.finished import finished_run

__all__ = ["inspect"]


@pytest.fixture(autouse=True)
def fresh_limits():
    cache.clear()
    yield
    cache.clear()


@contextmanager
def elsewhere():
    """Another site, and what browsers that came to it told about where they came from."""
    told: list[dict[str, str]] = []

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.append({"path": self.path, "referer": self.headers.get("Referer", "")})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>Elsewhere</title>")

        def log_message(self, *args) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", told
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_link_is_made_and_a_stranger_reads_the_run(signed_in, browser, site, project):
    run = finished_run(project)
    signed_in.goto(f"/p/{project.slug}/runs/{run.pk}/")
    signed_in.locator("#run-export > summary").click()
    signed_in.get_by_role("link", name="Share link").click()
    signed_in.get_by_label("Note").fill("For the board")
    signed_in.get_by_role("button", name="Create link").click()
    address = signed_in.get_by_label("Share link", exact=True).input_value()
    assert address.startswith(f"{site}/s/")

    # Without script as well: the page is all there.
    stranger = browser.new_context(java_script_enabled=False)
    page = stranger.new_page()
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_have_text(run.title)
    page.get_by_role("navigation", name="Rounds").get_by_role("link").first.click()
    expect(page.locator(".prose")).to_contain_text("Version 0")
    page.get_by_role("navigation", name="Rounds").get_by_role("link").nth(1).click()
    page.get_by_role("link", name="Changes").click()
    expect(page.locator("del").first).to_be_visible()
    assert stranger.cookies() == []

    signed_in.goto(f"/p/{project.slug}/runs/{run.pk}/share/")
    expect(signed_in.get_by_role("row", name="For the board")).to_contain_text("1 time")
    signed_in.get_by_role("button", name="Revoke").click()
    expect(signed_in.get_by_role("status").first).to_contain_text("Link revoked")
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_have_text("Link not found")
    stranger.close()


def test_other_sites_learn_nothing(page, site, project, owner):
    with elsewhere() as (other, told):
        text = f"# Text\n\n![pixel]({other}/pixel.png)\n\n<img src={other}/raw.png>\n\n[away]({other}/page)"
        run = finished_run(project, ["5"], candidates=[text])
        token = share_link_make(run=run, by=owner, days=1)[1]
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"/s/{token}/")
        page.wait_for_load_state("networkidle")
        assert [url for url in asked if not url.startswith(site)] == []
        assert told == []

        page.get_by_role("link", name="away").click()
        expect(page).to_have_title("Elsewhere")
        assert [entry for entry in told if entry["path"] == "/page"] == [{"path": "/page", "referer": ""}]
    assert ShareLink.objects.get().opened == 1


def test_the_pages_are_accessible(inspect, as_owner, project, owner):
    run = finished_run(project)
    token = share_link_make(run=run, by=owner, days=1, show_prompts=True, show_comments=True)[1]
    for path in ("", "2/?view=diff", "2/?view=raw", "2/?view=calls"):
        assert inspect(f"/s/{token}/{path}") == [], path
    assert inspect("/s/nothing/") == []
    session = as_owner.cookies["sessionid"].value
    for path in (f"/p/{project.slug}/runs/{run.pk}/share/", f"/p/{project.slug}/settings/"):
        assert inspect(path, session) == [], path


@pytest.mark.parametrize("which", ["shared", "links", "settings"])
def test_nothing_is_wider_than_a_phone(signed_in, project, owner, which):
    run = finished_run(project, ["5", "6"] * 12, task="A very" + " long" * 40)
    token = share_link_make(run=run, by=owner, days=1, show_prompts=True, note="n" * 120)[1]
    address = {
        "shared": f"/s/{token}/2/?view=calls",
        "links": f"/p/{project.slug}/runs/{run.pk}/share/",
        "settings": f"/p/{project.slug}/settings/",
    }[which]
    signed_in.set_viewport_size({"width": 360, "height": 740})
    signed_in.goto(address)

    assert signed_in.evaluate("document.documentElement.scrollWidth") <= 360
