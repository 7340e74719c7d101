"""Runs: one task and one artifact taken through the loop."""

from datetime import datetime, timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.engine.types import Outcome, StopReason
from refinement.models.leased import Leased
from refinement.models.people.people import Project
from refinement.models.rubrics.rubrics import Rubric, RubricVersion

TITLE_CHARS = 160
TASK_TYPE_CHARS = 50
IN_USE, ARCHIVED = models.Q(archived_at__isnull=True), models.Q(archived_at__isnull=False)
IMPORTED = models.Q(source__isnull=False)
OF_EXPERIMENT, OWN = models.Q(experiment__isnull=False), models.Q(experiment__isnull=True)
# Lists filter by one of these, newest first; each has an index in that order.
FILTERED = (
    ("stop_reason", "run_by_reason"),
    ("status", "run_by_status"),
    ("task_type", "run_by_task_type"),
    ("producer_model", "run_by_producer"),
    ("judge_model", "run_by_judge"),
    ("created_by", "run_by_person"),
    ("kinship", "run_by_kinship"),
    ("decision", "run_by_decision"),
)
MARKED = (
    ("signal_rounds", "run_with_signal"),
    ("penalty_rounds", "run_with_penalty"),
    ("cut_rounds", "run_with_cut"),
    ("far_people", "run_with_far_people"),
)
# Lists filter and sort by these.
SORTED_FILTERS = (("outcome", "run_by_outcome"), ("rubric", "run_by_rubric"))
SCORED = (
    ("best", "run_best_first"),
    ("r1", "run_r1_first"),
    ("improvement", "run_improvement_first"),
    ("people_gap", "run_people_gap_first"),
)
# SQLite prefers an index that covers all columns of a query, including the index's own condition. So each
# index has the columns that every list uses.
ALWAYS_ASKED = ("archived_at", "created_at")
# All columns that lists filter by, except tags. A sort index ends with them, so that filtering during an
# index scan reads no rows, which are long.
BESIDES = (
    *ALWAYS_ASKED,
    *("r1", "best", "source", *(field for field, _ in (*MARKED, *FILTERED, *SORTED_FILTERS))),
)
SORTED_BY = (
    *("improvement", "rounds_judged", "model_seconds", "prompt_tokens", "completion_tokens"),
    *("title", "people_gap"),
)


def newest(*mentioned: str, by: str = "", name: str, condition: models.Q) -> models.Index:
    """An index for a filtered list, newest first."""
    fields = ["project", *([by] if by else []), "-id", *ALWAYS_ASKED, *mentioned]
    return models.Index(fields=fields, name=name, condition=condition)


def in_order(*fields: str, name: str, condition: models.Q) -> models.Index:
    """An index for a list of all runs sorted by these fields."""
    besides = [field for field in BESIDES if f"-{field}" not in fields]
    return models.Index(fields=["project", *fields, "-id", *besides], name=name, condition=condition)


