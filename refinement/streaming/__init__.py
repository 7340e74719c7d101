"""What is pushed to open pages as it happens."""
