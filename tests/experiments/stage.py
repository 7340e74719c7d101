"""A model server whose producers have known quality, and a judge that reports it."""

import re
from collections.abc import Callable
from random import Random

from refinement.engine.types import Rubric
from tests.execution.wire.stage import verdict
from tests.loopback.replies import Asked, Replies

Quality = Callable[[str, int], float]  # from the producer's model and the task's number to the first score
MARK = re.compile(r"Written by (\S+) for task-(\d+)")


def noise(*parts: object, spread: float = 0.3) -> float:
    """A number that is always the same for the same parts."""
    return Random(repr(parts)).gauss(0, spread)


def replies_with(rubric: Rubric, quality: Quality) -> Replies:
    def reply(asked: Asked) -> str:
        if asked.role == "judge":
            model, number = MARK.findall(asked.prompt)[-1]
            return verdict(rubric, round(quality(model, int(number)), 1))
        number = re.findall(r"task-(\d+)", asked.prompt)[-1]
        return f"# Answer\n\nWritten by {asked.body['model']} for task-{number}."

    return reply


def configurations_yaml(*names: str, rubric: str = "wiggum", **settings: object) -> str:
    """A file with a configuration for each name, which is also its producer's model."""
    lines = ["configurations:"]
    for name in names:
        lines += [
            f"  - name: {name}",
            f"    rubric: {rubric}",
            f"    producer: ollama/{name.lower()}",
            "    judge: ollama/judge",
            "    set: {policy.max_rounds: 1}",
        ]
    return "\n".join(lines) + "\n"
