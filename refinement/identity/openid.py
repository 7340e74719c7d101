"""The authorization code flow with PKCE, state and nonce; Authlib checks the ID token in full."""

import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from authlib.oauth2 import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from refinement.identity.settings import OpenIDSettings

TIMEOUT = httpx.Timeout(10.0)
LEEWAY_SECONDS = 60  # two clocks never agree
MOST_BYTES = 1_000_000
DISCOVERY = "/.well-known/openid-configuration"
# Signed with a key that only the provider has: never "none", never our own secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class OpenIDFailure(Exception):
    """Nobody is signed in; says in words why, for the log and partly for the person."""


class ProviderUnreachable(OpenIDFailure):
    """The provider did not answer, or not as OpenID Connect says."""


class NotProven(OpenIDFailure):
    """What the provider sent does not prove who this is."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one attempt to sign in must find again when the person comes back."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> "Attempt":
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))


@dataclass(frozen=True, slots=True)
class Person:
    """Who the provider says it is."""

    subject: str
    email: str
    email_verified: bool
    name: str


def authorization_address(known: OpenIDSettings, attempt: Attempt, back_to: str) -> str:
    """Where the person goes to prove who they are; raises ProviderUnreachable, NotProven."""
    endpoint = _discovered(known)["authorization_endpoint"]
    # Requests go through our own client: Authlib's needs httpx2 or requests besides.
    client = OAuth2Client(
        session=None,
        client_id=known.client_id,
        redirect_uri=back_to,
        scope="openid email profile",
        code_challenge_method="S256",
    )
    address, _ = client.create_authorization_url(
        endpoint, state=attempt.state, nonce=attempt.nonce, code_verifier=attempt.verifier
    )
    return str(address)


def person_behind(known: OpenIDSettings, attempt: Attempt, code: str, back_to: str) -> Person:
    """Exchanges the code and reads who it is; raises ProviderUnreachable, NotProven."""
    found = _discovered(known)
    tokens = _tokens(known, found, attempt, code, back_to)
    claims = _claims(known, attempt, tokens, _json("GET", found["jwks_uri"]))
    if "email" not in claims and "userinfo_endpoint" in found:
        claims = {**_userinfo(known, found, tokens, claims), "sub": claims["sub"]}
    return Person(
        subject=str(claims["sub"]),
        email=str(claims.get("email") or "").strip(),
        # Some providers write the word, not the value.
        email_verified=claims.get("email_verified") in (True, "true"),
        name=" ".join(str(claims.get("name") or "").replace("\x00", "").split())[:120],
    )


def _discovered(known: OpenIDSettings) -> dict[str, Any]:
    found = _json("GET", known.issuer.rstrip("/") + DISCOVERY)
    if found.get("issuer") != known.issuer:
        raise NotProven(f"the provider calls itself {found.get('issuer')!r}, not {known.issuer!r}")
    secure = urlsplit(known.issuer).scheme == "https"
    for name in (*ENDPOINTS, "userinfo_endpoint"):
        if name not in found and name not in ENDPOINTS:
            continue
        scheme = urlsplit(str(found.get(name, ""))).scheme
        if scheme != "https" and (secure or scheme != "http"):
            raise ProviderUnreachable(f"the provider names no usable {name}")
    return found


def _tokens(
    known: OpenIDSettings, found: dict[str, Any], attempt: Attempt, code: str, back_to: str
) -> dict[str, Any]:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": back_to,
        "code_verifier": attempt.verifier,
        "client_id": known.client_id,
    }
    methods = found.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    if "client_secret_basic" in methods:
        return _json("POST", found["token_endpoint"], data=form, auth=(known.client_id, known.client_secret))
    return _json("POST", found["token_endpoint"], data={**form, "client_secret": known.client_secret})


def _claims(known: OpenIDSettings, attempt: Attempt, tokens: dict[str, Any], keys: Any) -> dict[str, Any]:
    """What the ID token says, once signature, issuer, audience, time and nonce are right."""
    required = {"iss": known.issuer, "aud": known.client_id}
    expected = {
        "nonce": attempt.nonce,
        "client_id": known.client_id,
        "access_token": tokens.get("access_token"),
    }
    try:
        accepted = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        token = jwt.decode(tokens["id_token"], KeySet.import_key_set(keys), registry=accepted)
        options = {name: {"essential": True, "value": value} for name, value in required.items()}
        claims = CodeIDToken(token.claims, token.header, options, expected)
        claims.validate(leeway=LEEWAY_SECONDS)
    except (JoseError, KeyError, TypeError, ValueError) as error:  # any but the first: a malformed key
        raise NotProven(f"the ID token cannot be trusted: {error!r}") from None
    return dict(claims)


def _userinfo(
    known: OpenIDSettings, found: dict[str, Any], tokens: dict[str, Any], claims: dict[str, Any]
) -> dict[str, Any]:
    bearer = {"Authorization": f"Bearer {tokens.get('access_token', '')}"}
    about = _json("GET", found["userinfo_endpoint"], headers=bearer)
    if about.get("sub") != claims["sub"]:
        raise NotProven("the provider told about somebody else")
    return about


def _json(method: str, address: str, **more: Any) -> dict[str, Any]:
    """The answer as an object; redirects are not followed, so nothing is sent to where it should not go."""
    try:
        with httpx.Client(timeout=TIMEOUT, follow_redirects=False) as client:
            client.headers["Accept"] = "application/json"
            answer = client.request(method, address, **more)
            answer.raise_for_status()
            if len(answer.content) > MOST_BYTES:
                raise ProviderUnreachable("the provider's answer is too long")
            found = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise ProviderUnreachable(f"the provider could not be asked: {type(error).__name__}") from None
    if not isinstance(found, dict):
        raise ProviderUnreachable("the provider's answer is no object")
    return found
