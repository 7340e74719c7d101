"""Trying a rubric before it is used: on texts, as a test and as a preview of prompts."""
