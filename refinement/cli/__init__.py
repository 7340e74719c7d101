"""The `wiggum` command. It starts without Django, which is loaded where the local database is needed."""
