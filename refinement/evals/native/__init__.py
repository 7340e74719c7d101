"""Wiggum's own format of eval files."""
