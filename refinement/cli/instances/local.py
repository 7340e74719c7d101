"""The local database, used without an account."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404

from refinement.cli.exits import BadInput, Refused
from refinement.cli.instances.base import (
    ImportAnswer,
    Push,
    Pushed,
    RubricLine,
    RubricText,
    RunLine,
    RunQuery,
    RunReport,
    Training,
    Verb,
)
from refinement.cli.instances.refusals import newer_version, unknown_base
from refinement.downloads import FORMS as TRAINING
from refinement.downloads import RUN_FORMS
from refinement.interchange.exports.rows import runs_csv, runs_jsonl
from refinement.interchange.rubrics.yaml import rubric_from_yaml, rubric_to_yaml
from refinement.models import Project, Run
from refinement.selectors.rubrics.definitions import definition_of, version_named
from refinement.selectors.rubrics.lists import ListedRubric, rubrics_page
from refinement.selectors.runs.exports import COLUMNS, numbers_of, run_summaries
from refinement.selectors.runs.listing.filters import RunFilters, runs_found
from refinement.selectors.runs.reports import number, run_report
from refinement.selectors.runs.training import TrainingChoice
from refinement.services.imports.uploads import BadUpload, import_paths
from refinement.services.projects.local import project_named
from refinement.services.rubrics.editing import NewerVersion
from refinement.services.rubrics.files import UnknownBase, rubric_push
from refinement.services.runs.lifecycle import WrongState, run_cancel, run_pause, run_resume, run_retry
from refinement.services.runs.plateau import plateau_answer
from refinement.texts import label

LOOK_SECONDS = 0.5
RELATED = ("project", "rubric", "rubric_version")
TEXTS = ("task", "seed", "snapshot", "calibration", "rubric_version__policy", "rubric_version__templates")
ACTIONS: dict[Verb, Callable[..., Run]] = {
    "cancel": run_cancel,
    "pause": run_pause,
    "resume": run_resume,
    "retry": run_retry,
}


class LocalInstance:
    """One project of the local database. Runs are found by number in any project."""

    def __init__(self, project: str | None = None) -> None:
        self.named = project

    @cached_property
    def project(self) -> Project:
        try:
            return project_named(self.named)
        except LookupError as error:
            raise (Refused if self.named else BadInput)(str(error)) from None

    # --- rubrics ----------------------------------------------------------------------------------
    def rubrics(self, *, archived: bool = False) -> list[RubricLine]:
        lines: list[RubricLine] = []
        number: int | None = 1
        while number:
            page, listed = rubrics_page(self.project, archived=archived, page=number)
            lines += [rubric_line(entry) for entry in listed]
            number = page.next_page_number() if page.has_next() else None
        return lines

    def rubric_text(self, slug: str, version: int | None = None) -> RubricText:
        try:
            found = version_named(self.project, slug if version is None else f"{slug}@{version}")
        except LookupError as error:
            raise Refused(str(error)) from None
        return RubricText(slug, found.number, rubric_to_yaml(definition_of(found)))

    def rubric_push(self, push: Push) -> Pushed:
        definition = rubric_from_yaml(push.text)
        try:
            result = rubric_push(
                project=self.project,
                slug=push.slug,
                definition=definition,
                base=push.base,
                force=push.force,
                note=push.note,
            )
        except UnknownBase as error:
            raise unknown_base(push, error.newest) from None
        except NewerVersion as error:
            raise newer_version(push, error.newest) from None
        except ValidationError as error:
            raise BadInput(" ".join(error.messages)) from None
        return Pushed(rubric=push.slug, version=result.version.number, status=result.status)

    # --- runs -------------------------------------------------------------------------------------
    def runs(self, query: RunQuery, limit: int) -> list[RunLine]:
        numbers = list(self._found(query).values_list("pk", flat=True)[:limit])
        found = Run.objects.select_related(*RELATED).defer(*TEXTS).in_bulk(numbers)
        return [run_line(found[pk]) for pk in numbers if pk in found]

    def run_line(self, number: int) -> RunLine:
        return run_line(self._run(number))

    def run_report(self, number: int) -> RunReport:
        run = self._run(number)
        report = run_report(run)
        return RunReport(
            **run_line(run),
            judge_mode=report["judge_mode"],
            panel=report["panel"],
            rounds=report["rounds"],
            best_candidate=report["best_candidate"],
        )

    def run_act(self, number: int, verb: Verb) -> RunLine:
        try:
            ACTIONS[verb](run=self._run(number))
        except WrongState as error:
            raise Refused(str(error)) from None
        return self.run_line(number)

    def run_answer(self, number: int, answer: str) -> RunLine:
        try:
            plateau_answer(run=self._run(number), answer=answer)
        except WrongState as error:
            raise Refused(str(error)) from None
        return self.run_line(number)

    def run_document(self, number: int, form: str) -> Iterator[str]:
        try:
            return RUN_FORMS[form](self._run(number))
        except Http404 as error:
            raise Refused(str(error)) from None

    def runs_document(self, query: RunQuery, form: str) -> Iterator[str]:
        summaries = run_summaries(self.project, numbers_of(self._found(query)), tasks=form == "jsonl")
        return runs_csv(COLUMNS, summaries) if form == "csv" else runs_jsonl(summaries)

    def training_document(self, query: RunQuery, training: Training) -> Iterator[str]:
        choice = TrainingChoice(training.least, training.with_imported)
        if training.run is None:
            return TRAINING[training.form](self.project, numbers_of(self._found(query)), choice)
        run = self._run(training.run)
        return TRAINING[training.form](run.project, [run.pk], choice)

    def import_paths(
        self,
        paths: Sequence[Path],
        *,
        dry_run: bool,
        weights: Mapping[str, Decimal] | None = None,
        on_progress: Callable[[str], None],
    ) -> ImportAnswer:
        try:
            report = import_paths(
                paths,
                project=self.project,
                dry_run=dry_run,
                weights=weights,
                on_entry=lambda entry: on_progress(entry.name),
            )
        except BadUpload as error:
            raise BadInput(str(error)) from None
        answer: ImportAnswer = report.as_dict()  # type: ignore[assignment]
        return answer

    def poll_seconds(self) -> float:
        return LOOK_SECONDS

    def _found(self, query: RunQuery) -> QuerySet[Run]:
        filters = RunFilters(
            words=query.words,
            status=query.status,
            outcome=query.outcome,
            rubric=query.rubric,
            task_type=label(query.task_type),
            tag=query.tag,
            since=query.since,
            archived=query.archived,
        )
        return runs_found(self.project, filters)

    def _run(self, number: int) -> Run:
        """A run by its number, in any project unless --project is set."""
        runs = Run.objects.select_related(*RELATED)
        found = (runs.filter(project=self.project) if self.named else runs).filter(pk=number).first()
        if found is None:
            where = f" in project {self.named}" if self.named else ""
            raise Refused(f"run {number} does not exist{where}.")
        return found


def rubric_line(listed: ListedRubric) -> RubricLine:
    version = listed.version
    return RubricLine(
        slug=version.rubric.slug,
        name=version.name,
        version=version.number,
        profile=version.profile,
        purpose=listed.purpose,
        criteria=listed.criteria,
        checks=listed.checks,
        archived=version.rubric.archived_at is not None,
    )


def run_line(run: Run) -> RunLine:
    return RunLine(
        run=run.pk,
        project=run.project.slug,
        title=run.title,
        task_type=run.task_type,
        status=run.status,
        outcome=run.outcome,
        stop_reason=run.stop_reason,
        why=run.why,
        rubric=f"{run.rubric.slug}@{run.rubric_version.number}",
        producer=f"{run.producer_endpoint}/{run.producer_model}",
        judge=f"{run.judge_endpoint}/{run.judge_model}",
        clerk=f"{run.clerk_endpoint}/{run.clerk_model}" if run.clerk_model else "",
        rounds_judged=run.rounds_judged,
        composites=[float(score) for score in run.trajectory],
        r1=number(run.r1),
        best=number(run.best),
        best_round=run.best_round,
        passed_in_round=run.passed_in_round,
        last=number(run.last),
        improvement=number(run.improvement),
        tokens=run.tokens,
        seconds=float(run.model_seconds),
        waiting_for=run.waiting_for,
        asking=run.is_asking,
        escalated_after=run.escalated_after,
        created_at=run.created_at.isoformat(),
        finished_at=run.finished_at.isoformat() if run.finished_at else None,
    )
