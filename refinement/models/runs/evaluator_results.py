"""Output of evaluator and validation commands, written once, before the judge is called."""

from typing import ClassVar

from django.db import models

from refinement.models.runs.rounds import Round


class OpenTo(models.TextChoices):
    """What the sandbox could not isolate from the command on this machine, or was set not to."""

    NOTHING = "", "Nothing"
    NETWORK = "network", "Network"
    FILES = "files", "The instance's files"
    ALL = "all", "Files and network"


class CommandOutput(models.Model):
    """How one run of a command ended, and what it wrote."""

    command = models.JSONField()  # the arguments, as in the rubric
    exit_code = models.IntegerField(null=True, blank=True)  # NULL: stopped
    stopped = models.CharField(max_length=200, blank=True)
    stdout = models.TextField(blank=True)
    stderr = models.TextField(blank=True)
    stdout_missing = models.PositiveBigIntegerField(default=0)  # bytes that were cut
    stderr_missing = models.PositiveBigIntegerField(default=0)
    seconds = models.DecimalField(max_digits=12, decimal_places=3)
    open_to = models.CharField(max_length=10, blank=True, choices=OpenTo)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(exit_code__isnull=False, stopped="")
                | (models.Q(exit_code__isnull=True) & ~models.Q(stopped="")),
                name="%(class)s_ended_or_was_stopped",
            )
        ]


class EvaluatorOutput(CommandOutput):
    """One run of an evaluator's command, and what was found in its output."""

    failure = models.CharField(max_length=300, blank=True)  # why it counts as a complete failure
    # {name: [number as text, ...]}: one number per run of the command that gave it, none if not found.
    metrics = models.JSONField(default=dict, blank=True)

    class Meta(CommandOutput.Meta):
        abstract = True


class EvaluatorResult(EvaluatorOutput):
    """An evaluator's result for a round. A separate table keeps these texts out of lists of rounds.

    If the command is repeated, the texts are those of the run in the middle, and the metrics have a number of
    each run. EvaluatorRepeat has the runs.
    """

    round = models.OneToOneField(Round, on_delete=models.CASCADE, related_name="evaluator_result")
    runs = models.PositiveSmallIntegerField(default=1)
    failed_runs = models.PositiveSmallIntegerField(default=0)  # of several; those that failed completely

    def __str__(self) -> str:
        return f"evaluator's output on round {self.round_id}"


class EvaluatorRepeat(EvaluatorOutput):
    """One of several runs of a round's command, saved as soon as it ended."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="evaluator_repeats")
    number = models.PositiveSmallIntegerField()  # from 1

    class Meta(EvaluatorOutput.Meta):
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            *CommandOutput.Meta.constraints,
            models.UniqueConstraint(fields=["round", "number"], name="evaluator_repeat_unique_in_round"),
        ]

    def __str__(self) -> str:
        return f"run {self.number} of the evaluator on round {self.round_id}"


class ValidationResult(CommandOutput):
    """The validation command's result for a round's candidate: as written, and after a repair."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="validations")
    number = models.PositiveSmallIntegerField()  # 1: the candidate as written, 2: after the repair
    replaced = models.TextField(blank=True)  # the candidate that failed, if a repair has replaced it

    class Meta(CommandOutput.Meta):
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            *CommandOutput.Meta.constraints,
            models.UniqueConstraint(fields=["round", "number"], name="validation_unique_in_round"),
        ]

    def __str__(self) -> str:
        return f"validation {self.number} of round {self.round_id}"

    @property
    def passed(self) -> bool:
        return self.exit_code == 0
