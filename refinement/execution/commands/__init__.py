"""Commands of evaluators: run in a sandbox, watched, and saved."""
