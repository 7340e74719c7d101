"""Maps failed calls to ProviderErrors: the kind, whether to retry, and a message for users.

| what happened                                     | kind             | retry |
|---------------------------------------------------|------------------|-------|
| no connection; 429, 502, 503, 504                 | unreachable      | yes   |
| no complete reply before the deadline             | timeout          | yes   |
| 404 that mentions the model                       | model_missing    | no    |
| the prompt does not fit, before or at the server  | context_exceeded | no    |
| 401, 403, exceeded quota, refusal by the model    | refused          | no    |
| connection lost in mid-reply, empty, invalid, 500 | bad_reply        | yes   |
| an HTML page, another status                      | bad_reply        | no    |
"""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from refinement.providers.base import ErrorKind, ProviderError

QUOTE_CHARS = 300
BUSY_STATUSES = frozenset({429, 502, 503, 504})
CONTEXT_PATTERN = re.compile(
    r"exceed\w* (the )?(available |maximum |model'?s )*context|context[ _](length|size|window)|"
    r"maximum context|prompt (is )?too long|exceed_context_size",
    re.IGNORECASE,
)
QUOTA_PATTERN = re.compile(r"insufficient_quota|exceeded your current quota", re.IGNORECASE)
MODEL_PATTERN = re.compile(r"\bmodel\b|not found, try pulling", re.IGNORECASE)


def display_address(address: str) -> str:
    """The address without a user name or password, safe to show."""
    return str(httpx.URL(address).copy_with(userinfo=b"")).rstrip("/")


def shortened(text: str) -> str:
    """The server's message on one line, at most QUOTE_CHARS long."""
    line = " ".join(text.split())
    return line if len(line) <= QUOTE_CHARS else line[:QUOTE_CHARS] + "…"


def is_html(text: str) -> bool:
    return text.lstrip()[:1] == "<"


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds of a Retry-After header, which is a number or an HTTP date; None if it has neither."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def error_text(body: str) -> str:
    """The error message in a JSON body, or the body itself."""
    try:
        parsed = json.loads(body)
    except ValueError:
        return body
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else parsed
    if isinstance(error, dict):
        message = error.get("message")
        kind = error.get("code") or error.get("type")
        return f"{message} ({kind})" if message and isinstance(kind, str) else str(message or error)
    return str(error)


def unreachable(where: str, detail: str) -> ProviderError:
    return ProviderError(
        ErrorKind.UNREACHABLE,
        f"{where} cannot be reached ({shortened(detail)}). Check its address and that it is running.",
        retryable=True,
    )


def connection_lost(where: str) -> ProviderError:
    return ProviderError(
        ErrorKind.BAD_REPLY,
        f"{where} closed the connection in the middle of its reply. "
        "Try again; if it happens often, check its log.",
        retryable=True,
    )


def not_a_model_server(where: str) -> ProviderError:
    return ProviderError(
        ErrorKind.BAD_REPLY,
        f"{where} returned a web page instead of a model's reply. "
        "Check that the address is the model server's, not a proxy's or a login page's.",
        retryable=False,
    )


def unreadable_reply(where: str, detail: str) -> ProviderError:
    return ProviderError(
        ErrorKind.BAD_REPLY,
        f"{where} sent an unreadable reply ({shortened(detail)}). Try again.",
        retryable=True,
    )


def checked_vectors(found: list[list[float]], count: int, where: str, model: str) -> list[list[float]]:
    """The embeddings; raises ProviderError unless there are this many, all finite and of one length."""
    lengths = {len(vector) for vector in found}
    finite = all(math.isfinite(number) for vector in found for number in vector)
    if len(found) != count or len(lengths) > 1 or 0 in lengths or not finite:
        raise unreadable_reply(where, f"{model} returned {len(found)} usable embeddings for {count} texts")
    return found


