"""A Dramatiq broker on the application's own database: nothing to install, nothing lost with a process."""
