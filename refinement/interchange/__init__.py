"""Exports and imports of runs and rubrics. No Django."""
