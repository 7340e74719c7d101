"""Runs an evaluation: cases in threads, results as they finish, and the exit code."""

import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue

import click
from django.core.exceptions import ValidationError
from django.db import connections

from refinement.cli.evals.targets import absence
from refinement.cli.exits import BadInput, Exit
from refinement.cli.output import print_json, print_message, shown
from refinement.cli.terminal import StatusLine
from refinement.engine.types import Outcome
from refinement.evals.local.workspaces import Opened, WorkspaceError, Workspaces
from refinement.evals.planning import Job
from refinement.evals.reports.badge import badge
from refinement.evals.reports.junit import failures, junit_xml, name_of
from refinement.evals.reports.results import (
    FORMAT_VERSION,
    Result,
    Results,
    is_unproven,
    passed_of,
    write_atomically,
)
from refinement.evals.reports.summary import summary_markdown
from refinement.evals.reports.trials import trials_of
from refinement.execution.foreground import RunBusy
from refinement.execution.steps.step import StepResult
from refinement.management.commands.refine import as_interrupt
from refinement.models import Project, RubricVersion, Run
from refinement.selectors.runs.eval_results import eval_result
from refinement.selectors.trust.gate import Rule
from refinement.services.runs.eval_cases import (
    EvalRubrics,
    Runs,
    eval_run_carry_out,
    eval_run_create,
    eval_run_found,
)

MOST_LINES = 5  # failed assertions of a case on the terminal
LINE_CHARS = 300
MARKS = {"PASS": ("✓", "green"), "FAIL": ("✗", "red")}
OTHER = ("!", "yellow")


