"""`wiggum doctor`: small checks, each of which says what it found and what to do about it."""
