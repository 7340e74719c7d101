"""Forms of the Failures pages."""
