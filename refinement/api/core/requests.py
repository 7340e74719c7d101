"""Request parsing: valid JSON, and no characters that databases reject."""

import json
import re
from typing import Any

from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser

from refinement.api.core.problems import Refused, Wrong

# A literal NUL or surrogate means an attack, or a file that is not text.
UNKEPT = re.compile("[\x00\ud800-\udfff]")
# In JSON these characters can only be escapes; without escapes there is nothing to check.
ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
WORDS = "Contains a NUL or an unpaired surrogate, which cannot be stored. Remove it."


class CarefulParser(Parser):
    """Ninja's parser, with error messages for invalid JSON, and without characters that databases reject."""

    def parse_body(self, request: HttpRequest) -> Any:
        body = request.body
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise Refused(400, f"The body is not valid JSON: {error}.", "not_json") from None
        if ESCAPED.search(body) and not is_storable(data):
            raise Refused(400, f"body: {WORDS}", "not_text")
        return data

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        for name, values in data.lists():
            if not all(is_storable(value) for value in values):
                where = f"query.{name[:60]}"
                raise Refused(422, f"{where}: {WORDS}", "invalid", [Wrong(where=where, message=WORDS)])
        return super().parse_querydict(data, list_fields, request)


def is_storable(value: object) -> bool:
    """Whether all strings in the value can be stored."""
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
