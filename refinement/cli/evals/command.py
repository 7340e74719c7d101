"""`wiggum eval`: runs eval cases against models on this machine. Every case is a run."""

from contextlib import ExitStack
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from refinement.cli.evals.sending import runs_send
from refinement.cli.exits import BadInput, Exit, NotThere
from refinement.cli.options import json_option, project_option, server_options
from refinement.cli.output import print_message

if TYPE_CHECKING:
    from refinement.evals.planning import Job

EXAMPLES = """
\b
Examples:
  wiggum eval evals/
  wiggum eval evals/ --ralph --max-iterations 5 --threshold 0.9 -j 8
  wiggum eval answers.eval.yaml --target ollama/qwen3:14b --target agent
  wiggum eval evals/ --ralph --out results --resume
  wiggum eval evals/ --filter greet --badge eval.svg
  wiggum eval --check --target ollama/qwen3:14b promptfooconfig.yaml

\b
In folders, files named *.eval.yaml, *.eval.yml, eval.yaml, eval.yml (also EVAL.yaml) or promptfooconfig.yaml
and AgentV's data sets are used.
Results go to the --out folder: results.jsonl, junit.xml and summary.md. See docs/eval.md for the format.
With --server, cases still run on this machine, and their runs are then sent to the server.

\b
Exit status: 0 all cases passed, 1 a case failed, 2 wrong usage or an invalid file (nothing was run), 3 a
target or the server cannot be reached, 4 a file, a target, a model or a case was not found, or the server
refused a run, 130 interrupted (finished cases are kept; continue with --resume).
"""
DEFAULT_FOLDER = "wiggum-eval"


def share(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | None:
    """An exact number from 0 to 1."""
    if value is None:
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        raise click.BadParameter(f"{value!r} is not a number.") from None
    if not number.is_finite() or not 0 <= number <= 1:
        raise click.BadParameter(f"{value} is not between 0 and 1.")
    return number


@click.command("eval", epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option(
    "--ralph/--no-ralph",
    default=None,
    help="retry failing cases with feedback on what failed, or run each once (default: retry if the file has "
    "execution.ralph)",
)
@click.option(
    "--max-iterations",
    type=click.IntRange(1, 100),
    metavar="N",
    help="maximum attempts, if cases are retried (3)",
)
@click.option(
    "--threshold",
    callback=share,
    metavar="X",
    help="the score that passes, 0 to 1 (default: every assertion must hold)",
)
@click.option(
    "--improvement-threshold",
    callback=share,
    metavar="X",
    help="stop if the gain is smaller than this (0.05)",
)
@click.option(
    "--feedback-template",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="a Markdown template for the feedback",
)
@click.option(
    "-j", "jobs_at_once", type=click.IntRange(1, 64), default=4, metavar="N", help="cases in parallel (4)"
)
@click.option("--target", "targets", multiple=True, metavar="NAME", help="the model to test; can be repeated")
@click.option(
    "--check", is_flag=True, help="read the files and report what would run, without running anything"
)
@click.option("--strict", is_flag=True, help="refuse files with something that Wiggum ignores")
@click.option("--filter", "pattern", metavar="PATTERN", help="run only cases whose name matches this")
@click.option(
    "--rerun-failed", is_flag=True, help="keep the passed cases in --out, and run failed and new ones"
)
@click.option(
    "--badge",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="write a badge: SVG, or JSON if the name ends in .json",
)
@click.option("--suite", metavar="NAME", help="keep the cases as a suite with this name")
@click.option("--resume", is_flag=True, help="keep the finished cases in --out and run the rest")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_FOLDER,
    metavar="DIR",
    help=f"the results folder ({DEFAULT_FOLDER})",
)
@server_options
@project_option
@json_option
def eval_command(
    paths: tuple[Path, ...],
    ralph: bool | None,
    max_iterations: int | None,
    threshold: Decimal | None,
    improvement_threshold: Decimal | None,
    feedback_template: Path | None,
    targets: tuple[str, ...],
    pattern: str | None,
    suite: str | None,
    check: bool,
    strict: bool,
    server: str | None,
    token: str | None,
    project: str | None,
    **options: Any,
) -> int:
    """Run eval cases against models, and check the replies with their assertions."""
    from refinement.cli.evals.check import checked_files, ignored_lines
    from refinement.evals import reading
    from refinement.evals.finding import MissingEval, eval_files
    from refinement.evals.planning import Planner
    from refinement.evals.types import BadEval, Loop

    try:
        template = reading.feedback_template(feedback_template) if feedback_template else None
        loop = Loop(max_iterations, threshold, improvement_threshold, template)
        if check:
            return checked_files(eval_files(paths), targets, strict=strict, as_json=options["as_json"])
        files = reading.read_evals(eval_files(paths), own_targets=bool(targets), strict=strict)
        jobs = Planner(targets, loop, ralph).jobs(files)
        if pattern is not None:
            jobs = selected(jobs, pattern)
        status = evaluated(jobs, server, token, project, options, suite)
        for line in ignored_lines(files):
            print_message(line)
        return status
    except MissingEval as bad:
        raise NotThere("\n".join(bad.problems)) from None
    except BadEval as bad:
        raise BadInput("\n".join(bad.problems)) from None


def selected(jobs: "list[Job]", pattern: str) -> "list[Job]":
    from refinement.evals.choosing import chosen

    try:
        found = chosen(jobs, pattern)
    except ValueError as error:
        raise BadInput(f"--filter: {error}") from None
    if not found:
        raise NotThere(f"--filter: none of the {len(jobs):,} cases matches {pattern!r}.")
    return found


def evaluated(
    jobs: "list[Job]",
    server: str | None,
    token: str | None,
    project: str | None,
    options: dict[str, Any],
    suite: str | None = None,
) -> int:
    """Run the cases on the local database, then send their runs to the server, if any."""
    from refinement.cli.instances.opening import local_opened, token_given
    from refinement.cli.instances.remote import remote_opened

    with ExitStack() as opened:
        remote = None
        if server:
            remote = opened.enter_context(remote_opened(server, token_given(token), project))
            required = remote.settings()  # fails early if the server or the token does not work
        local = opened.enter_context(local_opened(None if server else project))
        from refinement.cli.evals.runs import Evaluation

        if suite is not None:
            from refinement.cli.evals.suite import suite_keep

            suite_keep(local.project, suite, jobs)
        from refinement.selectors.trust.gate import Rule

        rule = Rule.of_settings(required) if remote else None
        evaluation = Evaluation(local.project, jobs, **options, rule=rule)
        status = evaluation.carry_out()
        if remote is not None and not runs_send(local, remote, evaluation.found()):
            return Exit.REFUSED
        return status
