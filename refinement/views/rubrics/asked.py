"""Query parameters of rubric pages."""

from django.http import Http404, HttpRequest

MOST_DIGITS = 9


def number_param(request: HttpRequest, name: str) -> int | None:
    """The integer query parameter of this name, or None; 404 if it is not a number."""
    said = request.GET.get(name, "")
    if not said:
        return None
    if not (said.isascii() and said.isdigit() and len(said) <= MOST_DIGITS and int(said)):
        raise Http404(f"No {name} {said[:40]!r}.")
    return int(said)
