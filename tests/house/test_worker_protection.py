"""A worker's environment and memory are closed to other processes of its account."""

import subprocess
import sys

from tests.house.processes import PATIENCE, ROOT, environment

# Starts the command as `manage.py worker` does, with the question in place of the work.
SCRIPT = """
import ctypes, django
django.setup()
from refinement.management.commands.worker import Command
PR_GET_DUMPABLE = 3
Command.run = lambda *given: print("dumpable:", ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0))
print("before:", ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0))
Command().handle(threads=1, queues=[])
"""


def test_nobody_else_can_read_a_workers_environment(data_dir):
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env=environment(data_dir, DJANGO_SETTINGS_MODULE="wiggum_site.settings"),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert result.stdout == "before: 1\ndumpable: 0\n", result.stderr
