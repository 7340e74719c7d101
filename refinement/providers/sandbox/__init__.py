"""Runs commands that rubric editors wrote, in a sandbox made by bubblewrap.

`run_job` is the entry point. The caller must check first that the program is allowed.
"""

from refinement.providers.sandbox.jobs import (
    Busy,
    CannotStart,
    Job,
    JobResult,
    Limits,
    NoSandbox,
    SandboxConfig,
)
from refinement.providers.sandbox.running import run_job

__all__ = ["Busy", "CannotStart", "Job", "JobResult", "Limits", "NoSandbox", "SandboxConfig", "run_job"]
