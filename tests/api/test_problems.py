"""Every error is a problem document (RFC 9457), wherever it comes from."""

import pytest
from django.test import Client, override_settings

from refinement.api import projects

pytestmark = pytest.mark.django_db


def told(answer) -> dict:
    assert answer.headers["Content-Type"] == "application/problem+json"
    said = answer.json()
    assert said["status"] == answer.status_code
    assert said["type"] == "about:blank"
    assert said["title"]
    assert said["detail"].strip()
    assert said["code"]
    return said


def test_an_address_that_there_is_not(api_viewer):
    assert told(api_viewer.get("/nowhere"))["status"] == 404
    assert told(Client().get("/api/v2/projects"))["status"] == 404


def test_a_method_that_there_is_not(api_viewer):
    answer = api_viewer.delete("/projects")
    assert told(answer)["status"] == 405
    assert answer.headers["Allow"] == "GET"


def test_what_is_not_valid_is_told_place_by_place(api_viewer):
    said = told(api_viewer.get("/projects", {"limit": "many", "cursor": "x" * 300}))
    assert said["status"] == 422
    assert {entry["where"] for entry in said["errors"]} == {"query.limit", "query.cursor"}
    assert said["detail"].startswith("query.limit: ")


@pytest.mark.parametrize("cursor", ["!", "MTI", "eA", "w6k", "LTE", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk"])
def test_a_cursor_that_is_none_of_ours(api_viewer, cursor):
    answer = api_viewer.get("/projects", {"cursor": cursor})
    assert answer.status_code == (200 if cursor == "MTI" else 422)


def test_a_body_that_cannot_be_read(api_owner):
    headers = {"Authorization": f"Bearer {api_owner.token}"}
    for body in (b"{", b"\xff\xfe", b"nonsense"):
        answer = Client().patch(
            "/api/v1/projects/alpha", body, content_type="application/json", headers=headers
        )
        assert told(answer)["status"] == 400


def test_signs_that_no_database_keeps_are_refused(api_owner, api_viewer):
    """The same on SQLite and on PostgreSQL, which each refuse some of them in ways of their own."""
    for text in ("a\x00b", "a\ud800b"):
        answer = api_owner.patch("/projects/alpha", {"name": text}, If_Match="x")
        assert (told(answer)["status"], answer.json()["code"]) == (400, "not_text")
    assert told(api_viewer.get("/projects/alpha/runs", {"tag": "a\x00"}))["status"] == 422
    assert told(api_viewer.get("/projects/al%00pha"))["status"] == 404
    assert told(api_viewer.get("/projects/alpha/rubrics/a%00b"))["status"] == 404
    tag = api_owner.get("/projects/alpha").headers["ETag"]
    assert api_owner.patch("/projects/alpha", {"name": "😀"}, If_Match=tag).json()["name"] == "😀"


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1000)
def test_a_body_that_is_too_large(api_owner):
    assert told(api_owner.patch("/projects/alpha", {"name": "x" * 2000}))["status"] == 413


def test_what_breaks_is_told_without_its_inside(api_owner, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("the inside")

    monkeypatch.setattr(projects, "settings_tag", broken)
    said = told(api_owner.get("/projects/alpha"))
    assert said["status"] == 500
    assert "inside" not in str(said)
    assert "the inside" in caplog.text


def test_pages_keep_their_own_errors(as_viewer):
    assert as_viewer.get("/nowhere").headers["Content-Type"].startswith("text/html")


# --- If-Match -------------------------------------------------------------------------------------
def test_a_change_names_what_it_is_a_change_of(api_owner, project):
    assert told(api_owner.patch("/projects/alpha", {"name": "B"}))["status"] == 428
    tag = api_owner.get("/projects/alpha").headers["ETag"]
    done = api_owner.patch("/projects/alpha", {"name": "B"}, If_Match=tag)
    assert (done.status_code, done.json()["name"]) == (200, "B")
    late = api_owner.patch("/projects/alpha", {"name": "C"}, If_Match=tag)
    assert told(late)["status"] == 412
    assert late.headers["ETag"] == done.headers["ETag"] != tag
    project.refresh_from_db()
    assert project.name == "B"


# --- rate limits ----------------------------------------------------------------------------------
def test_a_token_has_so_many_requests_a_minute(api_viewer, api_owner, settings, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 6_000_010.0)
    settings.API_RATE = 2
    one, two, three = (api_viewer.get("/projects") for _ in range(3))
    assert [a.headers["RateLimit-Remaining"] for a in (one, two, three)] == ["1", "0", "0"]
    assert {a.headers["RateLimit-Limit"] for a in (one, two, three)} == {"2"}
    assert told(three)["code"] == "rate_limited"
    assert (three.status_code, three.headers["Retry-After"]) == (429, three.headers["RateLimit-Reset"])
    assert 0 < int(three.headers["Retry-After"]) <= 60
    assert api_owner.get("/projects").status_code == 200
    monkeypatch.setattr("time.time", lambda: 6_000_010.0 + 60)
    assert api_viewer.get("/projects").headers["RateLimit-Remaining"] == "1"
