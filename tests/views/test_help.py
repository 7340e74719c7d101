"""Help: the documentation inside the app."""

import re

import pytest

from refinement.rendering import document
from refinement.selectors.help import FOLDER, TOPICS, contents

pytestmark = pytest.mark.django_db
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "README")


def test_every_document_is_in_the_index(as_viewer):
    text = as_viewer.get("/help/").content.decode()

    assert sorted(link.name for part in contents() for link in part.links) == PAGES
    assert all(f'href="/help/{name}/"' in text for name in PAGES)


def test_a_page_is_rendered_with_links_between_documents(as_viewer):
    text = as_viewer.get("/help/webhooks/").content.decode()

    assert '<h1 id="webhooks">Webhooks</h1>' in text
    assert 'href="/help/api/"' in text
    assert "<table>" in text


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_page_and_a_heading(as_viewer, name):
    text = as_viewer.get(f"/help/{name}/").content.decode()
    article = text[text.index("<article") : text.index("</article>")]
    assert "mermaid" not in article  # would be shown as source

    for target, anchor in re.findall(r'href="(?:/help/([\w-]+)/)?(?:#([\w-]+))?"', article):
        page = as_viewer.get(f"/help/{target or name}/").content.decode()
        assert not anchor or f'id="{anchor}"' in page, (target, anchor)


def test_an_htmx_request_gets_the_document_alone(as_viewer):
    text = as_viewer.get("/help/keyboard/", headers={"HX-Request": "true"}).content.decode()

    assert text.startswith('<h1 id="keyboard-shortcuts">')
    assert "<html" not in text


@pytest.mark.parametrize("name", ["README", "nothing", "settings-py"])
def test_nothing_else_is_served(as_viewer, name):
    assert as_viewer.get(f"/help/{name}/").status_code == 404


def test_it_needs_an_account(client):
    assert client.get("/help/").status_code == 302


@pytest.mark.parametrize(
    ("address", "page"),
    [("/p/alpha/runs/", "start"), ("/p/alpha/rubrics/", "rubrics"), ("/p/alpha/members/", "people")],
)
def test_each_page_leads_to_its_help(as_viewer, project, address, page):
    assert f'class="icon-link help-link" href="/help/{page}/"' in as_viewer.get(address).content.decode()


def test_topics_are_pages():
    assert {page for _, page in TOPICS} <= set(PAGES)


def test_a_document_has_only_the_links_that_it_may():
    text = "# A & B: `x`\n[a](b.md#c) [d](javascript:x) [e](../secret.txt) [f](https://example.org)"
    shown = document(text, lambda target: f"/help/{target}" if target == "b.md#c" else None)

    assert '<h1 id="a--b-x">' in shown
    assert 'href="/help/b.md#c"' in shown
    assert "javascript" not in shown
    assert "secret.txt" not in shown
    assert 'href="https://example.org"' in shown


def test_the_image_has_the_documentation():
    root = FOLDER.parent
    assert "COPY docs docs\n" in (root / "Dockerfile").read_text()
    assert "!docs\n" in (root / ".dockerignore").read_text()
