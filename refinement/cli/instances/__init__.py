"""The instance that a command works on: the local database, or one elsewhere by its API."""
