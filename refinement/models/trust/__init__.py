"""What judges' scores are worth: labels by people, measurements, and the figures of each judge."""
