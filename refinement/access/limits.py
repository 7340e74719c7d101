"""How often an address may try something that needs no account."""

from dataclasses import dataclass

from django.core.cache import cache
from django.http import HttpRequest

from refinement.access.client_address import address_of, network_of


@dataclass(frozen=True, slots=True)
class Limit:
    """So many tries from one address; the window starts with the first of them."""

    name: str
    most: int
    seconds: int

    def is_reached(self, request: HttpRequest) -> bool:
        """Whether this address has to wait."""
        return int(cache.get(self._key(request), 0)) >= self.most

    def note(self, request: HttpRequest) -> None:
        """Counts one try."""
        key = self._key(request)
        if not cache.add(key, 1, self.seconds):
            try:
                cache.incr(key)
            except ValueError:  # it ran out between the two
                cache.add(key, 1, self.seconds)

    def _key(self, request: HttpRequest) -> str:
        return f"limit:{self.name}:{network_of(address_of(request)) or 'unknown'}"
