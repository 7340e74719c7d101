"""Data to look at: believable people, rubrics and runs, made without a model."""
