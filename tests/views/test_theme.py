"""The theme: light, dark or system."""

import pytest

pytestmark = pytest.mark.django_db


def test_the_choice_is_kept_and_in_the_first_paint(anonymous):
    answer = anonymous.post("/theme/", {"theme": "dark", "next": "/account/login/"})

    assert answer.headers["Location"] == "/account/login/"
    assert '<html lang="en" data-theme="dark">' in anonymous.get("/account/login/").content.decode()


def test_the_system_decides_again(anonymous):
    anonymous.post("/theme/", {"theme": "dark"})
    anonymous.post("/theme/", {"theme": "system"})

    assert '<html lang="en">' in anonymous.get("/account/login/").content.decode()


def test_a_script_gets_no_page(as_owner):
    answer = as_owner.post("/theme/", {"theme": "light"}, headers={"HX-Request": "true"})

    assert answer.status_code == 204
    assert answer.cookies["wiggum_theme"].value == "light"


def test_an_unknown_theme_is_refused(anonymous):
    assert anonymous.post("/theme/", {"theme": "neon"}).status_code == 400


def test_a_forged_cookie_reaches_no_page(anonymous):
    anonymous.cookies["wiggum_theme"] = '"><script>'

    assert '<html lang="en">' in anonymous.get("/account/login/").content.decode()


@pytest.mark.parametrize(
    "where", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "", "\\\\evil"]
)
def test_one_is_never_sent_to_another_site(anonymous, where):
    assert anonymous.post("/theme/", {"theme": "dark", "next": where}).headers["Location"] == "/"


def test_it_is_only_posted(anonymous):
    assert anonymous.get("/theme/").status_code == 405
