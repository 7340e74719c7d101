"""Log format: one line per message, without the secrets in URLs."""

import copy
import logging
import re

from refinement.storage_errors import is_disk_full

REDACTED = "[redacted]"
# Links that grant access: shared runs, invitations, the first account, password resets. A test goes
# through all routes and finds tokens that are not covered here.
SECRETS = (
    re.compile(r"(?i)(/(?:s|join|welcome)/)[^/\s?#\"'<>]+"),
    re.compile(r"(?i)(/account/password/reset/[0-9a-z]+-)[^/\s?#\"'<>]+"),
    re.compile(r"([?&](?:code|state|token|key)=)[^&\s\"'<>]+"),  # from a sign-in provider's redirect
    re.compile(r"\b(wgm_)[\w-]+"),  # API tokens
)


def redacted(text: str) -> str:
    """The text without secrets of links and tokens."""
    for pattern in SECRETS:
        text = pattern.sub(rf"\1{REDACTED}", text)
    return text


class LineFormatter(logging.Formatter):
    """One line per message, so that logged input cannot forge a record."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(short(record)))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  logging's name
        return "\\n".join(super().formatMessage(record).splitlines())


def short(record: logging.LogRecord) -> logging.LogRecord:
    """The record, without its traceback if the cause is a full disk."""
    error = record.exc_info[1] if record.exc_info else None
    if not is_disk_full(error):
        return record
    brief = copy.copy(record)
    brief.msg, brief.args = "%s (disk full: %s)", (record.getMessage(), error)
    brief.exc_info = brief.exc_text = None
    return brief
