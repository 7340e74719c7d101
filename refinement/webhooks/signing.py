"""How a receiver knows that a message is ours and new: a signature over its time and its bytes."""

import hashlib
import hmac
import secrets

SECRET_BYTES = 32
SECRET_PREFIX = "whsec_"


def secret_make() -> str:
    """A new secret, to be shown once."""
    return SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def signature_header(secret: str, body: bytes, at: int) -> str:
    """The value of `Wiggum-Signature` for a body that is sent at this second."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={signed.hexdigest()}"
