"""Results of an evaluation, and the reports on them."""
