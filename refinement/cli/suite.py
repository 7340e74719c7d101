"""`wiggum suite`: suites of tasks, and experiments with them."""

import click

from refinement.cli.suite_run import suite_run


@click.group()
def suite() -> None:
    """Push, list and show suites, and run them."""


suite.add_command(suite_run)
