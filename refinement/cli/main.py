"""The command `wiggum` and its list of subcommands."""

import os

import click

from refinement.cli.groups import LazyCommand, RootGroup
from wiggum_site import VERSION

COMMANDS = {
    "up": LazyCommand("refinement.cli.serving", "up", "Start Wiggum: web and worker process."),
    "worker": LazyCommand("refinement.cli.serving", "worker", "Start another worker process."),
    "migrate": LazyCommand("refinement.cli.serving", "migrate", "Create or update the database tables."),
    "refine": LazyCommand("refinement.cli.refine", "refine", "Run one task through the loop."),
    "eval": LazyCommand("refinement.cli.evals.command", "eval_command", "Run eval files, for CI."),
    "rubric": LazyCommand("refinement.cli.rubric", "rubric", "List, pull and push rubrics as YAML."),
    "suite": LazyCommand("refinement.cli.suites.command", "suite", "Push suites, and run them for CI."),
    "labels": LazyCommand("refinement.cli.labels", "labels", "Import, list and export labels by people."),
    "trust": LazyCommand("refinement.cli.trust", "trust", "Show what a judge's scores are worth."),
    "run": LazyCommand("refinement.cli.run", "run", "List, show, watch, control and export runs."),
    "import": LazyCommand("refinement.cli.imports", "import_command", "Import runs from other tools."),
    "doctor": LazyCommand(
        "refinement.cli.doctor.command", "doctor", "Find problems and say how to fix them."
    ),
    "completion": LazyCommand(
        "refinement.cli.completion", "completion", "Print the shell completion script."
    ),
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
Exit status: 0 success, 1 failure (a run ended in FAIL, an eval case failed), 2 wrong usage, 3 something
cannot be reached or is misconfigured, 4 not found or not allowed, 5 a run waits for a decision, 130
interrupted.

Commands use the database of this checkout. To use a remote instance, pass --server (or set WIGGUM_SERVER) and
a token (WIGGUM_TOKEN). For examples, run `wiggum COMMAND --help`.
"""


@click.group(
    cls=RootGroup,
    commands_by_name=COMMANDS,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="wiggum")
@click.pass_context
def wiggum(ctx: click.Context) -> None:
    """Refine texts and code with judges you can defend."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
