"""`wiggum refine`: one task through the loop, here or on an instance elsewhere."""

from typing import Any

import click

from refinement.cli.completion import complete_rubrics
from refinement.cli.options import json_option, project_option
from refinement.cli.serving import managed

EXAMPLES = """
\b
Examples:
  wiggum refine --rubric wiggum --task "Explain our backups" \\
      --producer ollama/qwen3:14b --judge ollama/gemma3:27b > backups.md
  wiggum refine --rubric briefs@3 --task @task.md --seed draft.md --producer embedded --judge embedded
  wiggum refine --resume 42

\b
Progress goes to stderr, the best candidate to stdout. Exit status: 0 PASS or DONE, 1 FAIL, 2 wrong usage,
3 ERROR, 130 interrupted or cancelled.
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--rubric",
    metavar="SLUG[@VERSION]",
    help="wiggum, ralph, simmer, or any rubric",
    shell_complete=complete_rubrics,
)
@click.option("--task", metavar="TEXT|@FILE", help="what the text or code is for")
@click.option("--seed", metavar="FILE|-", help="the text to start from; without it a first draft is written")
@click.option("--producer", metavar="ENDPOINT/MODEL", help="who writes: ollama/NAME, embedded, scripted:FILE")
@click.option("--judge", metavar="ENDPOINT/MODEL", help="who judges; not needed for a rubric of checks alone")
@click.option("--max-rounds", type=int, metavar="N", help="at most so many rounds")
@click.option("--threshold", metavar="X", help="the composite that passes")
@click.option(
    "--set", "overrides", multiple=True, metavar="policy.key=value", help="change the rubric for this run"
)
@click.option("--detach", is_flag=True, help="leave the run to the workers and print its number")
@click.option("--resume", type=int, metavar="RUN", help="go on with an interrupted run")
@project_option
@json_option
def refine(overrides: tuple[str, ...], **options: Any) -> None:
    """Take one task and one text through the loop and print the best candidate."""
    managed("refine", overrides=list(overrides), **options)
