"""Judges, label sets and measurements over the API."""
