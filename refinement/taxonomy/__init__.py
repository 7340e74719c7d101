"""Groups the issues of judges into categories; pure functions for workers, without Django.

Start with `categorise` in `grouping.py`. Importing it imports numpy and scipy, so pages must not.
"""
