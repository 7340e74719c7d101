"""Selects the cases of an evaluation by name."""

import re
from collections.abc import Sequence

from refinement.evals.planning import Job


def chosen(jobs: Sequence[Job], pattern: str) -> list[Job]:
    """The jobs whose case matches the regular expression anywhere, ignoring case. Raises ValueError."""
    try:
        wanted = re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}.") from None
    return [job for job in jobs if wanted.search(job.case.name)]
