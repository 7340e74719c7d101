"""A demo suite and a finished experiment: four configurations whose differences are known."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction

from refinement.demo import texts
from refinement.demo.rows import Cast, Drawn, batch_write, created_at, explicit_times
from refinement.demo.stories import Story, StoryBuilder
from refinement.engine.codec import rubric_with
from refinement.engine.metrics import criteria_met
from refinement.engine.profiles import rubric_for
from refinement.engine.safeguards import kinship
from refinement.engine.types import Outcome
from refinement.engine.types import Rubric as Definition
from refinement.execution.reports import report_request
from refinement.models import (
    CellState,
    Configuration,
    Experiment,
    ExperimentRun,
    ExperimentStatus,
    Project,
    ReportKind,
    Rubric,
    RubricVersion,
    Run,
    Suite,
    SuiteTask,
    SuiteVersion,
    User,
)
from refinement.services.rubrics.editing import rubric_create

SLUG = "docs-answers"
NAME = "Sources or more rounds?"
REPEATS = 2
CHARS = 1_100
JUDGE = "gemma3:27b"
GAIN = 0.06  # of the scale, that a revision brings at first
BETWEEN = timedelta(seconds=11)  # runs
ABOUT = "For customers: short, complete, with the exact names of settings."
BEFORE = timedelta(minutes=40)  # from saving the suite to the experiment
TASKS = (
    ("Upgrade from 2.3 to 2.4", "how-to"),
    ("Restore a single table from the nightly backup", "how-to"),
    ("Set up single sign-on with Okta", "how-to"),
    ("Rotate the signing keys without downtime", "how-to"),
    ("Turn on audit logging", "how-to"),
    ("Resize the search cluster", "how-to"),
    ("Run the importer behind a proxy", "how-to"),
    ("Move a project to another region", "how-to"),
    ("Why did p95 latency rise in week 38?", "research"),
    ("Compare three queue backends for our load", "research"),
    ("Which customers use the legacy webhook?", "research"),
    ("Is WAL mode safe on network storage?", "research"),
    ("Summarize the post-mortems of Q3", "research"),
    ("What changed in the EU data rules for us?", "research"),
    ("Extract every rate limit from the API reference", "extraction"),
    ("Contract terms: notice, price, renewal", "extraction"),
    ("Find every mention of retention time", "extraction"),
    ("Pull the dates and owners out of 9 tickets", "extraction"),
    ("List all settings with their defaults", "extraction"),
    ("Table of error codes and remedies", "extraction"),
    ("Release notes 2.4.0", "release notes"),
    ("Release notes 2.4.1 (security)", "release notes"),
    ("Release notes CLI 0.9", "release notes"),
    ("Release notes SDK for Python 1.12", "release notes"),
)
SOURCE = (
    "Product facts: version 2.4 needs PostgreSQL 15. The API allows 600 writes and 120 searches a minute. "
    "Backups run at 02:00 UTC and are kept for 30 days. Audit logs are kept for one year."
)
# Of the cells by task, configuration and repeat: what has no score.
GAPS = {
    (16, 1, 2): "judge fails",
    (13, 2, 1): "judge fails",
    (10, 3, 2): "producer fails",
    (6, 2, 2): "",
    (22, 3, 1): "",
    (22, 3, 2): "",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """A configuration, and its effect on quality as a share of the scale, in all or by task type."""

    name: str
    producer: str = "qwen3:14b"
    changes: dict[str, str] = field(default_factory=dict)
    sources: tuple[dict[str, str], ...] = ()
    effect: float = 0.0
    by_type: dict[str, float] = field(default_factory=dict)
    pace: Decimal = Decimal(1)


VARIANTS = (
    Variant("Baseline"),
    Variant(
        "Sources in the prompt",
        sources=({"name": "product-facts.md", "text": SOURCE},),
        effect=0.05,
        by_type={"release notes": -0.01},
    ),
    Variant("Five rounds", changes={"policy.max_rounds": "5"}),
    Variant(
        "Small model", producer="qwen3:8b", by_type={"extraction": -0.14}, effect=-0.004, pace=Decimal("0.5")
    ),
)


def demo_experiment(project: Project, people: Sequence[User], *, now: datetime) -> Experiment | None:
    """The suite and its experiment with all runs; None if the project has them already."""
    if Suite.objects.filter(project=project, slug=SLUG).exists():
        return None
    rng = random.Random(f"{project.slug}/experiment")  # noqa: S311  demo data, not a secret
    began = now - timedelta(days=1, hours=2)
    with transaction.atomic():
        version = suite_write(project, people[0], saved=began - BEFORE)
        with created_at(began - BEFORE):
            rubric, definition = rubric_write(project, people[0])
        experiment = experiment_write(project, version, rubric, people[3], began)
        cast = Cast(project, people, (), ())
        with explicit_times():
            write_runs(cast, experiment, definition, rng, began)
        report_request(project=project, kind=ReportKind.EXPERIMENT, subject=experiment.pk)
    return experiment


def suite_write(project: Project, owner: User, *, saved: datetime) -> SuiteVersion:
    with explicit_times():
        suite = Suite.objects.create(
            project=project, slug=SLUG, name="Docs answers", description="What people ask the docs team.",
            created_by=owner, created_at=saved,
        )  # fmt: skip
        version = SuiteVersion.objects.create(
            suite=suite, number=1, note="From two weeks of tickets.", created_by=owner, task_count=len(TASKS),
            created_at=saved,
        )  # fmt: skip
    SuiteTask.objects.bulk_create(
        SuiteTask(
            version=version,
            position=number,
            key=f"{kind.replace(' ', '-')}-{number:02}",
            title=title,
            task_type=kind,
            task=f"{title}{'' if title.endswith('?') else '.'}\n\n{ABOUT}",
        )
        for number, (title, kind) in enumerate(TASKS, start=1)
    )
    return version


def rubric_write(project: Project, owner: User) -> tuple[RubricVersion, Definition]:
    definition = replace(
        rubric_with(rubric_for("wiggum"), {"policy.pass_threshold": "7.5"}),
        name="Docs answers",
        purpose="Technical writing, scored on six criteria. Passes at 7.5 of 10.",
    )
    found = Rubric.objects.filter(project=project, slug=SLUG).first()
    made = found.versions.earliest("number") if found else None
    if made is None:
        made = rubric_create(
            project=project, slug=SLUG, definition=definition, user=owner, note="First version."
        )
    return made, definition


def experiment_write(
    project: Project, version: SuiteVersion, rubric: RubricVersion, person: User, began: datetime
) -> Experiment:
    experiment = Experiment.objects.create(
        project=project, suite_version=version, name=NAME, created_by=person, repeats=REPEATS,
        note="Does a source pack help more than two further rounds?", status=ExperimentStatus.FINISHED,
        finished_at=began,
    )  # fmt: skip
    Experiment.objects.filter(pk=experiment.pk).update(created_at=began)
    Configuration.objects.bulk_create(
        Configuration(
            experiment=experiment,
            position=number,
            name=variant.name,
            baseline=number == 1,
            rubric_version=rubric,
            changes=variant.changes,
            sources=list(variant.sources),
            producer_endpoint="ollama",
            producer_model=variant.producer,
            judge_endpoint="ollama",
            judge_model=JUDGE,
        )
        for number, variant in enumerate(VARIANTS, start=1)
    )
    return experiment


@dataclass(frozen=True, slots=True)
class Planned:
    """One run of the experiment, before it is simulated."""

    order: int
    repeat: int
    task: SuiteTask
    configuration: Configuration
    variant: Variant
    gap: str | None  # how it breaks off; empty if it was never started


def planned(experiment: Experiment) -> Iterator[Planned]:
    """Dealt round-robin: each task under every configuration, repeat by repeat."""
    tasks = list(experiment.suite_version.tasks.order_by("position"))
    configurations = list(experiment.configurations.order_by("position"))
    order = 0
    for repeat in range(1, REPEATS + 1):
        for task in tasks:
            for configuration, variant in zip(configurations, VARIANTS, strict=True):
                order += 1
                gap = GAPS.get((task.position - 1, configuration.position - 1, repeat))
                yield Planned(order, repeat, task, configuration, variant, gap)


def write_runs(
    cast: Cast, experiment: Experiment, definition: Definition, rng: random.Random, began: datetime
) -> None:
    """Writes all runs, and the experiment's rows with their figures."""
    plans = list(planned(experiment))
    ease = {plan.task.pk: rng.gauss(0.7, 0.035) for plan in plans if plan.order % len(VARIANTS) == 1}
    likes = {(plan.task.pk, plan.variant.name): rng.gauss(0, 0.012) for plan in plans if plan.repeat == 1}
    drawn: dict[int, Drawn] = {}
    for plan in plans:
        if plan.gap == "":
            continue
        share = ease[plan.task.pk] + plan.variant.by_type.get(plan.task.task_type, plan.variant.effect)
        share += likes[plan.task.pk, plan.variant.name] if plan.variant.name != "Baseline" else 0
        share += rng.gauss(0, 0.008)
        story = story_of(plan, definition, rng, share)
        moment = began + BETWEEN * plan.order
        drawn[plan.order] = Drawn(run_of(cast, experiment, plan, story, moment), story)
    batch_write(cast, list(drawn.values()), rng, calls=True)
    ExperimentRun.objects.bulk_create(row_of(experiment, plan, drawn.get(plan.order)) for plan in plans)
    ended = max(entry.run.finished_at for entry in drawn.values() if entry.run.finished_at)
    Experiment.objects.filter(pk=experiment.pk).update(finished_at=ended)


