"""Changes of failure categories by people. Each is in the audit log, and a worker never undoes one.

Every change names the edition that the person saw; if somebody changed the category since, it is refused.
"""

from collections.abc import Collection, Sequence

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from refinement.models import FailureCategory, FailureIssue, FailureSuggestion, Project, User
from refinement.models.failures.categories import NAME_CHARS, NOTE_CHARS
from refinement.services.audit import AuditOf
from refinement.texts import storable

MOST_EXAMPLES = 24
MOST_MERGED = 50
MOST_MOVED = 200
audit = AuditOf("failure category")


class CategoryChanged(Exception):
    """Somebody else changed the category since the person opened it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"“{name}” was changed by somebody else in the meantime. Check it, then try again.")


class NotPossible(ValueError):
    """The change makes no sense; the message says why."""


def clean_name(name: str) -> str:
    """The name on one line. Raises NotPossible."""
    name = " ".join(storable(name).split())
    if len(name) > NAME_CHARS:
        raise NotPossible(f"At most {NAME_CHARS} characters.")
    return name


@transaction.atomic
def category_change(
    category: FailureCategory,
    user: User,
    *,
    edition: int | None = None,
    name: str | None = None,
    note: str | None = None,
    pinned: bool | None = None,
    dismissed: bool | None = None,
) -> FailureCategory:
    """Renames, annotates, pins or dismisses; an empty name brings the automatic one back.

    What judges say of a dismissed category is not an issue for people: figures leave it out.

    Raises CategoryChanged if `edition` is not the current one, and NotPossible.
    """
    row = locked(category, edition)
    before: dict[str, object] = {}
    fields = ["edition"]
    if name is not None and (name := clean_name(name)) != row.name:
        before["name"], row.name = row.name, name
        fields.append("name")
    if note is not None and (note := storable(note).strip()) != row.note:
        if len(note) > NOTE_CHARS:
            raise NotPossible(f"At most {NOTE_CHARS:,} characters.")
        before["note"], row.note = row.note, note
        row.note_by, row.note_at = (user, timezone.now()) if note else (None, None)
        fields += ["note", "note_by", "note_at"]
    if pinned is not None and pinned != row.pinned:
        before["pinned"], row.pinned = row.pinned, pinned
        fields.append("pinned")
    if dismissed is not None and dismissed != row.dismissed:
        before["dismissed"], row.dismissed = row.dismissed, dismissed
        fields.append("dismissed")
    if before:
        row.edition += 1
        row.save(update_fields=fields)
        audit("failures.change", row, user, before=before, after={key: getattr(row, key) for key in before})
    return row


@transaction.atomic
def categories_merge(into: FailureCategory, others: Sequence[FailureCategory], user: User) -> FailureCategory:
    """Counts the others' issues, and later ones like them, for `into`. They keep their own issues.

    Raises NotPossible.
    """
    target = locked(into)
    sources = [other for other in others if other.pk != target.pk]
    if not sources or len(sources) > MOST_MERGED:
        raise NotPossible("Choose two or more categories.")
    if target.merged_into_id is not None:
        raise NotPossible(f"“{target}” is itself merged into another category.")
    numbers = [source.pk for source in sources]
    part = Q(pk__in=numbers) | Q(merged_into__in=numbers)
    FailureCategory.objects.filter(part, project=target.project_id).update(
        merged_into=target, pinned=False, edition=F("edition") + 1
    )
    target.edition += 1
    target.save(update_fields=["edition"])
    audit(
        "failures.merge", target, user, after={"name": target.shown_name, "merged": [str(s) for s in sources]}
    )
    return target


@transaction.atomic
def category_separate(category: FailureCategory, user: User) -> FailureCategory:
    """Undoes the merging of this category. Raises NotPossible."""
    row = locked(category)
    if row.merged_into_id is None:
        raise NotPossible(f"“{row}” is not merged into another category.")
    before = str(row.merged_into)
    row.merged_into = None
    row.edition += 1
    row.save(update_fields=["merged_into", "edition"])
    audit("failures.separate", row, user, before={"merged_into": before}, after={"name": row.shown_name})
    return row


@transaction.atomic
def issues_move(
    issues: Sequence[FailureIssue], user: User, *, to: FailureCategory | None
) -> FailureCategory | None:
    """Puts issues into a category, or says that none fits. Later issues like them follow.

    Raises NotPossible.
    """
    if not issues or len(issues) > MOST_MOVED:
        raise NotPossible(f"Choose 1 to {MOST_MOVED} issues.")
    texts = {issue.excerpt for issue in issues}
    sources = {issue.category_id for issue in issues if issue.category_id}
    FailureIssue.objects.filter(pk__in=[issue.pk for issue in issues]).update(
        category=to, by_hand=True, closeness=1.0 if to else 0.0
    )
    for row in FailureCategory.objects.select_for_update().filter(pk__in=sources).order_by("pk"):
        if to is None or row.pk != to.pk:
            row.examples = [text for text in row.examples if text not in texts] or row.examples
            row.save(update_fields=["examples"])
    if to is not None:
        learn(to, sorted(texts))
    project: Project = issues[0].project
    subject = to or FailureCategory(pk=0, project=project, automatic_name="Does not fit anywhere")
    audit("failures.move", subject, user, after={"name": subject.shown_name, "issues": len(issues)})
    return to


@transaction.atomic
def issues_split(issues: Sequence[FailureIssue], user: User, *, name: str, criterion: str) -> FailureCategory:
    """Makes a category of its own from these issues. Raises NotPossible."""
    name = clean_name(name)
    if not name:
        raise NotPossible("Enter a name for the new category.")
    if not issues:
        raise NotPossible("Choose at least one issue.")
    row = FailureCategory.objects.create(
        project=issues[0].project,
        criterion=criterion,
        automatic_name=name,
        name=name,
        by_hand=True,
        examples=[],
    )
    issues_move(issues, user, to=row)
    return row


@transaction.atomic
def suggestion_dismiss(suggestion: FailureSuggestion, user: User) -> None:
    """Never suggests this pair again."""
    FailureSuggestion.objects.filter(pk=suggestion.pk).update(dismissed=True)
    audit("failures.dismiss", suggestion.first, user, after={"with": str(suggestion.second)})


def learn(category: FailureCategory, texts: Collection[str]) -> None:
    """Later issues are compared with these texts, too."""
    row = FailureCategory.objects.select_for_update().get(pk=category.pk)
    kept = [text for text in row.examples if text not in texts]
    row.examples = [*texts, *kept][:MOST_EXAMPLES]
    row.save(update_fields=["examples"])


def locked(category: FailureCategory, edition: int | None = None) -> FailureCategory:
    """The category as it is now, locked. Raises CategoryChanged."""
    row = FailureCategory.objects.select_for_update().get(pk=category.pk)
    row.project = category.project
    if edition is not None and row.edition != edition:
        raise CategoryChanged(row.shown_name)
    return row
