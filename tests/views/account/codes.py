"""Codes as an authenticator app computes them."""

import base64
import hashlib
import hmac
import struct
import time


def totp(secret: str, at: float | None = None) -> str:
    """RFC 6238 with SHA-1, 30 seconds and six digits; independent of allauth's implementation."""
    counter = struct.pack(">Q", int(time.time() if at is None else at) // 30)
    digest = hmac.new(base64.b32decode(secret), counter, hashlib.sha1).digest()
    start = digest[-1] & 0x0F
    value = struct.unpack(">I", digest[start : start + 4])[0] & 0x7FFFFFFF
    return f"{value % 1_000_000:06d}"
