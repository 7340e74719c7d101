"""The authorization code flow with PKCE, state and nonce. Authlib validates the ID token."""

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
from refinement.providers.transport import ssl_context

TIMEOUT = httpx.Timeout(10.0)
LEEWAY_SECONDS = 60  # for clock differences
MOST_BYTES = 1_000_000
DISCOVERY = "/.well-known/openid-configuration"
# Asymmetric signatures only: never "none", never the client secret.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class OpenIDFailure(Exception):
    """Sign-in failed. The message is for the log."""


class ProviderUnreachable(OpenIDFailure):
    """The provider did not respond, or its response is not valid OpenID Connect."""


class NotProven(OpenIDFailure):
    """The provider's response does not prove the person's identity."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The values that must match when the person returns from the provider."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> "Attempt":
        return cls(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48))


@dataclass(frozen=True, slots=True)
class Person:
    """The person's identity according to the provider."""

    subject: str
    email: str
    email_verified: bool
    name: str


def authorization_address(known: OpenIDSettings, attempt: Attempt, back_to: str) -> str:
    """The provider's sign-in URL. Raises ProviderUnreachable and NotProven."""
    endpoint = _discovered(known)["authorization_endpoint"]
    # Requests use httpx directly, because Authlib's client needs another HTTP library.
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
    """Exchanges the code for the person's identity. Raises ProviderUnreachable and NotProven."""
    found = _discovered(known)
    tokens = _tokens(known, found, attempt, code, back_to)
    claims = _claims(known, attempt, tokens, _json("GET", found["jwks_uri"]))
    if "email" not in claims and "userinfo_endpoint" in found:
        claims = {**_userinfo(known, found, tokens, claims), "sub": claims["sub"]}
    return Person(
        subject=str(claims["sub"]),
        email=str(claims.get("email") or "").strip(),
        # Some providers send the string "true".
        email_verified=claims.get("email_verified") in (True, "true"),
        name=" ".join(str(claims.get("name") or "").replace("\x00", "").split())[:120],
    )


def _discovered(known: OpenIDSettings) -> dict[str, Any]:
    found = _json("GET", known.issuer.rstrip("/") + DISCOVERY)
    if found.get("issuer") != known.issuer:
        raise NotProven(f"the provider's issuer is {found.get('issuer')!r}, expected {known.issuer!r}")
    secure = urlsplit(known.issuer).scheme == "https"
    for name in (*ENDPOINTS, "userinfo_endpoint"):
        if name not in found and name not in ENDPOINTS:
            continue
        scheme = urlsplit(str(found.get(name, ""))).scheme
        if scheme != "https" and (secure or scheme != "http"):
            raise ProviderUnreachable(f"the provider has no valid {name}")
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
    """The claims of the ID token, after signature, issuer, audience, time and nonce are validated."""
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
    except (JoseError, KeyError, TypeError, ValueError) as error:  # malformed keys raise the others
        raise NotProven(f"the ID token cannot be trusted: {error!r}") from None
    return dict(claims)


def _userinfo(
    known: OpenIDSettings, found: dict[str, Any], tokens: dict[str, Any], claims: dict[str, Any]
) -> dict[str, Any]:
    bearer = {"Authorization": f"Bearer {tokens.get('access_token', '')}"}
    about = _json("GET", found["userinfo_endpoint"], headers=bearer)
    if about.get("sub") != claims["sub"]:
        raise NotProven("the userinfo response is about another person")
    return about


def _json(method: str, address: str, **more: Any) -> dict[str, Any]:
    """The response as an object. Redirects are not followed, so that secrets are not sent elsewhere."""
    try:
        with httpx.Client(verify=ssl_context(), timeout=TIMEOUT, follow_redirects=False) as client:
            client.headers["Accept"] = "application/json"
            answer = client.request(method, address, **more)
            answer.raise_for_status()
            if len(answer.content) > MOST_BYTES:
                raise ProviderUnreachable("the provider's response is too large")
            found = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise ProviderUnreachable(f"the request to the provider failed: {type(error).__name__}") from None
    if not isinstance(found, dict):
        raise ProviderUnreachable("the provider's response is not an object")
    return found
