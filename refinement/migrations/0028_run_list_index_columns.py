"""Lists of runs: every index has all that is asked of a list that uses it, so that no row is read."""

from django.db import migrations
from django.db.models import F, Index, OrderBy, Q

IN_USE, ARCHIVED = Q(archived_at__isnull=True), Q(archived_at__isnull=False)
IMPORTED = IN_USE & Q(source__isnull=False)
FILTERED = (
    ("outcome", "run_by_outcome"),
    ("stop_reason", "run_by_reason"),
    ("status", "run_by_status"),
    ("rubric", "run_by_rubric"),
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
)
SCORED = (("best", "run_best_first"), ("r1", "run_r1_first"), ("improvement", "run_improvement_first"))
ALWAYS_ASKED = ("archived_at", "created_at")
BESIDES = (
    *ALWAYS_ASKED,
    *("r1", "best", "source", *(field for field, _ in MARKED), *(field for field, _ in FILTERED)),
)
SORTED_BY = ("improvement", "rounds_judged", "model_seconds", "prompt_tokens", "completion_tokens")


def newest(*mentioned, by="", name, condition=IN_USE):
    fields = ["project", *([by] if by else []), "-id", *ALWAYS_ASKED, *mentioned]
    return Index(fields=fields, name=name, condition=condition)


def in_order(*fields, name, condition=IN_USE):
    besides = [field for field in BESIDES if f"-{field}" not in fields]
    return Index(fields=["project", *fields, "-id", *besides], name=name, condition=condition)


INDEXES = [
    in_order(name="run_in_use"),
    Index(fields=["project", "-id", *BESIDES, *SORTED_BY], name="run_archived", condition=ARCHIVED),
    newest("source", name="run_imported", condition=IMPORTED),
    newest(by="source", name="run_by_source", condition=IMPORTED),
    *(newest(by=field, name=name) for field, name in FILTERED),
    *(newest(field, name=name, condition=IN_USE & Q(**{f"{field}__gt": 0})) for field, name in MARKED),
    *(
        in_order(f"-{field}", name=name, condition=IN_USE & Q(**{f"{field}__isnull": False}))
        for field, name in SCORED
    ),
    in_order("-rounds_judged", name="run_rounds_first"),
    in_order("-model_seconds", name="run_time_first"),
    Index(
        F("project"),
        OrderBy(F("prompt_tokens") + F("completion_tokens"), descending=True),
        OrderBy(F("id"), descending=True),
        *map(F, (*BESIDES, "prompt_tokens", "completion_tokens")),
        condition=IN_USE,
        name="run_tokens_first",
    ),
]


class Migration(migrations.Migration):
    dependencies = [("refinement", "0027_search_milestones")]

    operations = [
        operation
        for index in INDEXES
        for operation in (migrations.RemoveIndex("run", index.name), migrations.AddIndex("run", index))
    ]
