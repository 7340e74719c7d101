"""How log records are written: one line a message, and no secret that is part of an address."""

import copy
import logging
import re

from refinement.storage_errors import is_disk_full

REDACTED = "[redacted]"
# Links that grant access: shared runs, invitations, the first account, password resets. Tests go
# through all routes and find those whose token is not covered here.
SECRETS = (
    re.compile(r"(?i)(/(?:s|join|welcome)/)[^/\s?#\"'<>]+"),
    re.compile(r"(?i)(/account/password/reset/[0-9a-z]+-)[^/\s?#\"'<>]+"),
    re.compile(
        r"([?&](?:code|state|token|key)=)[^&\s\"'<>]+"
    ),  # what a sign-in provider sends people back with
    re.compile(r"\b(wgm_)[\w-]+"),  # tokens of the API
)


def redacted(text: str) -> str:
    """The text without the secrets of links and tokens in it."""
    for pattern in SECRETS:
        text = pattern.sub(rf"\1{REDACTED}", text)
    return text


class LineFormatter(logging.Formatter):
    """One line a message: what came from outside cannot look like a record of its own."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(short(record)))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's name
        return "\\n".join(super().formatMessage(record).splitlines())


def short(record: logging.LogRecord) -> logging.LogRecord:
    """The record; without its traceback where a full disk is the cause, which says all there is to know."""
    error = record.exc_info[1] if record.exc_info else None
    if not is_disk_full(error):
        return record
    brief = copy.copy(record)
    brief.msg, brief.args = "%s (disk full: %s)", (record.getMessage(), error)
    brief.exc_info = brief.exc_text = None
    return brief
