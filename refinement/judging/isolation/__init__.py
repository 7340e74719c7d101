"""Runs user-written templates and checks in a child process, with limits on time and memory.

A template or a pattern can run forever or use up the memory, and a thread cannot be stopped. A child process
can be killed: its request fails with a `Limit`, and the next request gets a new child.
"""

from refinement.judging.isolation.limits import SECONDS, Limit, time_limit, while_waiting
from refinement.judging.isolation.pool import Outcome, run

__all__ = ["SECONDS", "Limit", "Outcome", "run", "time_limit", "while_waiting"]
