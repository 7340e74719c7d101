"""Runs one task in the foreground and prints the best text."""

import json
import signal
import sys
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from refinement.cli.exits import OUTCOMES, Exit
from refinement.cli.inputs import changes, seed_of, sources_of, text_of
from refinement.cli.run_words import asking_words
from refinement.engine.codec import rubric_from_json, rubric_with
from refinement.engine.types import JudgeMode, Outcome
from refinement.execution.calls import LocalResources
from refinement.execution.foreground import RunBusy, foreground_resume, run_in_foreground
from refinement.execution.steps.step import StepOptions
from refinement.management.plain_errors import plain_database_errors
from refinement.management.progress import Progress
from refinement.models import Run, RunStatus
from refinement.providers.registry import Target, parse_target, scripted_specs
from refinement.selectors.endpoints import endpoint_spec
from refinement.selectors.rubrics.definitions import definition_of, version_named
from refinement.selectors.runs.reports import run_report
from refinement.services.projects.local import project_named
from refinement.services.runs.creating import run_create
from refinement.services.runs.launching import contexts_check
from refinement.services.runs.lifecycle import WrongState, run_resume
from refinement.services.runs.plateau import ANSWERS, plateau_answer

EXIT_USAGE = Exit.USAGE
EXIT_INTERRUPTED = Exit.INTERRUPTED
EXIT_CODES = {Outcome(outcome): code for outcome, code in OUTCOMES.items()}
EPILOG = (
    "Exit status: 0 PASS or DONE, 1 FAIL, 2 wrong usage, 3 ERROR, 5 waits for a decision, "
    "130 interrupted or cancelled. "
    "Example: wiggum refine --rubric wiggum --task 'Explain our backups' "
    "--producer ollama/qwen3:14b --judge ollama/gemma3:27b"
)


class Command(BaseCommand):
    help = "Runs one task through the loop and prints the best text."
    requires_migrations_checks = False

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> Any:
        return super().create_parser(prog_name, subcommand, epilog=EPILOG, **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("--rubric", metavar="SLUG[@VERSION]", help="wiggum, ralph, simmer, or another rubric")
        add("--task", metavar="TEXT|@FILE", help="what the text or code is for")
        add("--task-type", metavar="TYPE", help="a label such as research or how-to, to group runs")
        add("--seed", metavar="FILE|-", help="the text to start from (default: a first draft)")
        add("--source", action="append", default=[], metavar="FILE", dest="sources")
        add("--producer", metavar="ENDPOINT/MODEL", help="the writer: ollama/NAME, embedded, scripted:FILE")
        add("--judge", metavar="ENDPOINT/MODEL", help="the judge; not needed without criteria")
        add("--held-out", metavar="ENDPOINT/MODEL", help="a judge that scores the result at the end")
        add("--clerk", metavar="ENDPOINT/MODEL", help="the clerk (default: the rubric's, or the judge)")
        add(
            "--judges", choices=[mode.value for mode in JudgeMode], help="who judges, instead of the rubric's"
        )
        add("--max-rounds", type=int, metavar="N")
        add("--threshold", metavar="X", help="the passing score")
        add("--set", action="append", default=[], metavar="policy.key=value", dest="overrides")
        add("--project", metavar="SLUG", help="the project; 'local' on an instance without accounts")
        add("--detach", action="store_true", help="queue the run for the workers and print its number")
        add("--resume", type=int, metavar="RUN", help="continue an interrupted run")
        add("--answer", choices=ANSWERS, help="with --resume: the answer to a run that waits at its plateau")
        add("--json", action="store_true", dest="as_json", help="print JSON instead of the text")

    def handle(self, *args: Any, **options: Any) -> None:
        signal.signal(signal.SIGTERM, as_interrupt)
        with plain_database_errors():
            try:
                run = resumed(options) if options["resume"] is not None else created(options)
            except (ValueError, LookupError, RunBusy, WrongState) as error:
                raise usage_error(str(error)) from None
            except ValidationError as error:
                raise usage_error(" ".join(error.messages)) from None
            if options["detach"]:
                self.queued(run, as_json=options["as_json"])
            else:
                self.carry_out(run, as_json=options["as_json"])

    def queued(self, run: Run, *, as_json: bool) -> None:
        self.stdout.write(json.dumps({"run": run.pk, "status": run.status}) if as_json else str(run.pk))

    def carry_out(self, run: Run, *, as_json: bool) -> None:
        progress = Progress(sys.stderr, run, rubric_from_json(run.snapshot))
        local = LocalResources(scripted_specs(*endpoints_of(run)))
        options = StepOptions(on_step=progress.step, on_text=progress.text, local=local)
        try:
            if not run.is_finished:
                run_in_foreground(run.pk, options, progress.waiting)
        except KeyboardInterrupt:
            progress.done(f"Interrupted. To continue: wiggum refine --resume {run.pk}")
            sys.exit(EXIT_INTERRUPTED)
        except RunBusy as error:
            raise CommandError(str(error), returncode=3) from None
        run.refresh_from_db()
        if run.is_asking:
            progress.done(asking_words(run.pk, "wiggum refine --resume {} --answer {}"))
            if as_json:
                self.print_result(run, as_json=True)
            sys.exit(Exit.ASKING)
        if not run.is_finished:
            progress.done(
                f"Run {run.pk} is now {run.get_status_display().lower()}; another process took it over."
            )
            sys.exit(EXIT_INTERRUPTED)
        progress.done(f"{run.outcome}: {run.why}")
        self.print_result(run, as_json=as_json)
        sys.exit(EXIT_CODES[Outcome(run.outcome)])

    def print_result(self, run: Run, *, as_json: bool) -> None:
        report = run_report(run)
        if as_json:
            self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))
        elif report["best_candidate"]:
            self.stdout.write(report["best_candidate"])


