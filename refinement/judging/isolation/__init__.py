"""Runs templates and checks that people wrote in a child process, with limits on time and memory.

A template or a pattern can be written so that it never ends or fills the memory, and neither can be stopped
inside a thread. The child can be killed: its request fails with a `Limit`, and the next one gets a new child.
"""

from refinement.judging.isolation.limits import SECONDS, Limit, time_limit, while_waiting
from refinement.judging.isolation.pool import Outcome, run

__all__ = ["SECONDS", "Limit", "Outcome", "run", "time_limit", "while_waiting"]
