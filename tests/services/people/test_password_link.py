"""The command that prints a reset link."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db


def printed_link(email: str, **options: str) -> str:
    out = StringIO()
    call_command("password_link", email, stdout=out, **options)
    return out.getvalue().strip()


def test_the_link_lets_its_owner_choose_a_password_once(owner, anonymous):
    link = printed_link(owner.email.upper(), address="http://testserver/")
    form = anonymous.get(link.removeprefix("http://testserver"), follow=True)
    where = form.redirect_chain[-1][0]

    answer = anonymous.post(where, {"password1": "four calm harbours", "password2": "four calm harbours"})

    assert answer.status_code == 302
    owner.refresh_from_db()
    assert owner.check_password("four calm harbours")
    again = anonymous.get(link.removeprefix("http://testserver"), follow=True)
    assert "Link expired" in again.content.decode()


def test_an_unknown_address_is_said_to_be_unknown():
    with pytest.raises(CommandError, match=r"There is no account with the email address nobody@example\.org"):
        printed_link("nobody@example.org")


def test_a_closed_account_gets_no_link(owner):
    owner.is_active = False
    owner.save(update_fields=["is_active"])

    with pytest.raises(CommandError, match="is deactivated"):
        printed_link(owner.email)
