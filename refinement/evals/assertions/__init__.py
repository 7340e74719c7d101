"""Converts assertions of every dialect to checks and criteria."""
