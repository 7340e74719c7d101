"""Names of categories for a reader who scores a run blind: never in the words of that run's judge."""

from collections.abc import Iterable

from django.db.models import OuterRef, Subquery

from refinement.models import FailureCategory, FailureIssue
from refinement.models.failures.categories import NAME_CHARS
from refinement.selectors.reviews.blindness import hidden_runs, without_hidden

HIDDEN = "Hidden while you score blind"


def worded_visibly(rows: Iterable[FailureCategory]) -> None:
    """Words the automatic names that a hidden run's issue may have given by a visible issue of the category.

    One query if runs are hidden in the current context, else none.
    """
    if not hidden_runs():
        return
    unnamed = {row.pk: row for row in rows if not row.name}
    visible = without_hidden(FailureIssue.objects.filter(category=OuterRef("pk")), "run")
    typical = visible.order_by("-closeness", "-pk").values("excerpt")[:1]
    affected = FailureCategory.objects.filter(pk__in=unnamed, issues__run__in=hidden_runs()).distinct()
    for pk, text in affected.annotate(typical=Subquery(typical)).values_list("pk", "typical"):
        unnamed[pk].worded = shortened(text) if text else HIDDEN


def shortened(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= NAME_CHARS else f"{line[: NAME_CHARS - 1].rsplit(' ', 1)[0]}…"
