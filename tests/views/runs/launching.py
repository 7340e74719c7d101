"""What tests of the launch form send, and where models come from."""

from typing import Any

TASK = "Explain how our backups are made."
NEW = "/p/alpha/runs/new/"
ESTIMATE = "/p/alpha/runs/new/estimate/"
EVERY_WARNING = (
    *("same_family", "same_model", "long-seed", "no-worker", "context"),
    *("down-ollama", "down-embedded", "unknown-producer", "unknown-judge", "embedded"),
    *("long-sources", "producer-context", "hidden-sources-judge", "hidden-sources-producer"),
)


def filled(**changes: Any) -> dict[str, Any]:
    """A form that launches; every warning has been read."""
    return {
        "key": "one-form",
        "task": TASK,
        "start": "draft",
        "rubric": "wiggum",
        "producer": "ollama/loopback:1b",
        "judge": "ollama/loopback:8b",
        "repeats": "1",
        "warned": list(EVERY_WARNING),
        **changes,
    }
