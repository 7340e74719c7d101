"""Lists of runs: an index in the order of the page for every filter and every order."""

from django.db import migrations, models
from django.db.models import F, Index, Q

IN_USE = Q(archived_at__isnull=True)
FILTERED = (
    ("outcome", "run_by_outcome"),
    ("stop_reason", "run_by_reason"),
    ("status", "run_by_status"),
    ("rubric", "run_by_rubric"),
    ("producer_model", "run_by_producer"),
    ("judge_model", "run_by_judge"),
    ("created_by", "run_by_person"),
    ("kinship", "run_by_kinship"),
)
MARKED = (
    ("signal_rounds", "run_with_signal"),
    ("penalty_rounds", "run_with_penalty"),
    ("cut_rounds", "run_with_cut"),
)
SCORED = (("best", "run_best_first"), ("r1", "run_r1_first"), ("improvement", "run_improvement_first"))
INDEXES = [
    Index(fields=["project", "-id"], name="run_in_use", condition=IN_USE),
    Index(fields=["project", "-id"], name="run_archived", condition=Q(archived_at__isnull=False)),
    Index(fields=["project", "created_at"], name="run_by_date"),
    *(Index(fields=["project", field, "-id"], name=name, condition=IN_USE) for field, name in FILTERED),
    *(
        Index(fields=["project", "-id"], name=name, condition=IN_USE & Q(**{f"{field}__gt": 0}))
        for field, name in MARKED
    ),
    *(
        Index(
            fields=["project", f"-{field}", "-id"],
            name=name,
            condition=IN_USE & Q(**{f"{field}__isnull": False}),
        )
        for field, name in SCORED
    ),
    Index(fields=["project", "-rounds_judged", "-id"], name="run_rounds_first", condition=IN_USE),
    Index(fields=["project", "-model_seconds", "-id"], name="run_time_first", condition=IN_USE),
    Index(
        F("project"),
        models.OrderBy(F("prompt_tokens") + F("completion_tokens"), descending=True),
        models.OrderBy(F("id"), descending=True),
        condition=IN_USE,
        name="run_tokens_first",
    ),
]


class Migration(migrations.Migration):
    dependencies = [("refinement", "0011_run_tags_and_views")]

    operations = [migrations.AddIndex("run", index) for index in INDEXES]
