"""Reads what evaluator commands wrote: results, trials and metrics."""
