"""A realistic run: a deployment guide that gets better and worse, with changes that match the feedback."""

import json

from refinement.engine.profiles import rubric_for
from refinement.models import Run
from refinement.providers.registry import Target
from tests.execution.wire.stage import Stage

TASK = "Write the deployment guide for the ingest service, for people who are on call for the first time."
TEXTS = (
    """# Deploying the ingest service

The service runs in a container and reads its settings from the environment.

## Before you start

You need access to the cluster and a database. Ask in the channel if you have neither.

## Start it

Start the container and watch the log until it says *ready*. It should be fine for most loads.

## When it goes wrong

Restart it. If that does not help, call the team that owns the database.
""",
    """# Deploying the ingest service

The service runs as **ingest 2.4** in a container on port `8080` and reads its settings from four environment
variables, listed below with their defaults.

| variable | default | meaning |
|---|---|---|
| `INGEST_DB` | none | where messages are kept |
| `INGEST_PORT` | 8080 | where it listens |

## When it goes wrong

Restart it. If that does not help, call the team that owns the database.

## Before you start

You need access to the cluster and a database. Ask in the channel if you have neither.

## Start it

Set `INGEST_DB` first: without it the service starts, answers health checks and drops every message.
Then start the container and watch the log until it says *ready*. It should be fine for most loads.

```python
client.generate_contextual_embedding_chain(ingest)
```
""",
    """# Deploying the ingest service

The service runs as **ingest 2.4** in a container on port `8080` and reads its settings from four environment
variables, listed below with their defaults.

| variable | default | meaning |
|---|---|---|
| `INGEST_DB` | none | where messages are kept |
| `INGEST_PORT` | 8080 | where it listens |

## Upgrade and roll back

Name the image tag when you upgrade. To roll back, start the previous tag: `ingest:2.3`. Messages that came in
between are kept, because the queue holds them for a day, and the service reads them again when it is ready.

## Start it

Set `INGEST_DB` first: without it the service starts, answers health checks and drops every message.
Then start the container and watch the log until it says *ready*.
""",
)
ISSUES = (
    [
        "The port on which the service listens is missing.",
        "“It should be fine for most loads” is not supported.",
    ],
    ["The rollback is missing.", "“It should be fine for most loads” is not supported by the source."],
    ["The rollback is missing.", "“It should be fine for most loads” is not supported by the source."],
)
ASIS = (
    "List the environment variables with their defaults, and say what happens without `INGEST_DB`.",
    "Show the rollback: name the previous image tag and the command that restores it.",
    "Say how long the rollback takes, and what readers see meanwhile.",
)
SCORES = ((7, 8, 7, 6, 6, 9), (9, 9, 9, 8, 9, 9), (8, 9, 8, 8, 8, 9))


def verdicts(rubric) -> list[str]:
    said = []
    for scores, issues, asi in zip(SCORES, ISSUES, ASIS, strict=True):
        criteria = {
            criterion.key: {
                "reasoning": f"{criterion.name}: the steps are in order, and what each needs is named.",
                "score": score,
                "improvement": "Say which version this was tried with.",
            }
            for criterion, score in zip(rubric.criteria, scores, strict=True)
        }
        said.append(json.dumps({"criteria": criteria, "issues": issues, "asi": asi}))
    return said


def guide_run(stage: Stage, **launch) -> Run:
    """Three rounds on the loopback server, the first text given as a seed."""
    rubric = rubric_for("wiggum")
    stage.says(judge=verdicts(rubric), producer=list(TEXTS[1:]))
    stage.server.models = ("qwen3:14b", "gemma3:27b")
    models = {"producer": Target("ollama", "qwen3:14b"), "judge": Target("ollama", "gemma3:27b")}
    return stage.play(rubric, seed=TEXTS[0], task=TASK, **(models | launch))
