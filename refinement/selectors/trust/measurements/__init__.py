"""What measurements are made of, how far they are, and what came out."""
