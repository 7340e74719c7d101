"""Experiments of the local database, computed in this process."""

from typing import Any

from django.core.exceptions import ValidationError

from refinement.cli.exits import BadInput, Refused, Unavailable
from refinement.cli.instances.experiments import NewExperiment, Progress
from refinement.cli.instances.local import LocalInstance
from refinement.interchange.experiments.configurations import ConfigurationText
from refinement.models import CellState, Experiment, ExperimentStatus, SuiteVersion
from refinement.providers.base import ErrorKind, ProviderError
from refinement.providers.registry import Target, parse_target
from refinement.selectors.endpoints import NoSuchEndpoint, provider_for
from refinement.selectors.experiments.progress import progress_of
from refinement.selectors.experiments.versions import SuiteNotFound, suite_version_named
from refinement.selectors.rubrics.definitions import version_named
from refinement.services.experiments.checking import ConfigurationSpec
from refinement.services.experiments.control import experiment_resume
from refinement.services.experiments.creating import experiment_create
from refinement.services.runs.lifecycle import WrongState

AWAY = (ErrorKind.UNREACHABLE, ErrorKind.TIMEOUT, ErrorKind.MODEL_MISSING, ErrorKind.REFUSED)
OPEN = (CellState.WAITING, CellState.RUNNING)


class LocalExperiments:
    """One project of the local database."""

    def __init__(self, instance: LocalInstance) -> None:
        self.instance = instance

    @property
    def project(self) -> Any:
        return self.instance.project

    def create(self, new: NewExperiment) -> int:
        """Raises BadInput, Refused, and Unavailable if a model cannot be reached."""
        suite_version = self.suite_version(new.suite)
        specs = [self.spec(entry) for entry in new.configurations]
        models_check(specs)
        try:
            made = experiment_create(
                project=self.project,
                user=None,
                suite_version=suite_version,
                name=new.name,
                configurations=specs,
                repeats=new.repeats,
                note=new.note,
            )
        except ValidationError as error:
            raise BadInput(" ".join(error.messages)) from None
        return made.pk

    def suite_version(self, reference: str) -> SuiteVersion:
        try:
            return suite_version_named(self.project, reference)
        except SuiteNotFound as error:
            raise Refused(str(error)) from None

    def spec(self, entry: ConfigurationText) -> ConfigurationSpec:
        try:
            version = version_named(self.project, entry.rubric)
        except LookupError as error:
            raise BadInput(f"Line {entry.line}: {error}") from None
        if not entry.judge and version.criteria.exists():
            raise BadInput(f"Line {entry.line}: {entry.name} needs a judge, because its rubric has criteria.")
        producer = parse_target(entry.producer)
        return ConfigurationSpec(
            name=entry.name,
            version=version,
            producer=producer,
            judge=parse_target(entry.judge) if entry.judge else producer,
            clerk=parse_target(entry.clerk) if entry.clerk else None,
            definition_changes=dict(entry.changes),
            baseline=entry.baseline,
        )

    def resume(self, number: int) -> None:
        row = self.row(number)
        if row.status == ExperimentStatus.PAUSED:
            try:
                experiment_resume(row, None)
            except WrongState as error:
                raise Refused(str(error)) from None
            except ValidationError as error:
                raise Refused(" ".join(error.messages)) from None

    def progress(self, number: int) -> Progress:
        row = self.row(number)
        found = progress_of(row)
        open_runs = sum(found.states.get(state, 0) for state in OPEN)
        return Progress(
            status=row.status,
            reason=row.status_reason,
            suite=f"{row.suite_version.suite.slug}@{row.suite_version.number}",
            runs=found.total,
            ended=found.total - open_runs,
            errors=found.states.get(CellState.ERROR, 0),
        )

    def latest(self, suite: str, *, before: int | None) -> int | None:
        rows = Experiment.objects.filter(
            project=self.project,
            suite_version__suite__slug=suite.partition("@")[0],
            status=ExperimentStatus.FINISHED,
        )
        if before is not None:
            rows = rows.filter(pk__lt=before)
        return rows.order_by("-pk").values_list("pk", flat=True).first()

    def results(self, number: int) -> dict[str, Any]:
        from refinement.selectors.experiments.reports.results import experiment_results
        from refinement.selectors.trust.gate import figures_with_standings

        row = self.row(number)
        return figures_with_standings(row, experiment_results(row.pk))

    def comparison(self, number: int, other: int) -> dict[str, Any]:
        from refinement.selectors.experiments.reports.comparisons import experiments_compared

        return experiments_compared(self.row(number).pk, self.row(other).pk)

    def address(self, number: int) -> str:
        return ""

    def row(self, number: int) -> Experiment:
        rows = Experiment.objects.filter(project=self.project).select_related("suite_version__suite")
        found = rows.filter(pk=number).first()
        if found is None:
            raise Refused(f"there is no experiment {number} in the project {self.project.slug}.")
        return found


def models_check(specs: list[ConfigurationSpec]) -> None:
    """Asks each model's server once, before anything is created. Raises BadInput, Unavailable."""
    targets = [target for spec in specs for target in (spec.producer, spec.judge, spec.clerk)]
    for target in dict.fromkeys(target for target in targets if target is not None):
        model_check(target)


def model_check(target: Target) -> None:
    try:
        provider_for(target.endpoint).model_info(target.model)
    except NoSuchEndpoint as error:
        raise BadInput(error.message) from None
    except ProviderError as error:
        if error.kind in AWAY:
            raise Unavailable(
                f"{target.endpoint}/{target.model} cannot be used; nothing was run. {error.message}"
            ) from None
