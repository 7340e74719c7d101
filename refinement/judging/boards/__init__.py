"""What a board's judges and the clerk are shown and asked, and how their replies are read."""
