"""Checks that run on the caller's machine."""
