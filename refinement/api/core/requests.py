"""Requests as they come: JSON or not, and without the signs that no database keeps."""

import json
import re
from typing import Any

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser

from refinement.api.core.problems import Refused, Wrong

# Written out they are a sign that somebody means harm, or that a file is not text.
UNKEPT = re.compile("[\x00\ud800-\udfff]")
# In JSON such signs can only stand as escapes; where there are none, nothing is looked through.
ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
WORDS = "It holds a NUL or half of a pair of surrogates, which no text keeps. Leave it out."


class CarefulParser(Parser):
    """Ninja's, which says what is wrong with a body, and lets no sign through that a database refuses."""

    def parse_body(self, request: HttpRequest) -> Any:
        body = request.body
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise Refused(400, f"The body is not JSON: {error}.", "not_json") from None
        if ESCAPED.search(body) and not is_kept(data):
            raise Refused(400, f"body: {WORDS}", "not_text")
        return data

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        for name, values in data.lists():
            if not all(is_kept(value) for value in values):
                where = f"query.{name[:60]}"
                raise Refused(422, f"{where}: {WORDS}", "invalid", [Wrong(where=where, message=WORDS)])
        return super().parse_querydict(data, list_fields, request)


def is_kept(value: object) -> bool:
    """Whether every text in it can be kept."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                if UNKEPT.search(text):
                    return False
            case dict(entries):
                waiting += [*entries, *entries.values()]
            case list(entries):
                waiting += entries
    return True
