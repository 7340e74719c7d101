"""For tests that run real commands in the evaluators' sandbox."""

from functools import cache

import pytest

from refinement.providers.sandbox.bubblewrap import sandbox_problem

_problem = cache(sandbox_problem)


def needs_sandbox() -> None:
    """Skips the test if this machine has no sandbox."""
    if problem := _problem():
        pytest.skip(f"{problem}; install the package bubblewrap")
