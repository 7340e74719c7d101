"""Addresses in templates: what `reverse` gives, from a pattern that it was asked for once.

A page of comments has two hundred addresses, and Django looks for each among all routes. Here it is asked for
one example of each kind; after that, numbers and slugs are put in its places.
"""

import re
from functools import lru_cache
from typing import Any

from django.template import Context
from django.urls import NoReverseMatch, get_script_prefix, get_urlconf, reverse

SLUG = re.compile(r"[a-zA-Z0-9_-]+", re.ASCII)
KEPT = "_addresses"  # no name that a template can ask for
EXAMPLES = {int: "90817263540{}", str: "an-example-of-a-slug-{}"}


class Addresses:
    """How addresses begin while one page is written: asked once, as that is kept far away from the page."""

    __slots__ = ("prefix", "urlconf")

    def __init__(self) -> None:
        self.urlconf, self.prefix = get_urlconf(), get_script_prefix()

    @classmethod
    def of(cls, context: Context) -> "Addresses":
        known: Addresses | None = vars(context).get(KEPT)
        if known is None:
            known = cls()
            vars(context)[KEPT] = known
        return known

    def address(self, view: str, values: list[Any]) -> str | None:
        """The address with these values in it; None where it takes Django to find it."""
        kinds = tuple(map(type, values))
        for kind, value in zip(kinds, values, strict=True):
            if not (value >= 0 if kind is int else kind is str and SLUG.fullmatch(value)):
                return None
        pattern = pattern_of(view, kinds, self.urlconf, self.prefix)
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
