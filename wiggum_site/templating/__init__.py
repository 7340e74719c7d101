"""Django's templates with nodes that take the short way: the same pages in less time."""
