"""Carries out a board's steps: its judges and the clerk are called at once, and each answer is kept."""
