"""How often an address may guess at share links."""

from django.core.cache import cache
from django.http import HttpRequest

from refinement.services.origins import address_of

MOST_GUESSES = 30
WINDOW_SECONDS = 600


def guessed_too_often(request: HttpRequest) -> bool:
    """Whether this address found nothing so often that it is told nothing more for now."""
    return int(cache.get(_key(request), 0)) >= MOST_GUESSES


def guess_note(request: HttpRequest) -> None:
    """Counts one address that led nowhere; the window starts with the first."""
    key = _key(request)
    if not cache.add(key, 1, WINDOW_SECONDS):
        try:
            cache.incr(key)
        except ValueError:  # it ran out between the two
            cache.add(key, 1, WINDOW_SECONDS)


def _key(request: HttpRequest) -> str:
    return f"share-guesses:{address_of(request) or 'unknown'}"
