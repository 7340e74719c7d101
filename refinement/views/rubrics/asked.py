"""What an address asks for beyond its path."""

from django.http import Http404, HttpRequest

MOST_DIGITS = 9


def number_asked_for(request: HttpRequest, name: str) -> int | None:
    """The whole number of this name in the address, or None; anything else is not found."""
    said = request.GET.get(name, "")
    if not said:
        return None
    if not (said.isascii() and said.isdigit() and len(said) <= MOST_DIGITS and int(said)):
        raise Http404(f"There is no {name} {said[:40]!r}.")
    return int(said)
