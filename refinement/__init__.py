"""Wiggum: refines texts in a loop of judging and revising."""

import os

# numpy reads this when it is imported. Its own threads only compete with a worker's: on a busy machine they
# made the statistics of an experiment ten times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
