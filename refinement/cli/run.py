"""`wiggum run`: lists, shows, controls and exports runs."""

import sys
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click

from refinement.cli.completion import complete_rubrics, complete_runs
from refinement.cli.exits import OUTCOMES, BadInput
from refinement.cli.instances.base import (
    MANY_FORMS,
    RUN_FORMS,
    TRAINING_FORMS,
    Instance,
    RunLine,
    RunQuery,
    Training,
    Verb,
)
from refinement.cli.options import on_instance
from refinement.cli.output import print_json, print_message, print_table
from refinement.cli.run_words import print_report
from refinement.cli.watching import watched

COLUMNS = {
    "run": "RUN", "state": "STATE", "best": "BEST", "rounds_judged": "ROUNDS", "rubric": "RUBRIC",
    "judge": "JUDGE", "created": "CREATED", "title": "TITLE",
}  # fmt: skip
STATUSES = ("queued", "running", "waiting", "paused", "finished")
MOST_LISTED = 1_000
MOST_AMOUNT = 10**8


@click.group()
def run() -> None:
    """List, show, watch, control and export runs."""


def filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the filter options, and passes them to the command as one `query`."""

    def narrowed(instance: Instance, *args: Any, **options: Any) -> Any:
        names = ("status", "outcome", "rubric", "task_type", "tag", "words", "since", "archived")
        values = {name: options.pop(name) for name in names}
        query = RunQuery(**{name: value for name, value in values.items() if value})
        return command(instance, *args, query=query, **options)

    narrowed.__name__, narrowed.__doc__ = command.__name__, command.__doc__
    narrowed.__click_params__ = list(getattr(command, "__click_params__", []))  # type: ignore[attr-defined]
    for option in reversed(
        [
            click.option("--status", type=click.Choice(STATUSES), help="with this status"),
            click.option("--outcome", type=click.Choice(list(OUTCOMES)), help="with this outcome"),
            click.option(
                "--rubric", metavar="SLUG", help="with this rubric", shell_complete=complete_rubrics
            ),
            click.option("--task-type", metavar="TYPE", help="with this task type"),
            click.option("--tag", help="with this tag"),
            click.option("--search", "words", metavar="WORDS", help="search in tasks and texts"),
            click.option("--since", type=day, metavar="YYYY-MM-DD", help="created on this day or later"),
            click.option("--archived", is_flag=True, help="archived runs instead"),
        ]
    ):
        option(narrowed)
    return narrowed


def day(value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a date; write it like 2026-03-31.") from None


def amount(value: str) -> Decimal:
    try:
        number = Decimal(value)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or abs(number) >= MOST_AMOUNT or number != round(number, 6):
        raise click.BadParameter(f"{value!r} is not a score; write it like 8.5.")
    return number


LIST_EXAMPLES = """
\b
Examples:
  wiggum run list --status running
  wiggum run list --rubric briefs --outcome FAIL --since 2026-03-01
  wiggum run list --json | jq -r '.runs[] | [.run, .best] | @tsv'
"""


@run.command("list", epilog=LIST_EXAMPLES)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_LISTED),
    default=25,
    show_default=True,
    help="maximum number of runs",
)
@on_instance
@filters
def run_list(instance: Instance, query: RunQuery, limit: int, as_json: bool) -> None:
    """List runs, newest first."""
    lines = instance.runs(query, limit)
    if as_json:
        print_json({"runs": lines})
    elif lines:
        print_table(COLUMNS, [table_row(line) for line in lines], wide="title")
    else:
        print_message("No runs found.")


def table_row(line: RunLine) -> dict[str, Any]:
    created = datetime.fromisoformat(line["created_at"]).astimezone()
    return {
        **line,
        "state": line["outcome"] or line["status"],
        "created": f"{created:%Y-%m-%d %H:%M}",
        "judge": line["judge"].partition("/")[2],
    }


def number_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument(
        "number", metavar="RUN", type=click.IntRange(min=1, max=2**63 - 1), shell_complete=complete_runs
    )(command)


@run.command(
    "show", epilog="\b\nExamples:\n  wiggum run show 42\n  wiggum run show 42 --json | jq .best_candidate -r"
)
@number_argument
@on_instance
def run_show(instance: Instance, number: int, as_json: bool) -> None:
    """Show a run: why it stopped, and the scores of its rounds."""
    report = instance.run_report(number)
    if as_json:
        print_json(report)
    else:
        print_report(report)


WATCH_EXAMPLES = """
\b
Examples:
  wiggum run watch 42 && echo passed
  wiggum run watch 42 --json | jq -r '[.status, .best] | @tsv'

