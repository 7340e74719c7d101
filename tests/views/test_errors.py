"""Error pages: styled, in plain words, for every kind of failure."""

import pytest
from django.template import TemplateDoesNotExist
from django.test import Client, RequestFactory

from refinement.views.system import errors


@pytest.mark.django_db
def test_404_for_anyone(anonymous, as_owner):
    for client in (anonymous, as_owner):
        answer = client.get("/no/such/page/")
        assert answer.status_code == 404
        assert "Page not found" in answer.content.decode()
        assert "Check it for a typing mistake." in answer.content.decode()
    assert "ask an owner of the project to invite you" in as_owner.get("/p/of-others/").content.decode()


def test_400_needs_no_database():
    answer = Client(raise_request_exception=False).get("/", headers={"host": "evil.example"})

    assert answer.status_code == 400
    assert "ALLOWED_HOSTS" in answer.content.decode()


def test_500_needs_no_database():
    """Without the database mark, any query would fail this test."""
    request = RequestFactory().get("/")
    request.COOKIES["wiggum_theme"] = "dark"

    answer = errors.server_error(request)

    assert answer.status_code == 500
    assert "Something went wrong" in answer.content.decode()
    assert 'data-theme="dark"' in answer.content.decode()


def test_500_comes_even_without_its_template(monkeypatch):
    def missing(*args, **kwargs):
        raise TemplateDoesNotExist("500.html")

    monkeypatch.setattr(errors, "render_to_string", missing)

    answer = errors.server_error(RequestFactory().get("/"))

    assert answer.status_code == 500
    assert "Something went wrong" in answer.content.decode()


@pytest.mark.django_db
def test_a_view_that_breaks_shows_the_500_page(owner, monkeypatch, project):
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    monkeypatch.setattr("refinement.views.projects.home.home_of", lambda membership: 1 / 0)

    answer = client.get(f"/p/{project.slug}/")

    assert answer.status_code == 500
    assert "The error was logged" in answer.content.decode()
    assert "ZeroDivisionError" not in answer.content.decode()


@pytest.mark.django_db
def test_403_gives_the_reason(as_viewer):
    answer = as_viewer.get("/projects/new/")

    assert answer.status_code == 403
    assert "Not allowed" in answer.content.decode()