def created(options: dict[str, Any]) -> Run:
    """Create the run from the options. Raises ValueError, LookupError, ValidationError."""
    for name in ("rubric", "task", "producer"):
        if not options[name]:
            raise ValueError(f"--{name} is required; see refine --help.")
    task, seed = text_of(options["task"]), seed_of(options["seed"])
    sources = sources_of(options["sources"])
    project = project_named(options["project"])
    version = version_named(project, options["rubric"])
    definition = rubric_with(definition_of(version), changes(options))
    if definition.criteria and not options["judge"]:
        raise ValueError("--judge is required, because this rubric has criteria.")
    producer = target(options["producer"], detach=options["detach"])
    judge = target(options["judge"], detach=options["detach"]) if options["judge"] else producer
    clerk = target(options["clerk"], detach=options["detach"]) if options["clerk"] else None
    held_out = target(options["held_out"], detach=True) if options["held_out"] else None
    contexts_check(
        definition=definition, task=task, seed=seed, sources=sources, producer=producer, judge=judge
    )
    return run_create(
        project=project,
        version=version,
        task=task,
        task_type=options["task_type"] or "",
        seed=seed,
        sources=sources,
        producer=producer,
        judge=judge,
        clerk=clerk,
        held_out=held_out,
        definition=definition,
        status=RunStatus.QUEUED if options["detach"] else RunStatus.RUNNING,
    )


def resumed(options: dict[str, Any]) -> Run:
    """The run to continue, answered if it asks. Raises ValueError, LookupError, RunBusy, WrongState."""
    number, answer, detach = options["resume"], options["answer"], options["detach"]
    try:
        run = Run.objects.get(pk=number)
    except Run.DoesNotExist:
        raise LookupError(f"run {number} does not exist.") from None
    if answer:
        return plateau_answer(run=run, answer=answer, status="queued" if detach else "running")
    if run.is_asking:
        raise ValueError(f"run {number} waits for a decision: add --answer stop or --answer continue.")
    return run_resume(run=run) if detach else foreground_resume(number)


def endpoints_of(run: Run) -> list[str]:
    """The endpoints of all models that the run may call."""
    panel = run.panel.values_list("endpoint", flat=True)
    return [run.producer_endpoint, run.judge_endpoint, run.clerk_endpoint, *panel]


def target(text: str, *, detach: bool) -> Target:
    """The endpoint and model. Scripted endpoints do not work in a detached run. Raises ValueError."""
    parsed = parse_target(text)
    if detach or not scripted_specs(parsed.endpoint):
        endpoint_spec(parsed.endpoint)
    return parsed


def usage_error(message: str) -> CommandError:
    return CommandError(message, returncode=EXIT_USAGE)


def as_interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
