"""Reading what a judge replied."""

from refinement.judging.parsing.ladder import Reading, Rung, read_reply

__all__ = ["Reading", "Rung", "read_reply"]