def story_of(plan: Planned, definition: Definition, rng: random.Random, share: float) -> Story:
    """The run's rounds: revisions help less and less."""
    used = rubric_with(definition, plan.variant.changes) if plan.variant.changes else definition
    about = replace(texts.subject(rng), task=plan.task.task, task_type=plan.task.task_type)
    course = [share]
    for number in range(6):
        course.append(min(0.97, course[-1] + rng.uniform(0.2, 1) * GAIN / (number + 1)))
    builder = StoryBuilder(
        story=Story(used, plan.task.task, "", plan.task.task_type),
        about=about,
        course=tuple(course),
        ends=plan.gap or "",
        breaks_after=0,
        chars=CHARS,
        rng=rng,
        invents=False,
        repeats=False,
        people_rng=rng,
    )
    return builder.build()


def run_of(cast: Cast, experiment: Experiment, plan: Planned, story: Story, moment: datetime) -> Run:
    values = dict(story.run_values, title=plan.task.title)
    values["model_seconds"] = values["model_seconds"] * plan.variant.pace
    kin = kinship(plan.variant.producer, JUDGE)
    took = timedelta(seconds=float(values["model_seconds"]) + 2)
    return Run(
        project=cast.project,
        experiment=experiment,
        suite_id=experiment.suite_version.suite_id,
        rubric_version=plan.configuration.rubric_version,
        rubric_id=plan.configuration.rubric_version.rubric_id,
        created_by=experiment.created_by,
        created_at=moment,
        started_at=moment + timedelta(seconds=1),
        finished_at=moment + took,
        woken_at=moment,
        nonce=f"{plan.order:012x}",
        producer_endpoint="ollama",
        producer_model=plan.variant.producer,
        judge_endpoint="ollama",
        judge_model=JUDGE,
        kinship=kin.value if kin else "",
        **values,
        **story.ending,
    )


def row_of(experiment: Experiment, plan: Planned, drawn: Drawn | None) -> ExperimentRun:
    """The row of a run with its figures; without a run it was never started."""
    row = ExperimentRun(
        experiment=experiment,
        configuration=plan.configuration,
        task=plan.task,
        repeat=plan.repeat,
        order=plan.order,
        state=CellState.CANCELLED,
    )
    if drawn is None:
        return row
    run, story = drawn.run, drawn.story
    row.run, row.rounds, row.tokens = run, run.rounds_judged, run.prompt_tokens + run.completion_tokens
    row.seconds = run.model_seconds
    if run.r1 is None:
        row.state = CellState.UNSCORED if plan.gap == "judge fails" else CellState.ERROR
        row.problem = run.why[:400]
        return row
    best = next(entry for entry in story.history.rounds if entry.number == run.best_round)
    assert best.assessment is not None
    met = criteria_met(story.rubric, best.assessment)
    row.state, row.r1, row.best = CellState.DONE, run.r1, run.best
    row.criteria_met, row.criteria_total = sum(met), len(met)
    row.passed = run.outcome == Outcome.PASS
    return row
