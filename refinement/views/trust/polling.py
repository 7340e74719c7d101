"""Polling for figures that a worker is computing, with a growing interval and an end."""

from refinement.access.projects import ProjectRequest
from refinement.selectors.experiments.reports.stored import StoredResults

MOST_LOOKS = 60
SLOWEST = 10  # seconds between two looks; together about nine minutes


def polling(request: ProjectRequest, stored: StoredResults) -> dict[str, object] | None:
    """The address to look at next and in how many seconds; None if there is nothing to wait for."""
    given = request.GET.get("look", "")
    looks = int(given) if given.isascii() and given.isdigit() and len(given) < 4 else 0
    if not stored.is_pending or looks >= MOST_LOOKS:
        return None
    query = request.GET.copy()
    query["look"] = str(looks + 1)
    return {"address": f"{request.path}?{query.urlencode()}", "seconds": min(1 + looks // 3, SLOWEST)}
