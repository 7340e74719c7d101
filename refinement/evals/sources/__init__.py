"""Reads YAML, JSON, JSON lines and CSV as trees whose nodes know their lines."""
