"""The evaluator sandbox: ordinary commands, attempts to get out of it, and the service that runs it apart."""
