"""`wiggum doctor`: checks that report problems and how to fix them."""
