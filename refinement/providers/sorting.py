"""What went wrong on the wire, sorted: the kind, whether to try again, and a sentence for people.

| what happened                                   | kind             | try again |
|-------------------------------------------------|------------------|-----------|
| no connection; 429, 502, 503, 504               | unreachable      | yes       |
| no complete reply before the deadline           | timeout          | yes       |
| 404 that speaks of the model                    | model_missing    | no        |
| the prompt does not fit, before or at the server| context_exceeded | no        |
| 401, 403, used-up quota, refusal by the model   | refused          | no        |
| lost in mid-reply, empty, damaged, 500          | bad_reply        | yes       |
| a web page, another status, an unreadable form  | bad_reply        | no        |
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from refinement.providers.base import ErrorKind, ProviderError

QUOTE_CHARS = 300
BUSY = frozenset({429, 502, 503, 504})
CONTEXT_WORDS = re.compile(
    r"exceed\w* (the )?(available |maximum |model'?s )*context|context[ _](length|size|window)|"
    r"maximum context|prompt (is )?too long|exceed_context_size",
    re.IGNORECASE,
)
QUOTA_WORDS = re.compile(r"insufficient_quota|exceeded your current quota", re.IGNORECASE)
MODEL_WORDS = re.compile(r"\bmodel\b|not found, try pulling", re.IGNORECASE)


def shown_address(address: str) -> str:
    """The address without a user name or password that may stand in it."""
    return str(httpx.URL(address).copy_with(userinfo=b"")).rstrip("/")


def quoted(text: str) -> str:
    """The server's own words on one line, shortened."""
    line = " ".join(text.split())
    return line if len(line) <= QUOTE_CHARS else line[:QUOTE_CHARS] + "…"


def looks_like_a_page(text: str) -> bool:
    return text.lstrip()[:1] == "<"


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds a Retry-After header asks for, given as a number or as an HTTP date."""
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


def said(body: str) -> str:
    """The message inside an error's JSON body, or the body itself."""
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
        f"{where} cannot be reached ({quoted(detail)}). "
        "Check that it is running and that its address is right.",
        retryable=True,
    )


def connection_lost(where: str) -> ProviderError:
    return ProviderError(
        ErrorKind.BAD_REPLY,
        f"{where} broke off in the middle of its reply. Try again; if it happens often, look in its log.",
        retryable=True,
    )


def not_a_model_server(where: str) -> ProviderError:
    return ProviderError(
        ErrorKind.BAD_REPLY,
        f"{where} answered with a web page instead of a model's reply. "
        "Check that the address leads to the model server itself, not to a proxy or a login page.",
        retryable=False,
    )


def damaged(where: str, detail: str) -> ProviderError:
    return ProviderError(
        ErrorKind.BAD_REPLY,
        f"{where} sent something that cannot be read ({quoted(detail)}). Try again.",
        retryable=True,
    )


def empty_reply(where: str, model: str, *, all_thinking: bool) -> ProviderError:
    if all_thinking:
        return ProviderError(
            ErrorKind.BAD_REPLY,
            f"{model} at {where} used up its reply limit on thinking and gave no answer. "
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
        f"The prompt and its reply do not fit the context window of {model} at {where} ({quoted(detail)}). "
        "Shorten the text or choose a model with a longer context.",
        retryable=False,
    )


def sendable_key(key: str, where: str, variable: str) -> str:
    """The key, if a header can hold it: the error of a key that is sent regardless would show it."""
    if key.isascii() and key.isprintable():
        return key
    raise ProviderError(
        ErrorKind.REFUSED,
        f"{where} was not asked: the key in the environment variable {variable} has a line break or another "
        "character in it that no header can hold. Set it again.",
        retryable=False,
    )


def wire_failure(error: Exception, where: str, *, began: bool) -> ProviderError:
    """Sorts what httpx or json raised; `began` says whether a part of the reply had come."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | ConnectionError):
        return unreachable(where, str(error) or "no connection")
    if isinstance(error, httpx.TimeoutException):
        return ProviderError(
            ErrorKind.TIMEOUT, f"{where} did not answer in time. Try again later.", retryable=True
        )
    if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
        return connection_lost(where) if began else unreachable(where, str(error) or "connection lost")
    if isinstance(error, json.JSONDecodeError) and looks_like_a_page(error.doc):
        return not_a_model_server(where)
    return damaged(where, str(error))


def status_failure(
    status: int,
    body: str,
    headers: Mapping[str, str],
    *,
    where: str,
    model: str,
    missing_advice: str,
    key_variable: str,
) -> ProviderError:
    """Sorts an answer whose status says that it is no reply."""
    detail = said(body)
    if status in (401, 403) or QUOTA_WORDS.search(detail):
        return _refused(status, detail, where, key_variable)
    if status in BUSY:
        return ProviderError(
            ErrorKind.UNREACHABLE,
            f"{where} is busy or away for the moment (status {status}). It will be asked again.",
            retryable=True,
            retry_after=retry_after(headers.get("retry-after")),
        )
    if CONTEXT_WORDS.search(detail):
        return context_exceeded(where, model, detail)
    if status == 404 and not looks_like_a_page(body) and MODEL_WORDS.search(detail):
        return model_missing(where, model, missing_advice)
    if looks_like_a_page(body) and status < 500:
        return not_a_model_server(where)
    ours = "Check the endpoint's settings."
    advice = ours if status < 500 else "Try again; if it stays so, look in its log."
    return ProviderError(
        ErrorKind.BAD_REPLY,
        f"{where} answered with status {status}: {quoted(detail) or 'no explanation'}. {advice}",
        retryable=status >= 500,
    )


def _refused(status: int, detail: str, where: str, key_variable: str) -> ProviderError:
    if status not in (401, 403):
        advice = "The account's quota is used up; raise it with the provider."
    elif key_variable:
        advice = f"Check the key in the environment variable {key_variable}."
    else:
        advice = "If it needs a key, name the environment variable that holds it in the endpoint's settings."
    return ProviderError(
        ErrorKind.REFUSED,
        f"{where} refused the request (status {status}: {quoted(detail)}). {advice}",
        retryable=False,
    )
