"""Demo data: realistic people, rubrics and runs, made without a model."""