class Evaluation:
    """All cases of one command."""

    def __init__(
        self,
        project: Project,
        jobs: Sequence[Job],
        *,
        jobs_at_once: int,
        resume: bool,
        out: Path,
        as_json: bool,
        rerun_failed: bool = False,
        badge: Path | None = None,
        rule: Rule | None = None,
    ) -> None:
        """`rule` is what the server's project requires of judges, if the runs are sent to one."""
        self.project = project
        self.jobs = jobs
        self.at_once = jobs_at_once
        self.as_json = as_json
        self.results = Results(out, resume=resume, rerun_failed=rerun_failed)
        self.badge = badge
        self.rule = rule
        self.runs = Runs()
        self.workspaces = Workspaces(self.runs.stopped.is_set)
        self.line = StatusLine(sys.stderr)

    def carry_out(self) -> int:
        """Run every case without a result, and return the exit code."""
        waiting = [job for job in self.jobs if job.key not in self.results.finished]
        refused = absence(waiting)
        if refused is not None:
            self.write([*self.found(), *(not_run(job, refused.message) for job in waiting)])
            raise refused
        self.results.open()
        if len(waiting) < len(self.jobs):
            print_message(f"{len(self.jobs) - len(waiting)} of {len(self.jobs)} cases are already finished.")
        signal.signal(signal.SIGTERM, as_interrupt)
        interrupted = False
        try:
            self.ask_all(waiting)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self.line.clear()
            found = self.found()
            self.write(found)
            self.results.close()
        return self.ended(found, interrupted=interrupted)

    def ask_all(self, waiting: Sequence[Job]) -> None:
        """Run the cases in threads, and store results as they finish."""
        self.line.show(f"{len(self.jobs) - len(waiting)} of {len(self.jobs)} cases")
        versions = self.versions(waiting)
        todo: SimpleQueue[tuple[Job, RubricVersion]] = SimpleQueue()
        for job in waiting:
            todo.put((job, versions[job.key]))
        done: SimpleQueue[Result | BaseException | None] = SimpleQueue()
        pool = ThreadPoolExecutor(self.at_once, thread_name_prefix="eval")
        try:
            for _ in range(min(self.at_once, len(waiting))):
                pool.submit(self.work, todo, done)
            for _ in waiting:
                self.take(done.get())
        except BaseException:
            self.line.clear()
            print_message("Stopping; finished cases are kept.")
            self.runs.stop()
            raise
        finally:
            pool.shutdown(wait=True)

    def work(
        self,
        todo: "SimpleQueue[tuple[Job, RubricVersion]]",
        done: "SimpleQueue[Result | BaseException | None]",
    ) -> None:
        """One thread: run cases until none is left. Errors are passed on with the results."""
        try:
            while not self.runs.stopped.is_set():
                job, version = todo.get_nowait()
                done.put(self.ask(job, version))
        except Empty:
            return
        except BaseException as error:  # noqa: BLE001
            done.put(error)
        finally:
            connections.close_all()

    def versions(self, waiting: Sequence[Job]) -> dict[str, RubricVersion]:
        """The rubric version of every case. Raises BadInput before any case runs."""
        rubrics = EvalRubrics(self.project)
        try:
            return {job.key: rubrics.version_for(job) for job in waiting}
        except ValidationError as error:
            raise BadInput(" ".join(error.messages)) from None

    def ask(self, job: Job, version: RubricVersion) -> Result | None:
        """Run one case, and return its result, or None if it was stopped."""
        try:
            with self.workspaces.opened(job.case, is_command=job.target.is_command) as workspace:
                return self.ask_in(workspace, job, version)
        except WorkspaceError as error:
            return {**not_run(job, str(error)), "unreachable": False}

    def ask_in(self, workspace: Opened | None, job: Job, version: RubricVersion) -> Result | None:
        run = self.run_for(job, version)
        self.runs.enter(run)
        try:
            eval_run_carry_out(run=run, job=job, on_waiting=self.say_waiting, workspace=workspace)
        except RunBusy:
            run.refresh_from_db()  # it was paused while it waited
        finally:
            self.runs.leave(run)
        return eval_result(run, job, self.rule) if run.is_finished else None

    def run_for(self, job: Job, version: RubricVersion) -> Run:
        begun = self.results.begun.get(job.key)
        run = eval_run_found(project=self.project, job=job, number=begun) if begun is not None else None
        if run is None or run.outcome in ("ERROR", "CANCELLED"):
            run = eval_run_create(project=self.project, version=version, job=job)
            self.results.begin(job.key, run.pk)
        return run

    def take(self, result: Result | BaseException | None) -> None:
        if isinstance(result, BaseException):
            raise result
        if result is not None:
            self.results.add(result)
            self.say(result)

    # --- output -------------------------------------------------------------------------------
    def say(self, result: Result) -> None:
        self.line.clear()
        mark, colour = OTHER if is_unproven(result) else MARKS.get(result["outcome"], OTHER)
        ralph = result["ralph"]
        scores = " → ".join(f"{score:.2f}" for score in ralph["scores"]) or "no score"
        done = len(self.found_keys())
        summary = (
            f"{done}/{len(self.jobs)} {result['file']}:{result['line']} · {name_of(result)} · "
            f"{result['target']} · {scores} · {ralph['stop_reason'] or result['outcome']}"
        )
        click.echo(f"{click.style(mark, fg=colour)} {shown(summary)}", err=True)
        if result["outcome"] not in MARKS or is_unproven(result):
            print_message(f"  {result['why']}")
        elif not result["passed"]:
            lines = failures(result)
            for line in lines[:MOST_LINES]:
                print_message(f"  {clipped(line)}")
            if len(lines) > MOST_LINES:
                print_message(f"  … and {len(lines) - MOST_LINES} more in summary.md")
        self.line.show(f"{done} of {len(self.jobs)} cases")

    def say_waiting(self, result: StepResult) -> None:
        if result.error:
            self.line.clear()
            print_message(f"waiting to retry: {result.reason}")

    def found_keys(self) -> list[str]:
        return [job.key for job in self.jobs if job.key in self.results.finished]

    def found(self) -> list[Result]:
        """The results so far, in the order of the files."""
        return [self.results.finished[key] for key in self.found_keys()]

    def write(self, found: Sequence[Result]) -> None:
        write_atomically(self.results.folder / "junit.xml", junit_xml(found))
        write_atomically(self.results.folder / "summary.md", summary_markdown(found))
        if self.badge is not None:
            try:
                write_atomically(self.badge, badge(self.badge, passed_of(found), len(self.jobs)))
            except OSError as error:
                print_message(f"cannot write {self.badge}: {error.strerror}.")

    def ended(self, found: Sequence[Result], *, interrupted: bool) -> int:
        passed = passed_of(found)
        if self.as_json:
            print_json(
                {
                    "cases": len(self.jobs),
                    "finished": len(found),
                    "passed": passed,
                    "trials": trials_of(found),
                    "results": list(found),
                }
            )
        print_message(f"{passed} of {len(self.jobs)} cases passed; results are in {self.results.folder}.")
        if interrupted or len(found) < len(self.jobs):
            print_message("Interrupted. To continue, run the same command with --resume.")
            return Exit.INTERRUPTED
        if any(result["unreachable"] for result in found):
            return Exit.UNAVAILABLE
        return Exit.OK if passed == len(found) else Exit.FAILED


def clipped(line: str) -> str:
    return line if len(line) <= LINE_CHARS else f"{line[: LINE_CHARS - 1]}…"


def not_run(job: Job, why: str) -> Result:
    """A case that was not run, because its target is not there. Only for reports."""
    return {
        "wiggum_eval": FORMAT_VERSION,
        "key": job.key,
        "eval": job.file.name,
        "file": str(job.file.path),
        "line": job.case.line,
        "case": job.case.name,
        "trial": job.trial,
        "trials": job.trials,
        "target": job.target.name,
        "model": job.target.model,
        "run": None,
        "passed": False,
        "outcome": Outcome.ERROR.value,
        "score": None,
        "threshold": None,
        "output": "",
        "asserts": [],
        "sets": [],
        "metrics": {},
        "issues": [],
        "ralph": {
            "iterations": 0,
            "scores": [],
            "stop_reason": "",
            "improvement": None,
            "passed_iteration": None,
            "best_iteration": None,
        },
        "iterations": [],
        "tags": list(job.case.tags),
        "metadata": dict(job.case.metadata),
        "tokens": 0,
        "cost": None,
        "seconds": 0.0,
        "why": why,
        "judge_proven": None,
        "unproven_reason": "",
        "unreachable": True,
    }
