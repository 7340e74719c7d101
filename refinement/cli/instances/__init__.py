"""The instance a command uses: the local database, or a remote one through its API."""
