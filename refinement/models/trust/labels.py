"""Label sets: texts with scores by people, and by judges that were recorded elsewhere."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project
from refinement.models.rubrics.rubrics import Rubric, RubricVersion
from refinement.models.runs.rounds import Round

NAME_CHARS = 160
KEY_CHARS = 200


class LabelSet(models.Model):
    """Texts to score by hand on a rubric's criteria, each by `raters_wanted` people.

    The version fixes the criteria and the scale. Labels count for every version of the rubric with the same
    scale, criterion by criterion.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_sets")
    rubric = models.ForeignKey(Rubric, on_delete=models.CASCADE, related_name="label_sets")
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.CASCADE, related_name="label_sets")
    name = models.CharField(max_length=NAME_CHARS)
    note = models.TextField(blank=True)
    raters_wanted = models.PositiveSmallIntegerField(default=2)  # for each text
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["project", "-id"], name="label_set_newest"),
            models.Index(fields=["rubric", "-id"], name="label_set_of_rubric"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "name"], name="label_set_name_unique"),
            models.CheckConstraint(
                condition=models.Q(raters_wanted__gte=1, raters_wanted__lte=20), name="label_set_raters"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class LabelItem(models.Model):
    """A text of a label set. Imported ratings may come without texts: then `text` is empty."""

    label_set = models.ForeignKey(LabelSet, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()  # from 1
    key = models.CharField(max_length=KEY_CHARS)  # its name in imported files
    title = models.CharField(max_length=120, blank=True)  # the beginning of the text, for lists
    task = models.TextField(blank=True)
    task_type = models.CharField(max_length=50, blank=True)
    round = models.ForeignKey(Round, models.SET_NULL, null=True, blank=True, related_name="label_items")
    producer_family = models.CharField(max_length=100, blank=True)  # of the model that wrote it
    text_chars = models.PositiveIntegerField(default=0)
    text_sha256 = models.CharField(max_length=64, blank=True)
    text = models.TextField(blank=True)  # last: lists do not need it

    class Meta:
        ordering: ClassVar = ["position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["label_set", "key"], name="label_item_key_unique"),
            models.UniqueConstraint(fields=["label_set", "position"], name="label_item_position_unique"),
        ]

    def __str__(self) -> str:
        return self.key


class LabelRater(models.Model):
    """Who scored texts of a set: a member, an outside name, or a judge that was recorded elsewhere.

    Several judge raters with the same model are repeats of one judge.
    """

    label_set = models.ForeignKey(LabelSet, on_delete=models.CASCADE, related_name="raters")
    name = models.CharField(max_length=NAME_CHARS)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="label_raters"
    )
    judge_model = models.CharField(max_length=200, blank=True)  # of a recorded judge
    # Set while a member's queue is open: then others' scores are hidden from them.
    opened_at = models.DateTimeField(null=True, blank=True)
    # When they left an unfinished queue or saw scores of texts to label: later labels are not blind.
    left_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [models.Index(fields=["user", "left_at"], name="label_rater_open")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["label_set", "name"], name="label_rater_name_unique"),
            models.UniqueConstraint(fields=["label_set", "user"], name="label_rater_user_unique"),
            models.CheckConstraint(
                condition=models.Q(judge_model="") | models.Q(user__isnull=True),
                name="label_rater_judge_is_no_member",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_judge(self) -> bool:
        return bool(self.judge_model)


class Label(models.Model):
    """One rater's scores of one text. Scores are stored as text to stay exact."""

    item = models.ForeignKey(LabelItem, on_delete=models.CASCADE, related_name="labels")
    rater = models.ForeignKey(LabelRater, on_delete=models.CASCADE, related_name="labels")
    scores = models.JSONField()  # {criterion key: score}; a rater may leave criteria out
    reasons = models.JSONField(default=dict, blank=True)  # {criterion key: text}
    note = models.TextField(blank=True)
    blind = models.BooleanField(default=False)  # given before seeing other scores
    wrong = models.JSONField(default=list, blank=True)  # criteria for which people said the label was wrong
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["item", "rater"], name="label_one_a_rater"),
        ]

    def __str__(self) -> str:
        return f"label of item {self.item_id} by rater {self.rater_id}"
