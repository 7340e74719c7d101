"""The prepared example: a run written for the tour. No model ran; the engine computes its scores."""
