"""Rate limits by client address, for requests without an account."""

from dataclasses import dataclass

from django.core.cache import cache
from django.http import HttpRequest

from refinement.access.client_address import address_of, network_of


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` attempts from one address in a window, which starts with the first attempt."""

    name: str
    most: int
    seconds: int

    def is_reached(self, request: HttpRequest) -> bool:
        """Whether the client has used all its attempts."""
        return int(cache.get(self._key(request), 0)) >= self.most

    def note(self, request: HttpRequest) -> None:
        """Count one attempt."""
        key = self._key(request)
        if not cache.add(key, 1, self.seconds):
            try:
                cache.incr(key)
            except ValueError:  # it expired in between
                cache.add(key, 1, self.seconds)

    def _key(self, request: HttpRequest) -> str:
        return f"limit:{self.name}:{network_of(address_of(request)) or 'unknown'}"