\b
The exit status is the run's: 0 PASS or DONE, 1 FAIL, 3 ERROR, 130 CANCELLED. Ctrl-C stops watching, but not
the run.
"""


@run.command("watch", epilog=WATCH_EXAMPLES)
@number_argument
@on_instance
def run_watch(instance: Instance, number: int, as_json: bool) -> None:
    """Follow a run until it ends. With --json, print a line for each change."""
    last = watched(instance, number, as_json=as_json)
    sys.exit(OUTCOMES[last["outcome"]])


def action(verb: Verb, summary: str, done: str) -> click.Command:
    def act(instance: Instance, numbers: tuple[int, ...], as_json: bool) -> None:
        lines = []
        for number in numbers:
            lines.append(instance.run_act(number, verb))
            print_message(f"Run {number} {done}.")
        if as_json:
            print_json({"runs": lines})

    act.__doc__ = summary
    numbers = click.argument(
        "numbers",
        metavar="RUN...",
        nargs=-1,
        required=True,
        type=click.IntRange(min=1, max=2**63 - 1),
        shell_complete=complete_runs,
    )
    examples = f"\b\nExamples:\n  wiggum run {verb} 42\n  wiggum run {verb} 42 43 44"
    return run.command(verb, epilog=examples)(numbers(on_instance(act)))


run_cancel = action("cancel", "Cancel runs.", "cancelled")
run_pause = action("pause", "Pause runs. Finished steps are kept.", "paused")
run_resume = action("resume", "Resume paused runs.", "resumed")
run_retry = action(
    "retry", "Retry runs that ended in ERROR, from their last completed step.", "is queued again"
)

ANSWER_EXAMPLES = """
\b
Examples:
  wiggum run answer 42 stop          end the run; its best round is the result
  wiggum run answer 42 continue      two more rounds, judged by a board
"""


@run.command("answer", epilog=ANSWER_EXAMPLES)
@number_argument
@click.argument("answer", type=click.Choice(["stop", "continue"]))
@on_instance
def run_answer(instance: Instance, number: int, answer: str, as_json: bool) -> None:
    """Answer a run that has stopped improving and asks whether to go on."""
    line = instance.run_answer(number, answer)
    done = "ends with its best round" if answer == "stop" else "continues with two more rounds"
    print_message(f"Run {number} {done}.")
    if as_json:
        print_json({"runs": [line]})


EXPORT_EXAMPLES = """
\b
Examples:
  wiggum run export 42 --format txt > backups.md     the result
  wiggum run export 42 --out run-42.json             the whole run; see docs/run-json.md
  wiggum run export --format jsonl --rubric briefs --out runs.jsonl
  wiggum run export --format pairs --least 1 --out pairs.jsonl    see docs/training-pairs.md
"""


@run.command("export", epilog=EXPORT_EXAMPLES)
@click.argument(
    "number",
    metavar="[RUN]",
    required=False,
    type=click.IntRange(min=1, max=2**63 - 1),
    shell_complete=complete_runs,
)
@click.option(
    "--format",
    "form",
    type=click.Choice([*RUN_FORMS, *MANY_FORMS, *TRAINING_FORMS]),
    help="one run: json (default), md or txt; many: jsonl (default) or csv; either: sft or pairs",
)
@click.option(
    "--least", type=amount, metavar="NUMBER", help="sft: the minimum score; pairs: the minimum difference"
)
@click.option("--with-imported", is_flag=True, help="sft, pairs: include imported runs")
@click.option("--out", metavar="FILE|-", default="-", help="the output file (default: stdout)")
@on_instance
@filters
def run_export(
    instance: Instance,
    number: int | None,
    form: str | None,
    out: str,
    least: Decimal | None,
    with_imported: bool,
    query: RunQuery,
    as_json: bool,
) -> None:
    """Export one run, all runs that match the filters, or training data."""
    allowed = MANY_FORMS[::-1] if number is None else RUN_FORMS
    form = form or allowed[0]
    if form not in (*allowed, *TRAINING_FORMS):
        what = "many runs are" if number is None else "one run is"
        raise BadInput(f"{what} exported as {' or '.join(allowed)}, not as {form}.")
    if form not in TRAINING_FORMS and (least is not None or with_imported):
        raise BadInput("--least and --with-imported are for --format sft and --format pairs.")
    if number is not None and query != RunQuery():
        raise BadInput("a run's number and filters cannot be combined.")
    if as_json and out == "-":
        raise BadInput("--json requires --out FILE, because the export itself goes to stdout.")
    if form in TRAINING_FORMS:
        pieces = instance.training_document(query, Training(form, number, least, with_imported))
    elif number is None:
        pieces = instance.runs_document(query, form)
    else:
        pieces = instance.run_document(number, form)
    size = written(pieces, out)
    if as_json:
        print_json({"run": number, "format": form, "file": out, "bytes": size})


def written(pieces: Iterator[str], out: str) -> int:
    """Write the stream to the file, and return its size in bytes."""
    if out == "-":
        for piece in pieces:
            click.echo(piece, nl=False)
        return 0
    size, part = 0, Path(f"{out}.part")
    try:
        with part.open("wb") as file:
            for piece in pieces:
                size += file.write(piece.encode())
        part.replace(out)
    except OSError as error:
        raise BadInput(f"cannot write {out}: {error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)
    return size
