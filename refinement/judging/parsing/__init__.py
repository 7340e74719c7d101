"""Reads verdicts from judges' replies."""

from refinement.judging.parsing.ladder import Reading, Rung, read_reply

__all__ = ["Reading", "Rung", "read_reply"]
