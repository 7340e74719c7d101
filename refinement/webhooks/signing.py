"""Signs messages with their time, so that receivers can detect forged and replayed ones."""

import hashlib
import hmac
import secrets

SECRET_BYTES = 32
SECRET_PREFIX = "whsec_"


def secret_make() -> str:
    """A new signing secret. It is shown only once."""
    return SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def signature_header(secret: str, body: bytes, at: int) -> str:
    """The value of the `Wiggum-Signature` header for a body sent at this Unix time."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={signed.hexdigest()}"
