"""Eval files: what they say, the cases in them, and what came of each. Nothing here knows Django."""
