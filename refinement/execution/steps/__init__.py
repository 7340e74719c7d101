"""The steps of a run: writing, evaluating, judging, and recording what they gave."""
