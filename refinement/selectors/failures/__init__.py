"""What fails most: figures over a window of runs, categories of issues, and their issues."""
