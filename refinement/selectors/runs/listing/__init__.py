"""What the run list shows: rows, excerpts, tabs, saved views and columns."""
