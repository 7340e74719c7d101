"""Results of experiments: reports, comparisons, and what pages and files show of them."""
