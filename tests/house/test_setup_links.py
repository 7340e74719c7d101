"""The one-time link for the first account."""

import hashlib

import pytest
from django.core.management import CommandError, call_command

from refinement.models import SetupLink
from refinement.services.people.setup_links import setup_link_make


def test_only_the_digest_of_the_newest_is_kept(db):
    first, second = setup_link_make(), setup_link_make()
    assert first
    assert second
    assert first != second
    assert [link.digest for link in SetupLink.objects.all()] == [hashlib.sha256(second.encode()).hexdigest()]


def test_there_is_none_once_somebody_has_an_account(owner):
    SetupLink.objects.create(digest="left over")
    assert setup_link_make() is None
    assert not SetupLink.objects.exists()


def test_the_command_prints_a_link(db, capsys):
    call_command("setup_link", address="https://wiggum.example.org/")
    printed = capsys.readouterr().out.strip()
    token = printed.removeprefix("https://wiggum.example.org/welcome/").removesuffix("/")
    assert SetupLink.objects.get().digest == hashlib.sha256(token.encode()).hexdigest()


def test_the_command_says_when_it_is_too_late(owner):
    with pytest.raises(CommandError, match="An account already exists"):
        call_command("setup_link")