class RunStatus(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    WAITING = "waiting", "Waiting"
    PAUSED = "paused", "Paused"
    FINISHED = "finished", "Finished"


class RunSource(models.TextChoices):
    """The file type of an imported run; `example` is the prepared example, which no model wrote."""

    SIMMER = "simmer", "Simmer folder"
    JSONL = "jsonl", "runs.jsonl"
    WIGGUM = "wiggum", "Wiggum's own JSON"
    EXAMPLE = "example", "Prepared example"


class Run(Leased):
    """A run with everything needed to replay it. `snapshot` is the rubric as it was used."""

    Status = RunStatus

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="runs")
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="runs")  # the version's
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    title = models.CharField(max_length=TITLE_CHARS, blank=True)  # for lists
    task_type = models.CharField(max_length=TASK_TYPE_CHARS, blank=True)  # a label such as "how-to"
    source = models.CharField(
        max_length=10, null=True, blank=True, choices=RunSource
    )  # of a run not made here
    batch = models.CharField(max_length=16, blank=True)  # shared by runs that were launched together
    # Of a run that an experiment started, with the experiment's suite; both are set at its launch.
    experiment = models.ForeignKey(
        "refinement.Experiment", models.SET_NULL, null=True, blank=True, related_name="all_runs"
    )
    suite = models.ForeignKey(
        "refinement.Suite", models.SET_NULL, null=True, blank=True, related_name="all_runs"
    )
    nonce = models.CharField(max_length=32)
    producer_endpoint = models.CharField(max_length=400)
    producer_model = models.CharField(max_length=200)
    producer_family = models.CharField(max_length=100, blank=True)
    producer_context = models.PositiveIntegerField(null=True, blank=True)
    judge_endpoint = models.CharField(max_length=400)
    judge_model = models.CharField(max_length=200)
    judge_family = models.CharField(max_length=100, blank=True)
    judge_context = models.PositiveIntegerField(null=True, blank=True)
    kinship = models.CharField(max_length=20, blank=True)
    clerk_endpoint = models.CharField(max_length=400, blank=True)
    clerk_model = models.CharField(max_length=200, blank=True)
    # Context windows of models that neither the producer nor the judge uses, by "ENDPOINT/MODEL".
    other_contexts = models.JSONField(default=dict, blank=True)
    # Prices of its models at its launch, by "ENDPOINT/MODEL": per million tokens of prompts and of replies.
    prices = models.JSONField(default=dict, blank=True)

    status = models.CharField(max_length=10, choices=RunStatus, default=RunStatus.QUEUED)
    outcome = models.CharField(max_length=10, blank=True, choices=[(o.value, o.value) for o in Outcome])
    stop_reason = models.CharField(
        max_length=30, blank=True, choices=[(r.value, r.value) for r in StopReason]
    )
    # For lists, filters and sorting; decisions are made from the exact scores in the rounds.
    r1 = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    best = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    last = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    improvement = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    best_round = models.PositiveIntegerField(null=True, blank=True)
    passed_in_round = models.PositiveIntegerField(null=True, blank=True)  # of a run with outcome PASS
    rounds_judged = models.PositiveIntegerField(default=0)
    trajectory = models.JSONField(default=list, blank=True)  # the rounds' composites as texts, in order
    # How many rounds had a Ralph signal, a penalty, or a candidate that the judge saw only in part.
    signal_rounds = models.PositiveIntegerField(default=0)
    penalty_rounds = models.PositiveIntegerField(default=0)
    cut_rounds = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    calls_made = models.PositiveIntegerField(default=0)
    model_seconds = models.DecimalField(max_digits=14, decimal_places=3, default=0)
    idle_seconds = models.PositiveBigIntegerField(default=0)  # paused or finished, before it went on
    cost = models.DecimalField(
        max_digits=16, decimal_places=8, null=True, blank=True
    )  # of calls with a price

    # Of the current step: calls so far, consecutive failures, unreadable replies.
    step_calls = models.PositiveSmallIntegerField(default=0)
    step_failures = models.PositiveSmallIntegerField(default=0)
    step_unreadable = models.PositiveSmallIntegerField(default=0)
    board_unreadable = models.JSONField(default=dict, blank=True)  # the same, by "purpose:seat" of a board
    extended_after = models.PositiveIntegerField(default=0)
    # On a plateau: the last round before a board took over, and whether a person is asked or chose to stop.
    escalated_after = models.PositiveIntegerField(default=0)
    plateau_asked = models.BooleanField(default=False)
    pause_after_round = models.BooleanField(default=False)  # a person asked for it
    plateau_accepted = models.BooleanField(default=False)
    # The smallest real difference of its judge's composites, if it was known at the launch.
    smallest_difference = models.DecimalField(max_digits=9, decimal_places=6, null=True, blank=True)
    # Who judges it: empty without criteria, with a board composed during the run, and for imported runs.
    judge_record = models.ForeignKey(
        "refinement.JudgeRecord", models.SET_NULL, null=True, blank=True, related_name="runs"
    )
    # How far the score moved at most while the text stayed the same; empty if it did not.
    same_text_moved = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    # A judge that scores the first and the best round at the end; the loop never sees its scores.
    held_out_endpoint = models.CharField(max_length=400, blank=True)
    held_out_model = models.CharField(max_length=200, blank=True)
    rerun_of = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="reruns")
    # From the newest decision of a person. The judge's fields are separate.
    decision = models.CharField(max_length=10, null=True, blank=True)
    chosen_round = models.PositiveIntegerField(null=True, blank=True)
    # People's mean score of the result minus the judge's, and how many people scored it if that is far apart.
    people_gap = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    far_people = models.PositiveIntegerField(default=0)
    failure_role = models.CharField(max_length=10, blank=True)

    # Long texts last: SQLite reads a row from its start, and lists do not need them.
    why = models.TextField(blank=True)
    failure_message = models.TextField(blank=True)
    snapshot = models.JSONField()
    task = models.TextField()
    seed = models.TextField(blank=True)
    calibration = models.JSONField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["project", "-id"], name="run_project_newest"),
            models.Index(fields=["status", "lease_until"], name="run_status_lease"),
            models.Index(fields=["status", "next_try_at"], name="run_status_next_try"),
            in_order(name="run_in_use", condition=IN_USE),
            # The only index for archived runs. Other orders are sorted from it without reading rows.
            models.Index(
                fields=["project", "-id", *BESIDES, *SORTED_BY], name="run_archived", condition=ARCHIVED
            ),
            models.Index(fields=["project", "created_at"], name="run_by_date"),
            newest("source", name="run_imported", condition=IN_USE & IMPORTED),
            newest(by="source", name="run_by_source", condition=IN_USE & IMPORTED),
            newest(by="experiment", name="run_by_experiment", condition=IN_USE & OF_EXPERIMENT),
            newest(by="suite", name="run_by_suite", condition=IN_USE & OF_EXPERIMENT),
            # For a project's home: an experiment may have more runs than everything else.
            newest("experiment", by="outcome", name="run_own_by_outcome", condition=IN_USE & OWN),
            newest(
                *("experiment", "outcome", "rounds_judged"),
                by="status",
                name="run_own_by_status",
                condition=IN_USE & OWN,
            ),
            *(newest(by=field, name=name, condition=IN_USE) for field, name in FILTERED),
            *(
                newest(field, name=name, condition=IN_USE & models.Q(**{f"{field}__gt": 0}))
                for field, name in MARKED
            ),
            *(
                in_order(f"-{field}", name=name, condition=IN_USE & models.Q(**{f"{field}__isnull": False}))
                for field, name in SCORED
            ),
            *(in_order(f"-{field}", name=name, condition=IN_USE) for field, name in SORTED_FILTERS),
            in_order("-title", name="run_title_last", condition=IN_USE),
            in_order("-rounds_judged", name="run_rounds_first", condition=IN_USE),
            in_order("-model_seconds", name="run_time_first", condition=IN_USE),
            models.Index(
                models.F("project"),
                (models.F("prompt_tokens") + models.F("completion_tokens")).desc(),
                models.F("id").desc(),
                # PostgreSQL uses an indexed sum only if the index also has its terms.
                *map(models.F, (*BESIDES, "prompt_tokens", "completion_tokens")),
                name="run_tokens_first",
                condition=IN_USE,
            ),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(condition=models.Q(status__in=RunStatus.values), name="run_status_known"),
            models.CheckConstraint(
                condition=(
                    models.Q(status=RunStatus.FINISHED, finished_at__isnull=False)
                    & ~models.Q(outcome="")
                    & ~models.Q(stop_reason="")
                )
                | (
                    ~models.Q(status=RunStatus.FINISHED)
                    & models.Q(outcome="", stop_reason="", finished_at__isnull=True)
                ),
                name="run_finished_has_outcome_and_reason",
            ),
            models.CheckConstraint(
                condition=~models.Q(status=RunStatus.WAITING) | models.Q(next_try_at__isnull=False),
                name="run_waiting_has_next_try",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def is_finished(self) -> bool:
        return self.status == RunStatus.FINISHED

    @property
    def is_asking(self) -> bool:
        """Whether it is paused at a plateau until a person decides whether it continues."""
        return self.status == RunStatus.PAUSED and self.plateau_asked

    @property
    def is_imported(self) -> bool:
        return self.source is not None and not self.is_example

    @property
    def is_example(self) -> bool:
        """Whether it is the project's prepared example: archived, read-only and never run."""
        return self.source == RunSource.EXAMPLE

    @property
    def worked_since(self) -> datetime | None:
        """Its start, moved forward by the time in which it was paused or finished. Clocks count from it."""
        return self.started_at and self.started_at + timedelta(seconds=self.idle_seconds)

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class RunTag(models.Model):
    """A tag of a run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="tags")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="run_tags")  # the run's
    name = models.CharField(max_length=50)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "name"], name="run_tag_unique"),
            models.CheckConstraint(condition=~models.Q(name=""), name="run_tag_not_empty"),
        ]
        indexes: ClassVar = [models.Index(fields=["project", "name", "-run"], name="run_tag_newest")]

    def __str__(self) -> str:
        return self.name


class SavedView(models.Model):
    """Named filters and sort order of the list of runs: its maker's own, or shared in the project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=80)
    query = models.CharField(max_length=2000, blank=True)  # the list's query string
    shared = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["project", "name"], condition=models.Q(shared=True), name="shared_view_name_unique"
            ),
            models.UniqueConstraint(
                fields=["project", "created_by", "name"],
                condition=models.Q(shared=False),
                name="private_view_name_unique",
            ),
        ]

    def __str__(self) -> str:
        return self.name
