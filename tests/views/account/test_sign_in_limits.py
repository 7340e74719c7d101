"""Wrong passwords: who is limited, and who is not."""

import re

import pytest
from django.core.cache import cache
from django.test import Client

from refinement.models import AuditEntry

pytestmark = pytest.mark.django_db
ATTACKER, OTHER_ATTACKER, PERSON = "203.0.113.66", "203.0.113.67", "198.51.100.7"
BLOCKED = "Too many failed attempts"


@pytest.fixture(autouse=True)
def fresh_limits():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def one_proxy(settings):
    settings.TRUSTED_PROXIES = 1


def sign_in(email, password, *, address=PERSON, forwarded=None):
    """The page after one attempt; `forwarded` is the header that a proxy at `address` sends."""
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    client = Client(REMOTE_ADDR=address, headers=headers)
    answer = client.post("/account/login/", {"login": email, "password": password})
    assert answer.status_code in (200, 302, 429)
    return "signed in" if answer.status_code == 302 else answer.content.decode()


def guess(email, count, **where):
    return [sign_in(email, "wrong", **where) for _ in range(count)]


def test_behind_a_proxy_an_attacker_blocks_nobody_else(owner, password, one_proxy):
    proxy = "10.0.0.1"
    for number in range(12):
        last = sign_in(f"guess{number}@example.org", "wrong", address=proxy, forwarded=ATTACKER)
    assert BLOCKED in last

    assert sign_in(owner.email, password, address=proxy, forwarded=PERSON) == "signed in"


def test_entries_before_the_proxys_own_are_not_believed(owner, password, one_proxy):
    pages = [
        sign_in(owner.email, "wrong", address="10.0.0.1", forwarded=f"192.0.2.{number}, {ATTACKER}")
        for number in range(6)
    ]

    assert [BLOCKED in page for page in pages] == [False] * 5 + [True]


def test_without_a_proxy_the_header_is_not_believed(owner):
    pages = [
        sign_in(owner.email, "wrong", address=ATTACKER, forwarded=f"192.0.2.{number}") for number in range(6)
    ]

    assert [BLOCKED in page for page in pages] == [False] * 5 + [True]


def test_an_attacker_blocks_an_account_at_their_own_address_only(owner, password):
    assert BLOCKED in guess(owner.email, 12, address=ATTACKER)[-1]

    assert sign_in(owner.email, password) == "signed in"


def test_an_address_where_the_person_signed_in_before_stays_open(owner, password):
    assert sign_in(owner.email, password) == "signed in"
    guess(owner.email, 6, address=ATTACKER)
    guess(owner.email, 6, address=OTHER_ATTACKER)

    assert sign_in(owner.email, password) == "signed in"
    assert BLOCKED in sign_in(owner.email, password, address="192.0.2.9")


def test_another_ipv6_address_of_the_same_network_is_the_same_place(owner, password):
    assert sign_in(owner.email, password, address="2001:db8:1:2::7") == "signed in"
    pages = [sign_in(owner.email, "wrong", address=f"2001:db8:9:9::{number}") for number in range(1, 7)]
    assert [BLOCKED in page for page in pages] == [False] * 5 + [True]
    guess(owner.email, 6, address=OTHER_ATTACKER)

    assert sign_in(owner.email, password, address="2001:db8:1:2:aaaa::8") == "signed in"


def test_many_addresses_together_guess_no_faster(owner):
    pages = [sign_in(owner.email, "wrong", address=f"192.0.2.{number}") for number in range(30)]

    assert sum(BLOCKED not in page for page in pages) == 10


def test_a_known_address_is_limited_too(owner, password):
    assert sign_in(owner.email, password) == "signed in"

    assert [BLOCKED in page for page in guess(owner.email, 6)] == [False] * 5 + [True]


def test_signing_in_clears_the_persons_own_mistakes(owner, password):
    for _ in range(3):
        guess(owner.email, 4)
        assert sign_in(owner.email, password) == "signed in"


def test_a_new_password_works_at_once(owner, settings, mailoutbox):
    settings.MAIL_CONFIGURED = True
    new = {"password1": "seven tin whistles", "password2": "seven tin whistles"}
    guess(owner.email, 6)
    client = Client(REMOTE_ADDR=PERSON)
    client.post("/account/password/reset/", {"email": owner.email})
    link = re.search(r"http://testserver(/\S+)", mailoutbox[0].body)[1]
    client.post(client.get(link, follow=True).redirect_chain[-1][0], new)

    assert sign_in(owner.email, "seven tin whistles") == "signed in"


def test_many_names_do_not_push_the_counts_out(owner):
    guess(owner.email, 5, address=ATTACKER)
    for number in range(400):
        cache.set(f"count:{number}", 1, 300)

    assert BLOCKED in sign_in(owner.email, "wrong", address=ATTACKER)


@pytest.mark.parametrize(
    ("proxies", "forwarded", "kept"),
    [
        (0, "203.0.113.9", "127.0.0.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "192.0.2.1, 203.0.113.9", "203.0.113.9"),
        (2, "192.0.2.1, 203.0.113.9, 198.51.100.1", "203.0.113.9"),
        (2, "203.0.113.9", "127.0.0.1"),
        (1, "203.0.113.9:4711", "203.0.113.9"),
        (1, "[2001:db8::9]:4711", "2001:db8::9"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
        (1, "<script>", "127.0.0.1"),
        (1, "fe80::1%eth0", "fe80::1"),
        (1, "", "127.0.0.1"),
    ],
)
def test_the_log_names_the_address_that_the_limits_count(settings, proxies, forwarded, kept):
    settings.TRUSTED_PROXIES = proxies
    sign_in("nobody@example.org", "wrong", address="127.0.0.1", forwarded=forwarded)

    assert AuditEntry.objects.get(action="session.refuse").address == kept
