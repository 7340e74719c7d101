"""What fails most, and the categories of issues."""
