"""Reads experiments: live state, results, history and comparisons."""
