"""`wiggum eval`: cases from files, asked of targets on this machine, every one of them a run."""

from contextlib import ExitStack
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from refinement.cli.eval_sending import runs_send
from refinement.cli.exits import BadInput, Exit
from refinement.cli.instances.base import RunQuery
from refinement.cli.options import json_option, project_option, server_options

if TYPE_CHECKING:
    from refinement.evals.planning import Job

EXAMPLES = """
\b
Examples:
  wiggum eval evals/
  wiggum eval evals/ --ralph --max-iterations 5 --threshold 0.9 -j 8
  wiggum eval answers.eval.yaml --target ollama/qwen3:14b --target agent
  wiggum eval evals/ --ralph --out results --resume

\b
In folders, files named *.eval.yaml, *.eval.yml, eval.yaml or eval.yml are taken (EVAL.yaml as well).
Results go to the folder of --out: results.jsonl, junit.xml and summary.md. docs/eval.md has the format.
With --server, cases run here all the same, and their runs are then sent to a project there.

\b
Exit status: 0 all cases passed, 1 a case failed, 2 wrong usage or a file that is not right (nothing was
run), 3 a target or the server cannot be reached, 4 the server refused, 130 interrupted (finished cases are
kept; go on with --resume).
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
        raise click.BadParameter(f"{value} does not lie between 0 and 1.")
    return number


@click.command("eval", epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option("--ralph", is_flag=True, help="ask failing cases again with feedback on what failed")
@click.option(
    "--max-iterations", type=click.IntRange(1, 100), metavar="N", help="how often at most (with --ralph; 3)"
)
@click.option("--threshold", callback=share, metavar="X", help="the score that passes, 0 to 1 (0.8)")
@click.option(
    "--improvement-threshold",
    callback=share,
    metavar="X",
    help="stop when a gain is smaller than this (0.05)",
)
@click.option(
    "--feedback-template",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="a Markdown file that words the feedback",
)
@click.option(
    "-j", "jobs_at_once", type=click.IntRange(1, 64), default=4, metavar="N", help="cases at a time (4)"
)
@click.option("--target", "targets", multiple=True, metavar="NAME", help="whom to ask; may be given again")
@click.option("--resume", is_flag=True, help="keep what finished in --out and go on with the rest")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_FOLDER,
    metavar="DIR",
    help=f"the folder of results ({DEFAULT_FOLDER})",
)
@server_options
@project_option
@json_option
def eval_command(
    paths: tuple[Path, ...],
    ralph: bool,
    max_iterations: int | None,
    threshold: Decimal | None,
    improvement_threshold: Decimal | None,
    feedback_template: Path | None,
    targets: tuple[str, ...],
    server: str | None,
    token: str | None,
    project: str | None,
    **options: Any,
) -> int:
    """Ask the cases of eval files, and judge the answers by their assertions."""
    from refinement.evals import reading
    from refinement.evals.finding import eval_files
    from refinement.evals.planning import Planner
    from refinement.evals.types import BadEval, Loop

    try:
        template = reading.feedback_template(feedback_template) if feedback_template else None
        loop = Loop(max_iterations, threshold, improvement_threshold, template)
        jobs = Planner(targets, loop, ralph).jobs(reading.read_evals(eval_files(paths)))
        return evaluated(jobs, server, token, project, options)
    except BadEval as bad:
        raise BadInput("\n".join(bad.problems)) from None


def evaluated(
    jobs: "list[Job]", server: str | None, token: str | None, project: str | None, options: dict[str, Any]
) -> int:
    """Runs the cases here, on the local database; a server gets their runs afterwards."""
    from refinement.cli.instances.opening import instance_opened, local_opened

    with ExitStack() as opened:
        remote = None
        if server:
            remote = opened.enter_context(instance_opened(server=server, token=token, project=project))
            remote.runs(
                RunQuery(), 1
            )  # a server that does not answer, or not us, is told before anything runs
        local = opened.enter_context(local_opened(None if server else project))
        from refinement.cli.eval_runs import Evaluation

        evaluation = Evaluation(local.project, jobs, **options)
        status = evaluation.carry_out()
        if remote is not None and not runs_send(local, remote, evaluation.found()):
            return Exit.REFUSED
        return status
