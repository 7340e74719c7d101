"""Forms of label sets."""
