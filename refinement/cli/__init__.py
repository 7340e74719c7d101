"""The `wiggum` command. Django is loaded only for commands that need the local database."""
