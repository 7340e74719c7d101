"""Queues runs for a stage: reads the tasks from its argument, and prints the numbers of the runs."""

import json
import sys

import django

POLICY = {"policy.stop_rules": "max_rounds", "policy.max_rounds": "3"}
BOARD = {"policy.stop_rules": "max_rounds", "policy.max_rounds": "2", "judges.mode": "board"}


def launched(tasks: list[str], *, board: bool) -> list[int]:
    """Creates runs with the same course; returns their numbers. The clerk composes a board's panel."""
    from refinement.engine.codec import rubric_with
    from refinement.providers.registry import Target
    from refinement.selectors.rubrics.definitions import definition_of, version_named
    from refinement.services.projects.local import local_project
    from refinement.services.runs.creating import run_create

    project = local_project()
    version = version_named(project, "wiggum")
    definition = rubric_with(definition_of(version), BOARD if board else POLICY)
    models = {"producer": Target("ollama", "loopback:1b"), "judge": Target("ollama", "loopback:8b")}
    return [
        run_create(project=project, version=version, definition=definition, task=task, **models).pk
        for task in tasks
    ]


def main() -> None:
    django.setup()
    wanted = json.loads(sys.argv[1])
    print(json.dumps(launched(wanted["tasks"], board=wanted["board"])))


if __name__ == "__main__":
    main()
