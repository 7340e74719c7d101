"""Statistics of experiments: intervals over tasks, comparisons with a baseline, and noise. Pure.

Everything is deterministic: the same figures give the same intervals. numpy and scipy are imported here, so
only workers, commands and benchmarks import this package, never the web process.
"""
