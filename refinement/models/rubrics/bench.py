"""The test bench: one text judged several times, with all calls."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.leased import Leased
from refinement.models.people.people import Project
from refinement.models.rubrics.rubrics import RubricVersion
from refinement.models.runs.calls import Exchange
from refinement.models.runs.rounds import Round


class BenchStatus(models.TextChoices):
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    CANCELLED = "cancelled", "Cancelled"


class CandidateOrigin(models.TextChoices):
    PASTED = "pasted", "Pasted text"
    CALIBRATION = "calibration", "The rubric's calibration example"
    ROUND = "round", "A round of a run"


class Bench(models.Model):
    """One text and rubric version, judged `repeats` times by one judge or by each judge of a board."""

    Status = BenchStatus
    Origin = CandidateOrigin

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="benches")
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="benches")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=BenchStatus, default=BenchStatus.RUNNING)

    origin = models.CharField(max_length=12, choices=CandidateOrigin)
    source_round = models.ForeignKey(Round, models.SET_NULL, null=True, blank=True, related_name="benches")
    candidate = models.TextField()
    candidate_chars = models.PositiveIntegerField()
    candidate_sha256 = models.CharField(max_length=64)
    title = models.CharField(max_length=120)  # the beginning of the candidate, for lists
    task = models.TextField(blank=True)

    endpoint = models.CharField(max_length=400)
    model = models.CharField(max_length=200)
    # For a board: [{name, lens, endpoint, model}] by seat; each judge scores alone in every repeat.
    panel = models.JSONField(default=list, blank=True)
    repeats = models.PositiveSmallIntegerField()
    temperature = models.DecimalField(max_digits=3, decimal_places=2, default=0)
    anchored = models.BooleanField(default=False)  # the judge sees the calibration example
    # A digest of what its verdicts depend on: text, rubric, judge and the rest of the prompt. Empty for
    # a bench that a person made.
    fingerprint = models.CharField(max_length=64, blank=True)
    nonce = models.CharField(max_length=32)  # shared, so that all trials have the same prompt
    context_tokens = models.PositiveIntegerField(null=True, blank=True)
    human_scores = models.JSONField(
        default=dict, blank=True
    )  # entered for this bench; a calibration example has its own scores

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["rubric_version", "-id"], name="bench_version_newest"),
            models.Index(fields=["candidate_sha256"], name="bench_candidate"),
            models.Index(
                fields=["fingerprint"], name="bench_fingerprint", condition=~models.Q(fingerprint="")
            ),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(status__in=BenchStatus.values), name="bench_status_known"
            ),
            models.CheckConstraint(
                condition=models.Q(repeats__gte=1, repeats__lte=10), name="bench_repeats_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(candidate_chars__gte=1), name="bench_candidate_not_empty"
            ),
            models.CheckConstraint(
                condition=models.Q(status=BenchStatus.RUNNING, finished_at__isnull=True)
                | (~models.Q(status=BenchStatus.RUNNING) & models.Q(finished_at__isnull=False)),
                name="bench_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"bench {self.pk}"

    @property
    def is_running(self) -> bool:
        return self.status == BenchStatus.RUNNING

    @property
    def judges_count(self) -> int:
        return len(self.panel) or 1

    @property
    def trials_count(self) -> int:
        """One for each judge in each repeat."""
        return self.repeats * self.judges_count


class TrialStatus(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Asking"
    WAITING = "waiting", "Waiting"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class BenchTrial(Leased):
    """One judgement. `composite` is empty until it is done: a failed judge is not a score of zero."""

    Status = TrialStatus

    bench = models.ForeignKey(Bench, on_delete=models.CASCADE, related_name="trials")
    number = models.PositiveSmallIntegerField()
    seat = models.PositiveSmallIntegerField(default=0)  # of the board's judge, from 1; 0 for a single judge
    status = models.CharField(max_length=10, choices=TrialStatus, default=TrialStatus.QUEUED)
    finished_at = models.DateTimeField(null=True, blank=True)

    # The trial that had the same answer before, so that no call was needed.
    reused_from = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")

    said = models.JSONField(default=list, blank=True)  # [{key, score, reasoning, improvement}]
    scores = models.JSONField(null=True, blank=True)  # by key, after penalties
    composite = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    issues = models.JSONField(default=list, blank=True)
    asi = models.TextField(blank=True)
    penalties = models.JSONField(default=list, blank=True)
    checks = models.JSONField(default=list, blank=True)
    seen_chars = models.PositiveIntegerField(null=True, blank=True)
    parse_rung = models.CharField(max_length=30, blank=True)
    error = models.TextField(blank=True)

    # Over all calls of the trial.
    calls_made = models.PositiveSmallIntegerField(default=0)
    unreadable = models.PositiveSmallIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    seconds = models.DecimalField(max_digits=12, decimal_places=3, default=0)

    class Meta:
        ordering: ClassVar = ["number", "seat"]
        indexes: ClassVar = [
            models.Index(fields=["status", "lease_until"], name="trial_status_lease"),
            models.Index(fields=["status", "next_try_at"], name="trial_status_next_try"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["bench", "number", "seat"], name="trial_unique_in_bench"),
            models.CheckConstraint(
                condition=models.Q(status__in=TrialStatus.values), name="trial_status_known"
            ),
            models.CheckConstraint(
                condition=models.Q(status=TrialStatus.DONE, composite__isnull=False, scores__isnull=False)
                | (
                    ~models.Q(status=TrialStatus.DONE) & models.Q(composite__isnull=True, scores__isnull=True)
                ),
                name="trial_done_has_composite",
            ),
            models.CheckConstraint(
                condition=~models.Q(status=TrialStatus.FAILED) | ~models.Q(error=""),
                name="trial_failed_has_words",
            ),
        ]

    def __str__(self) -> str:
        return f"trial {self.number} of bench {self.bench_id}"

    @property
    def judge(self) -> dict[str, str]:
        """The judge of the board with name, lens, endpoint and model; empty for a single judge."""
        return dict(self.bench.panel[self.seat - 1]) if self.seat else {}

    @property
    def endpoint(self) -> str:
        return self.judge.get("endpoint", self.bench.endpoint)

    @property
    def model(self) -> str:
        return self.judge.get("model", self.bench.model)

    @property
    def key(self) -> str:
        """Identifies the trial on its bench's page."""
        return f"{self.number}-{self.seat}" if self.seat else str(self.number)

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class BenchCall(Exchange):
    """A model call of a trial."""

    trial = models.ForeignKey(BenchTrial, on_delete=models.CASCADE, related_name="calls")
    number = models.PositiveSmallIntegerField()
    cost = models.DecimalField(max_digits=16, decimal_places=8, null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["trial", "number"], name="bench_call_unique_in_trial")
        ]

    def __str__(self) -> str:
        return f"call {self.number} of trial {self.trial_id}"
