"""What people do with failure categories: name, merge, split, pin, annotate."""
