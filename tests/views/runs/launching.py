"""Form data for the launch form, and the models that it offers."""

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
    """Form data for a valid launch, with all warnings confirmed."""
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
