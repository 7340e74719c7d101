"""A small OpenID Connect provider on the loopback address that can simulate invalid responses."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT_ID, CLIENT_SECRET = "wiggum-tests", "a secret between two"
# The replaced claims of each fault.
WRONG_CLAIMS: dict[str, dict[str, Any]] = {
    "issuer": {"iss": "https://evil.example"},
    "audience": {"aud": "somebody-else"},
    "audience of another party": {"aud": "somebody-else", "azp": CLIENT_ID},
    "two audiences": {"aud": [CLIENT_ID, "somebody-else"]},
    "party": {"azp": "somebody-else"},
    "nonce": {"nonce": "another"},
    "nonce that is no text": {"nonce": ["another"]},
    "subject that is no text": {"sub": 7},
    "access token": {"at_hash": "of-another-access-token"},
}
STRANGE_KEYS: dict[str, dict[str, Any]] = {
    "no list of keys": {},
    "nothing as keys": {"keys": None},
    "words as keys": {"keys": "one"},
    "no keys": {"keys": []},
    "half a key": {"keys": [{"kty": "RSA", "kid": "one", "n": "!", "e": "AQAB"}]},
    "curve of another world": {"keys": [{"kty": "EC", "kid": "one", "crv": "P-1", "x": "AA", "y": "AA"}]},
}


@cache
def key_called(name: str) -> RSAKey:
    """Made once per process, because it is slow."""
    return RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})


def signed_with_the_public_key(token: str) -> str:
    """Signs by hand, because joserfc refuses to."""
    content = token.rpartition(".")[0]
    made = hmac.digest(key_called("ours").as_pem(private=False), content.encode(), "sha256")
    return f"{content}.{base64.urlsafe_b64encode(made).rstrip(b'=').decode()}"


@dataclass
class OpenIDProvider:
    """The claims about the person who signs in; `fault` selects what the provider does wrong."""

    subject: str = "subject-1"
    email: str = "ada@example.org"
    email_verified: Any = True
    name: str = "Ada Lovelace"
    fault: str = ""
    mail_in_userinfo: bool = False
    address: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)  # requests to the sign-in page
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def start_over(self) -> None:
        """Undoes all changes, for the next test."""
        vars(self).update(vars(OpenIDProvider(address=self.address)))

    def discovery(self) -> dict[str, Any]:
        issuer = "https://evil.example" if self.fault == "issuer of discovery" else self.address
        return {
            "issuer": issuer,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "userinfo_endpoint": f"{self.address}/userinfo",
            "jwks_uri": f"{self.address}/keys",
        }

    def keys(self) -> dict[str, Any]:
        strange = STRANGE_KEYS.get(self.fault)
        return {"keys": [key_called("ours").as_dict(private=False)]} if strange is None else strange

    def authorized(self, query: dict[str, str]) -> str:
        """Signs the person in without asking, and redirects back."""
        self.asked.append(query)
        code = secrets.token_urlsafe(8)
        self.codes[code] = query
        state = "another" if self.fault == "state" else query["state"]
        answer = {"error": "access_denied"} if self.fault == "denied" else {"code": code}
        return f"{query['redirect_uri']}?{urlencode({**answer, 'state': state})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        known = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        asked = self.codes.pop(form.get("code", ""), None)  # a code works once
        if authorization != f"Basic {known}" or asked is None or self.fault == "token refused":
            return 400, {"error": "invalid_grant"}
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if challenge != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "access", "token_type": "Bearer", "id_token": self.id_token(asked)}

    def id_token(self, asked: dict[str, str]) -> str:
        now = int(time.time()) + {"expired": -7200, "not yet": 3600}.get(self.fault, 0)
        claims: dict[str, Any] = {
            "iss": self.address,
            "aud": CLIENT_ID,
            "sub": self.subject,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "name": self.name,
            **WRONG_CLAIMS.get(self.fault, {}),
        }
        if self.fault.startswith("no "):
            claims.pop(self.fault.removeprefix("no "), None)
        if not self.mail_in_userinfo:
            claims |= {"email": self.email, "email_verified": self.email_verified}
        return self._signed(claims)

    def _signed(self, claims: dict[str, Any]) -> str:
        key, algorithm = key_called("another" if self.fault == "signature" else "ours"), "RS256"
        if self.fault == "unsigned":
            algorithm = "none"
        if self.fault in ("signed with our secret", "signed with the public key"):
            key, algorithm = OctKey.import_key(CLIENT_SECRET * 2), "HS256"
        header = {"alg": algorithm, "kid": "two" if self.fault == "unknown key" else "one"}
        if self.fault == "key without a name":
            del header["kid"]
        token = jwt.encode(header, claims, key, [algorithm])
        if self.fault == "signed with the public key":
            token = signed_with_the_public_key(token)
        return "no token at all" if self.fault == "garbage" else token

    def userinfo(self) -> dict[str, Any]:
        subject = "somebody-else" if self.fault == "userinfo of another" else self.subject
        return {"sub": subject, "email": self.email, "email_verified": self.email_verified, "name": self.name}


class _Handler(BaseHTTPRequestHandler):
    provider: OpenIDProvider

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if self.provider.fault == "down" or self.provider.fault == f"down at {parts.path}":
            self.send(500, b"")
        elif parts.path == "/.well-known/openid-configuration":
            self.answer(self.provider.discovery())
        elif parts.path == "/keys":
            self.answer(self.provider.keys())
        elif parts.path == "/userinfo":
            self.answer(self.provider.userinfo())
        elif parts.path == "/authorize":
            self.send(302, b"", Location=self.provider.authorized(query))
        else:
            self.send(404, b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        if self.provider.fault == "words instead of an answer":
            self.send(200, b"<h1>Maintenance</h1>")
            return
        status, answer = self.provider.token(form, self.headers.get("Authorization", ""))
        self.answer(answer, status)

    def answer(self, value: dict[str, Any], status: int = 200) -> None:
        self.send(status, json.dumps(value).encode())

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def openid_provider() -> Iterator[OpenIDProvider]:
    """A provider that runs until the block ends."""
    provider = OpenIDProvider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": provider}))
    provider.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
