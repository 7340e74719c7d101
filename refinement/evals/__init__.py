"""Eval files, their cases and their results. No Django."""
