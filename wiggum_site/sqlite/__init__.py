"""Django's SQLite backend, with writers that take turns. Django wants it as a package with `base.py`."""
