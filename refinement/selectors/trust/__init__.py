"""Reads of judge trust: judges, label sets and measurements."""
