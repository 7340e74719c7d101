"""The command `wiggum`: what there is, and where."""

import os

import click

from refinement.cli.groups import Place, RootGroup
from wiggum_site import VERSION

PLACES = {
    "up": Place("refinement.cli.serving", "up", "Start Wiggum on this machine: web and worker."),
    "worker": Place("refinement.cli.serving", "worker", "Start one more worker process."),
    "migrate": Place("refinement.cli.serving", "migrate", "Make the database's tables."),
    "refine": Place("refinement.cli.refine", "refine", "Take one task through the loop."),
    "eval": Place("refinement.cli.eval", "eval_command", "Run evaluation files; for CI."),
    "rubric": Place("refinement.cli.rubric", "rubric", "List, pull and push rubrics as YAML files."),
    "run": Place("refinement.cli.run", "run", "List, show, watch, steer and export runs."),
    "import": Place("refinement.cli.imports", "import_command", "Bring in what other loops recorded."),
    "doctor": Place("refinement.cli.doctor.command", "doctor", "Say what is wrong, and what to do."),
    "completion": Place("refinement.cli.completion", "completion", "Print what a shell needs to complete."),
}
EPILOG = """
\b
Examples:
  wiggum up
  wiggum refine --rubric wiggum --task "Explain our backups" \\
      --producer ollama/qwen3:14b --judge ollama/gemma3:27b
  wiggum run list --status running
  wiggum run watch 42 --server https://wiggum.example.org

\b
Exit status: 0 well, 1 the thing failed (a run's FAIL, an evaluation's), 2 wrong usage, 3 something cannot
be reached or is misconfigured, 4 not found or not allowed, 130 interrupted.

Commands use the database of this checkout, or with --server (WIGGUM_SERVER) and a token (WIGGUM_TOKEN) an
instance elsewhere. `wiggum COMMAND --help` has examples of each.
"""


@click.group(
    cls=RootGroup,
    places=PLACES,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="wiggum")
@click.pass_context
def wiggum(ctx: click.Context) -> None:
    """Refine texts and code with judges you can defend."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