def empty_reply(where: str, model: str, *, all_thinking: bool) -> ProviderError:
    if all_thinking:
        return ProviderError(
            ErrorKind.BAD_REPLY,
            f"{model} at {where} used its whole reply limit for thinking and gave no answer. "
            "Raise the limit or choose a model that thinks less.",
            retryable=False,
        )
    return ProviderError(
        ErrorKind.BAD_REPLY, f"{model} at {where} gave an empty reply. Try again.", retryable=True
    )


def model_missing(where: str, model: str, advice: str) -> ProviderError:
    return ProviderError(
        ErrorKind.MODEL_MISSING, f"{where} has no model named {model}. {advice}", retryable=False
    )


def context_exceeded(where: str, model: str, detail: str) -> ProviderError:
    return ProviderError(
        ErrorKind.CONTEXT_EXCEEDED,
        f"The prompt and its reply do not fit the context window of {model} at {where} "
        f"({shortened(detail)}). Shorten the text or choose a model with a longer context.",
        retryable=False,
    )


def checked_key(key: str, where: str, variable: str) -> str:
    """The key, if it is valid in a header; raises ProviderError, because httpx's own error would show it."""
    if key.isascii() and key.isprintable():
        return key
    raise ProviderError(
        ErrorKind.REFUSED,
        f"{where} was not called: the key in the environment variable {variable} has a line break or another "
        "character that is not allowed in a header. Set it again.",
        retryable=False,
    )


def transport_error(error: Exception, where: str, *, began: bool) -> ProviderError:
    """The ProviderError for an error of httpx or json; `began` is whether a part of the reply had arrived."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | ConnectionError):
        return unreachable(where, str(error) or "no connection")
    if isinstance(error, httpx.TimeoutException):
        return ProviderError(
            ErrorKind.TIMEOUT, f"{where} did not answer in time. Try again later.", retryable=True
        )
    if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
        return connection_lost(where) if began else unreachable(where, str(error) or "connection lost")
    if isinstance(error, json.JSONDecodeError) and is_html(error.doc):
        return not_a_model_server(where)
    return unreadable_reply(where, str(error))


def status_error(
    status: int,
    body: str,
    headers: Mapping[str, str],
    *,
    where: str,
    model: str,
    missing_advice: str,
    key_variable: str,
) -> ProviderError:
    """The ProviderError for a response with an error status.

    `missing_advice` says how to get a missing model; `key_variable` is the environment variable of the
    endpoint's key, if it has one.
    """
    detail = error_text(body)
    if status in (401, 403) or QUOTA_PATTERN.search(detail):
        return _refused(status, detail, where, key_variable)
    if status in BUSY_STATUSES:
        return ProviderError(
            ErrorKind.UNREACHABLE,
            f"{where} is busy or temporarily unavailable (status {status}). The call will be retried.",
            retryable=True,
            retry_after=retry_after(headers.get("retry-after")),
        )
    if CONTEXT_PATTERN.search(detail):
        return context_exceeded(where, model, detail)
    if status == 404 and not is_html(body) and MODEL_PATTERN.search(detail):
        return model_missing(where, model, missing_advice)
    if is_html(body) and status < 500:
        return not_a_model_server(where)
    advice = (
        "Check the server's settings." if status < 500 else "Try again; if it keeps failing, check its log."
    )
    return ProviderError(
        ErrorKind.BAD_REPLY,
        f"{where} answered with status {status}: {shortened(detail) or 'no explanation'}. {advice}",
        retryable=status >= 500,
    )


def _refused(status: int, detail: str, where: str, key_variable: str) -> ProviderError:
    if status not in (401, 403):
        advice = "The account's quota is exceeded; raise it with the provider."
    elif key_variable:
        advice = f"Check the key in the environment variable {key_variable}."
    else:
        advice = "If it needs a key, set the key's environment variable in the server's settings."
    return ProviderError(
        ErrorKind.REFUSED,
        f"{where} refused the request (status {status}: {shortened(detail)}). {advice}",
        retryable=False,
    )
