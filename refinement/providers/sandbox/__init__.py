"""Runs commands that rubric editors wrote, in a sandbox made by bubblewrap.

`run_job` is the entry point. Whether a program may run at all is decided by the caller, before.
"""

from refinement.providers.sandbox.jobs import (
    Busy,
    CannotStart,
    Finished,
    Job,
    Limits,
    NoSandbox,
    Surroundings,
)
from refinement.providers.sandbox.running import run_job

__all__ = ["Busy", "CannotStart", "Finished", "Job", "Limits", "NoSandbox", "Surroundings", "run_job"]
