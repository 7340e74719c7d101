"""A person's sessions, and signing out on other devices."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from refinement.models import SessionInfo
from refinement.selectors.people.members import browser_label
from refinement.services.people.sessions import CLEAN_AT_ONCE
from refinement.services.upkeep import Upkeep

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604.1"


def sign_in(owner, password, agent=FIREFOX, address="192.0.2.1") -> Client:
    client = Client(headers={"User-Agent": agent}, REMOTE_ADDR=address)
    answer = client.post("/account/login/", {"login": owner.email, "password": password})
    assert answer.status_code == 302
    return client


@pytest.fixture
def laptop(owner, password) -> Client:
    return sign_in(owner, password)


@pytest.fixture
def phone(owner, password, laptop) -> Client:
    return sign_in(owner, password, PHONE, "192.0.2.2")


def listed(client) -> list[tuple[str, str, bool]]:
    sessions = client.get("/account/").context["sessions"]
    return [(entry.browser, entry.info.address, entry.is_this) for entry in sessions]


def is_in(client) -> bool:
    return client.get("/account/").status_code == 200


def test_every_browser_is_listed_and_this_one_marked(laptop, phone):
    assert listed(laptop) == [
        ("Firefox on Linux", "192.0.2.1", True), ("Safari on iPhone", "192.0.2.2", False),
    ]  # fmt: skip
    assert listed(phone)[0] == ("Safari on iPhone", "192.0.2.2", True)


def test_one_is_signed_out_from_another(laptop, phone, owner):
    info = SessionInfo.objects.get(address="192.0.2.2")

    answer = laptop.post(f"/account/sessions/{info.pk}/end/", follow=True)

    assert "Session signed out." in answer.content.decode()
    assert not is_in(phone)
    assert is_in(laptop)
    again = laptop.post(f"/account/sessions/{info.pk}/end/", follow=True)
    assert "was already signed out" in again.content.decode()


def test_all_others_are_signed_out(laptop, phone):
    laptop.post("/account/sessions/end-others/")

    assert (is_in(laptop), is_in(phone)) == (True, False)
    assert len(listed(laptop)) == 1


def test_somebody_elses_session_stays(laptop, as_editor, anonymous):
    info = SessionInfo.objects.get(address="192.0.2.1")

    as_editor.post(f"/account/sessions/{info.pk}/end/")
    as_editor.post("/account/sessions/end-others/")
    anonymous.post(f"/account/sessions/{info.pk}/end/")

    assert is_in(laptop)
    assert as_editor.get(f"/account/sessions/{info.pk}/end/").status_code == 405


def test_a_browser_that_signed_out_is_no_longer_listed(laptop, phone):
    phone.post("/account/logout/")

    assert len(listed(laptop)) == 1


def test_a_changed_password_leaves_one_entry_for_this_browser(laptop, phone, password):
    new = "eleven loud mountains"
    laptop.post(
        "/account/password/", {"oldpassword": password, "password1": new, "password2": new}, follow=True
    )

    assert listed(laptop) == [("Firefox on Linux", "192.0.2.1", True)]
    assert not is_in(phone)


def test_use_is_noted_every_few_minutes_and_not_on_every_page(laptop):
    old = timezone.now() - timedelta(hours=1)
    SessionInfo.objects.update(last_used_at=old)
    laptop.get("/account/")
    assert SessionInfo.objects.get().last_used_at == old

    session = laptop.session
    session["noted"] = session["noted"] | {"at": 0}
    session.save()
    laptop.get("/account/", REMOTE_ADDR="192.0.2.9")

    info = SessionInfo.objects.get()
    assert info.last_used_at > old
    assert info.address == "192.0.2.9"


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (PHONE, "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140 Safari/537 Edg/140", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537 Chrome/140 Mobile Safari/537", "Chrome on Android"),
        ("curl/8.5.0", "curl"),
        ("", "Unknown browser"),
        ("<script>", "Unknown browser"),
    ],
)  # fmt: skip
def test_browsers_are_named(agent, words):
    assert browser_label(agent) == words


def expired(count):
    past = timezone.now() - timedelta(days=1)
    rows = [Session(session_key=f"expired{number}", expire_date=past) for number in range(count)]
    Session.objects.bulk_create(rows)
    return [row.session_key for row in rows]


def test_upkeep_clears_expired_sessions_and_their_entries(laptop, owner):
    keys = expired(5)
    SessionInfo.objects.bulk_create(SessionInfo(user=owner, session_key=key) for key in keys)

    Upkeep().delete_old()

    kept = Session.objects.get()
    assert kept.expire_date > timezone.now()
    assert SessionInfo.objects.get().session_key == kept.session_key
    assert laptop.get("/account/").status_code == 200


def test_upkeep_clears_entries_of_sessions_that_were_ended(laptop, owner):
    long_ago = timezone.now() - timedelta(days=2)
    SessionInfo.objects.create(user=owner, session_key="ended", last_used_at=long_ago)
    SessionInfo.objects.create(user=owner, session_key="being made")

    Upkeep().delete_old()

    left = set(SessionInfo.objects.values_list("session_key", flat=True))
    assert left == {laptop.session.session_key, "being made"}


def test_a_sweep_clears_a_bounded_number_and_the_next_goes_on_at_once(db):
    expired(2 * CLEAN_AT_ONCE + 10)
    upkeep = Upkeep()

    left = []
    for _ in range(4):
        upkeep.delete_old()
        left.append(Session.objects.count())

    assert left == [CLEAN_AT_ONCE + 10, 10, 0, 0]
    expired(1)
    upkeep.delete_old()
    assert Session.objects.count() == 1  # nothing was left: the next look is in an hour
