"""`wiggum refine`: runs one task through the loop, locally or on a remote instance."""

import sys
from typing import TYPE_CHECKING, Any

import click

from refinement.cli.completion import complete_rubrics
from refinement.cli.exits import OUTCOMES, BadInput, Exit
from refinement.cli.inputs import changes, seed_of, sources_of, text_of
from refinement.cli.instances.base import NewRun
from refinement.cli.options import json_option, project_option, server_options
from refinement.cli.output import print_json, print_message
from refinement.cli.serving import managed
from refinement.cli.watching import watched

if TYPE_CHECKING:
    from refinement.cli.instances.remote import RemoteInstance

EXAMPLES = """
\b
Examples:
  wiggum refine --rubric wiggum --task "Explain our backups" \\
      --producer ollama/qwen3:14b --judge ollama/gemma3:27b > backups.md
  wiggum refine --rubric briefs@3 --task @task.md --seed draft.md --producer embedded --judge embedded
  wiggum refine --rubric simmer --judges board --clerk ollama/qwen3:4b --task @task.md --seed draft.md \\
      --producer ollama/qwen3:14b --judge ollama/gemma3:27b
  wiggum refine --resume 42

\b
Progress goes to stderr, the best candidate to stdout. Exit status: 0 PASS or DONE, 1 FAIL, 2 wrong usage,
3 ERROR, 5 the run waits for a decision, 130 interrupted or cancelled.
"""


@click.command(epilog=EXAMPLES)
@click.option(
    "--rubric",
    metavar="SLUG[@VERSION]",
    help="wiggum, ralph, simmer, or another rubric",
    shell_complete=complete_rubrics,
)
@click.option("--task", metavar="TEXT|@FILE", help="what the text or code is for")
@click.option("--task-type", metavar="TYPE", help="a label such as research or how-to, to group runs")
@click.option("--seed", metavar="FILE|-", help="the text to start from (default: a first draft)")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="FILE",
    help="a text that the result must be grounded in; can be repeated",
)
@click.option("--producer", metavar="ENDPOINT/MODEL", help="the writer: ollama/NAME, embedded, scripted:FILE")
@click.option("--judge", metavar="ENDPOINT/MODEL", help="the judge; not needed without criteria")
@click.option("--clerk", metavar="ENDPOINT/MODEL", help="the clerk (default: the rubric's, or the judge)")
@click.option(
    "--held-out", metavar="ENDPOINT/MODEL", help="a judge that scores the first and the best round at the end"
)
@click.option(
    "--judges", type=click.Choice(["single", "board", "auto"]), help="who judges, instead of the rubric's"
)
@click.option("--max-rounds", type=int, metavar="N", help="maximum number of rounds")
@click.option("--threshold", metavar="X", help="the passing score")
@click.option(
    "--set", "overrides", multiple=True, metavar="policy.key=value", help="change the rubric for this run"
)
@click.option("--detach", is_flag=True, help="leave the run to the workers and print its number")
@click.option("--resume", type=int, metavar="RUN", help="continue an interrupted run")
@click.option(
    "--answer",
    type=click.Choice(["stop", "continue"]),
    help="with --resume: the answer to a run that waits at its plateau",
)
@server_options
@project_option
@json_option
def refine(
    server: str | None,
    token: str | None,
    overrides: tuple[str, ...],
    sources: tuple[str, ...],
    **options: Any,
) -> None:
    """Run one task through the loop and print the best candidate.

    With --server, the run is created there and executed by that instance's workers and endpoints. Ctrl-C then
    stops watching, but not the run.
    """
    options["overrides"], options["sources"] = list(overrides), list(sources)
    if options["answer"] and options["resume"] is None:
        raise BadInput("--answer requires --resume RUN.")
    if not server:
        managed("refine", **options)
        return
    from refinement.cli.instances.opening import token_given
    from refinement.cli.instances.remote import remote_opened

    with remote_opened(server, token_given(token), options["project"]) as instance:
        refine_on_server(instance, options)


def refine_on_server(instance: "RemoteInstance", options: dict[str, Any]) -> None:
    """Create the run on a remote instance, watch it and print the result."""
    number, as_json = started_on_server(instance, options), options["as_json"]
    if options["detach"]:
        if as_json:
            print_json({"run": number, "status": "queued"})
        else:
            click.echo(str(number))
        return
    print_message(f"Started run {number} on {instance.wire.server}. Watch it: wiggum run watch {number}")
    last = watched(instance, number, as_json=False, until_asking=True)
    report = instance.run_report(number)
    if as_json:
        print_json(report)
    elif last["asking"]:
        sys.exit(Exit.ASKING)
    elif report["best_candidate"]:
        click.echo(report["best_candidate"])
    sys.exit(Exit.ASKING if last["asking"] else OUTCOMES[last["outcome"]])


def started_on_server(instance: "RemoteInstance", options: dict[str, Any]) -> int:
    if options["resume"] is not None:
        if options["answer"]:
            return instance.run_answer(options["resume"], options["answer"])["run"]
        return instance.run_act(options["resume"], "resume")["run"]
    for name in ("rubric", "task", "producer"):
        if not options[name]:
            raise BadInput(f"--{name} is required; see wiggum refine --help.")
    try:
        new = NewRun(
            rubric=options["rubric"],
            task=text_of(options["task"]),
            task_type=options["task_type"] or "",
            seed=seed_of(options["seed"]),
            sources=sources_of(options["sources"]),
            producer=options["producer"],
            judge=options["judge"] or "",
            clerk=options["clerk"] or "",
            held_out=options["held_out"] or "",
            changes=changes(options),
        )
    except ValueError as error:
        raise BadInput(str(error)) from None
    return instance.run_create(new)["run"]
