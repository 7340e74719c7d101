"""Files of experiments: configurations in, results out. No Django."""
