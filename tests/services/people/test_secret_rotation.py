"""Replacing SECRET_KEY: stored secrets, sessions and links survive, also if it is interrupted."""

import io
import re
import stat
from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import CommandError, call_command
from django.db.models.signals import post_save
from django.test import Client

from refinement.cli.doctor.secrets import stored_secrets
from refinement.management.commands.up import Command as Up
from refinement.models import Webhook
from refinement.services.secret_rotation import secrets_report
from refinement.vault import sealed, unsealed
from wiggum_site import environment as env

pytestmark = pytest.mark.django_db
NEW_KEY = "a new secret key that is long enough"
HOOKS = 3


@pytest.fixture
def kept(settings, tmp_path) -> Path:
    """The instance's own key, in a data directory of its own."""
    settings.DATA_DIR = tmp_path
    (tmp_path / "secret_key").write_text(settings.SECRET_KEY)
    return tmp_path


@pytest.fixture
def stored(project, owner) -> None:
    for number in range(HOOKS):
        secret = sealed("webhook", f"secret {number}")
        Webhook.objects.create(project=project, address="https://example.org/", sealed_secret=secret)
    for type_, name in (("totp", "secret"), ("recovery_codes", "seed")):
        Authenticator.objects.create(user=owner, type=type_, data={name: sealed("two-factor", name)})
    Authenticator.objects.create(user=owner, type="webauthn", data={"name": "Key", "credential": {}})


def read() -> list[str]:
    """Every stored secret, decrypted."""
    hooks = [unsealed("webhook", hook.sealed_secret) for hook in Webhook.objects.order_by("pk")]
    totp = Authenticator.objects.get(type="totp").data["secret"]
    codes = Authenticator.objects.get(type="recovery_codes").data["seed"]
    return [*hooks, unsealed("two-factor", totp), unsealed("two-factor", codes)]


EVERYTHING = [*(f"secret {number}" for number in range(HOOKS)), "secret", "seed"]


def rotate(*arguments: str) -> str:
    said = io.StringIO()
    call_command("rotate_secret", *arguments, stdout=said, stderr=said)
    return said.getvalue()


def restart(settings) -> None:
    settings.SECRET_KEY = env.secret_key(settings.DATA_DIR)
    settings.SECRET_KEY_FALLBACKS = env.secret_key_fallbacks(settings.DATA_DIR)


def change_key(settings, *, fallbacks: bool) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY] if fallbacks else []
    settings.SECRET_KEY = NEW_KEY


def test_a_kept_key_is_replaced_and_nothing_is_lost(kept, stored, settings):
    old = settings.SECRET_KEY
    said = rotate()
    assert "Created a new secret key." in said
    assert "Stored secrets: 5. Re-encrypted: 5." in said
    assert "Restart" in said
    restart(settings)
    assert old != settings.SECRET_KEY
    assert [old] == settings.SECRET_KEY_FALLBACKS
    for name in ("secret_key", "secret_key_fallbacks"):
        assert stat.S_IMODE((kept / name).stat().st_mode) == 0o600
    assert (read(), secrets_report().current) == (EVERYTHING, 5)

    assert "no longer works" in rotate("--finish")
    restart(settings)
    assert settings.SECRET_KEY_FALLBACKS == []
    assert read() == EVERYTHING


def test_running_it_again_makes_no_further_key(kept, stored, settings):
    rotate()
    restart(settings)
    key = settings.SECRET_KEY

    said = rotate()

    assert "Created a new" not in said
    assert "Re-encrypted: 0." in said
    assert env.secret_key(kept) == key


@pytest.mark.parametrize("saves", range(1, 6))
def test_it_can_be_interrupted_at_every_row(kept, stored, settings, saves):
    done = []

    def interrupt(sender, **_):
        done.append(sender)
        if len(done) == saves:
            raise KeyboardInterrupt

    post_save.connect(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            rotate()
    finally:
        post_save.disconnect(interrupt)
    restart(settings)
    assert (read(), secrets_report().outdated) == (EVERYTHING, 5 - (saves - 1))

    assert f"Re-encrypted: {5 - (saves - 1)}." in rotate()
    rotate("--finish")
    restart(settings)
    assert read() == EVERYTHING


@pytest.mark.parametrize("files", [0, 1])
def test_it_can_be_interrupted_at_every_file(kept, stored, settings, monkeypatch, files):
    replaced = []

    def replace(self, target):
        if len(replaced) == files:
            raise KeyboardInterrupt
        replaced.append(target)
        return original(self, target)

    original = Path.replace
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            rotate()
    restart(settings)
    assert read() == EVERYTHING

    assert "Created a new secret key." in rotate()
    restart(settings)
    assert read() == EVERYTHING


def test_a_key_from_the_environment_is_left_to_its_owner(kept, stored, settings, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", settings.SECRET_KEY)
    said = rotate()
    assert "move the current key to WIGGUM_SECRET_KEY_FALLBACKS" in said
    with pytest.raises(CommandError, match="WIGGUM_SECRET_KEY_FALLBACKS"):
        rotate("--finish")

    monkeypatch.setenv("WIGGUM_SECRET_KEY_FALLBACKS", settings.SECRET_KEY)
    monkeypatch.setenv("SECRET_KEY", NEW_KEY)
    restart(settings)
    assert (read(), secrets_report().outdated) == (EVERYTHING, 5)
    assert "Re-encrypted: 5." in rotate()
    monkeypatch.delenv("WIGGUM_SECRET_KEY_FALLBACKS")
    restart(settings)
    assert read() == EVERYTHING


def test_what_cannot_be_decrypted_is_named(kept, stored, settings, owner, project):
    assert stored_secrets().status == "ok"
    change_key(settings, fallbacks=True)
    finding = stored_secrets()
    assert (finding.status, finding.what) == ("warn", "5 of 5 are encrypted with an old key")
    change_key(settings, fallbacks=False)
    (kept / "secret_key").write_text(NEW_KEY)
    finding = stored_secrets()
    assert finding.status == "fail"
    assert "5 of 5 cannot be decrypted: webhook" in finding.what
    assert "WIGGUM_SECRET_KEY_FALLBACKS" in finding.remedy

    said = rotate()

    assert f"Cannot decrypt: authenticator app of {owner.email}." in said
    assert f"of project {project.slug}." in said


def test_a_start_with_another_key_is_not_silent(stored, settings):
    change_key(settings, fallbacks=False)
    said = io.StringIO()
    Up(stderr=said).warn_of_unreadable_secrets()
    assert "5 stored secrets cannot be decrypted" in said.getvalue()
    assert "WIGGUM_SECRET_KEY_FALLBACKS" in said.getvalue()


def test_people_stay_signed_in(owner, settings):
    laptop, phone = Client(), Client()
    for client in (laptop, phone):
        client.force_login(owner)
        client.get("/account/")
    change_key(settings, fallbacks=True)

    assert laptop.get("/account/").status_code == 200
    assert len(laptop.get("/account/").context["sessions"]) == 2
    assert phone.get("/account/").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert phone.get("/account/").status_code == 200


def test_links_for_a_new_password_stay_valid(owner, settings):
    said = io.StringIO()
    call_command("password_link", owner.email, stdout=said)
    link = re.search(r"(/account/password/\S+)", said.getvalue())[1]
    change_key(settings, fallbacks=True)
    page = Client().get(link, follow=True).content.decode()
    assert 'name="password1"' in page
