"""The evaluator sandbox: ordinary commands, attempts to escape, and the service that runs it separately."""
