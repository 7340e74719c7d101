"""Computes what judges' scores are worth, in workers."""
