"""Addresses in templates: what `reverse` gives, from a pattern that it was asked for once.

A page of comments has two hundred addresses, and Django looks for each among all routes. Here it is asked for
one example of each kind; after that, numbers and slugs are put in its places.
"""

import re
from functools import lru_cache
from typing import Any

from django.urls import NoReverseMatch, get_script_prefix, get_urlconf, reverse

SLUG = re.compile(r"[a-zA-Z0-9_-]+", re.ASCII)
EXAMPLES = {int: "90817263540{}", str: "an-example-of-a-slug-{}"}


def address_of(view: str, values: list[Any]) -> str | None:
    """The address with these values in it; None where it takes Django to find it."""
    kinds = tuple(map(type, values))
    for kind, value in zip(kinds, values, strict=True):
        if not (value >= 0 if kind is int else kind is str and SLUG.fullmatch(value)):
            return None
    pattern = pattern_of(view, kinds, get_urlconf(), get_script_prefix())
    return None if pattern is None else pattern.format(*values)


@lru_cache(maxsize=1024)
def pattern_of(view: str, kinds: tuple[type, ...], urlconf: str | None, prefix: str) -> str | None:
    """The view's address with `{}` in the places of its values, None where it has no such address."""
    examples = [EXAMPLES[kind].format(place) for place, kind in enumerate(kinds)]
    try:
        address = reverse(view, args=[kind(text) for kind, text in zip(kinds, examples, strict=True)])
    except NoReverseMatch:
        return None
    pieces = []
    for example in examples:
        before, mark, address = address.partition(example)
        if not mark or example in address:
            return None
        pieces.append(before)
    return "{}".join(piece.replace("{", "{{").replace("}", "}}") for piece in [*pieces, address])
