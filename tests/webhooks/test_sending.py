"""Sending over real sockets: the request, and every way in which it can fail."""

import ipaddress
import socket
import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from refinement.webhooks import sending
from refinement.webhooks.networks import PRIVATE
from refinement.webhooks.sending import ANSWER_BYTES, Limits, post
from tests.webhooks.receiver import receiving, redirect, status

SHORT = Limits(connect=0.5, whole=0.5)


def sent(address, *, limits=SHORT, allowed=PRIVATE):
    return post(address, headers={"Wiggum-Event": "ping"}, body=b'{"a": 1}', allowed=allowed, limits=limits)


def loopback(host, port, *_, **__):
    """A name service for which every name stands for this machine."""
    return [(2, 1, 6, "", ("127.0.0.1", port))]


def test_it_sends_the_bytes_and_the_headers(receiver):
    result = sent(f"{receiver.address}?x=1")

    assert (result.status, result.error, result.delivered) == (204, "", True)
    (got,) = receiver.received
    assert (got.path, got.body) == ("/hook?x=1", b'{"a": 1}')
    assert got.headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert got.headers["Wiggum-Event"] == "ping"


@pytest.mark.parametrize("number", [200, 299])
def test_only_answers_between_200_and_299_count(receiver, number):
    receiver.answer = status(number, "fine")
    assert sent(receiver.address).delivered


@pytest.mark.parametrize("number", [400, 410, 500, 503])
def test_an_error_of_the_other_side_is_kept_with_its_words(receiver, number):
    receiver.answer = status(number, "database is down")
    result = sent(receiver.address)

    assert (result.delivered, result.status, result.answer) == (False, number, "database is down")
    assert f"Status {number}" in result.error


def test_a_redirect_is_not_followed_and_said(receiver):
    with receiving() as other:
        receiver.answer = redirect(other.address)
        result = sent(receiver.address)

        assert not result.delivered
        assert f"redirect to {other.address}. Redirects are not followed" in result.error
        assert other.connections == 0


@pytest.mark.parametrize("way", ["says_nothing", "drips", "drips_a_body"])
def test_a_slow_server_costs_the_limit_and_no_more(receiver, way):
    receiver.answer = getattr(receiver, way)
    result = sent(receiver.address)

    assert "Timed out after 0.5 seconds" in result.error


def test_of_a_huge_answer_only_the_beginning_is_read(receiver):
    receiver.answer = receiver.floods
    result = sent(receiver.address)

    assert result.delivered
    assert len(result.answer) == ANSWER_BYTES


def test_a_server_that_speaks_no_http(receiver):
    receiver.answer = b"SSH-2.0-OpenSSH_9.2\r\n"
    result = sent(receiver.address)
    assert (result.status, result.delivered) == (None, False)
    assert "Not a valid HTTP response" in result.error


def test_nobody_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        result = sent(f"http://127.0.0.1:{free.getsockname()[1]}/")
    assert "Connection failed" in result.error


def test_inner_addresses_are_refused_before_any_connection(receiver):
    result = sent(receiver.address, allowed=())

    assert "private or reserved network" in result.error
    assert receiver.connections == 0


def test_a_name_that_changes_its_mind_gains_nothing(receiver, monkeypatch):
    """Allowed when it is checked, loopback when it is asked again: it is never asked again."""
    asked = []

    def fickle(host, port, **_):
        asked.append(host)
        return [(2, 1, 6, "", (host if host[0].isdigit() else "198.51.100.9", port))]

    monkeypatch.setattr(socket, "getaddrinfo", fickle)
    connected = []

    def connect(self, host, port, timeout=None, **_):
        connected.append(host)
        raise sending.httpcore.ConnectError("unreachable")

    monkeypatch.setattr(sending.httpcore.SyncBackend, "connect_tcp", connect)
    sent("http://rebind.example.org/", allowed=[ipaddress.ip_network("198.51.100.0/24")])

    assert asked == ["rebind.example.org"]
    assert connected == ["198.51.100.9"]  # the number that was checked, and not the name


def test_a_name_that_turns_inward_after_it_was_saved_is_refused(receiver, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", loopback)
    result = sent(f"http://was.public.example.org:{receiver.port}/", allowed=())

    assert "was.public.example.org (127.0.0.1) is in a private" in result.error
    assert receiver.connections == 0


def test_a_name_is_sent_as_host_to_the_number_it_stands_for(receiver, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", loopback)
    assert sent(f"http://hooks.example.org:{receiver.port}/").delivered
    assert receiver.received[0].headers["Host"] == f"hooks.example.org:{receiver.port}"


def test_no_proxy_of_the_environment_is_asked(receiver, monkeypatch):
    with receiving() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert sent(receiver.address).delivered
        assert proxy.connections == 0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """For hooks.example.org, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hooks.example.org")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("hooks.example.org")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def tls_receiver(certificate, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", loopback)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with receiving(context) as receiver:
        yield receiver


def test_a_certificate_that_nobody_vouches_for_is_refused(tls_receiver):
    result = sent(f"https://hooks.example.org:{tls_receiver.port}/")
    assert "Connection failed" in result.error
    assert "certificate" in result.error
    assert tls_receiver.received == []


def test_a_trusted_certificate_must_be_for_the_name_in_the_address(tls_receiver, certificate, monkeypatch):
    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(sending, "_ssl_context", lambda: trusting)

    assert sent(f"https://hooks.example.org:{tls_receiver.port}/").delivered
    other = sent(f"https://other.example.org:{tls_receiver.port}/")
    assert "certificate" in other.error
    assert len(tls_receiver.received) == 1
