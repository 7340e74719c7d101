"""Boards of runs: judged rounds, answers for files and the API, live state, and what a run has learned."""
