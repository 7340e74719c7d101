"""Forms of measurements: which texts, which judge, how often."""
