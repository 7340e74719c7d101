"""A user's inbox: notices of their current projects, unread first, paginated."""

from dataclasses import dataclass
from html import unescape

from django.db.models import BooleanField, Case, Q, QuerySet, Value, When
from django.utils.html import strip_tags

from refinement.models import Notice, NoticeChoice, NoticeKind, User
from refinement.rendering import markdown
from refinement.selectors.reviews.blindness import blind_runs_of
from refinement.texts import one_line

PAGE_SIZE = 20
MOST_COUNTED = 100  # unread; above it the navigation shows 99+
EXCERPT_CHARS = 200
BLIND_MESSAGE = "New activity on run {run}, which you are scoring blind. You can see it after scoring."


@dataclass(frozen=True, slots=True)
class InboxLine:
    """A notice as displayed."""

    row: Notice
    text: str
    excerpt: str  # start of the comment


@dataclass(frozen=True, slots=True)
class InboxPage:
    """A page, and where the next one starts."""

    lines: tuple[InboxLine, ...]
    older: str
    newest: int  # "mark all read" covers notices up to this one
    unread: int


@dataclass(frozen=True, slots=True)
class ChoiceLine:
    """A user's setting for one kind of notice."""

    kind: str
    label: str
    inbox: bool
    mail: bool


def notices_of(user: User) -> QuerySet[Notice]:
    """Notices of the user's current projects only."""
    return _told(user.pk)


def _told(user: int) -> QuerySet[Notice]:
    return Notice.objects.filter(user=user, inbox=True, project__memberships__user=user)


def unread_count(user: User) -> int:
    """Number of unread notices, up to a limit."""
    return len(_unread(user.pk))


def _unread(user: int) -> list[int]:
    return list(_told(user).filter(read_at=None).order_by().values_list("pk", flat=True)[:MOST_COUNTED])


def unread_words(count: int) -> str:
    return "99+" if count >= MOST_COUNTED else str(count)


def inbox_page(user: User, *, unread_only: bool = False, cursor: str = "") -> InboxPage:
    """Unread first, each part newest first. `cursor` is where the previous page ended."""
    is_read = Case(When(read_at=None, then=Value(False)), default=Value(True), output_field=BooleanField())
    rows = notices_of(user).annotate(is_read=is_read).select_related("project", "comment")
    if unread_only:
        rows = rows.filter(read_at=None)
    found = list(rows.filter(_after(cursor)).order_by("is_read", "-id")[: PAGE_SIZE + 1])
    blind = blind_runs_of(user)
    lines = tuple(notice_line(row, blind=row.run_id in blind) for row in found[:PAGE_SIZE])
    last = lines[-1].row if len(found) > PAGE_SIZE else None
    newest = notices_of(user).order_by("-id").values_list("id", flat=True).first()
    return InboxPage(
        lines=lines,
        older=f"{'u' if last.read_at is None else 'r'}{last.pk}" if last else "",
        newest=newest or 0,
        unread=unread_count(user),
    )


def _after(cursor: str) -> Q:
    """The notices after the cursor; the first page if the cursor is not valid."""
    part, number = cursor[:1], cursor[1:]
    if part not in ("u", "r") or not (number.isascii() and number.isdigit() and len(number) <= 18):
        return Q()
    earlier = Q(id__lt=int(number))
    if part == "u":
        return (Q(read_at=None) & earlier) | Q(read_at__isnull=False)
    return Q(read_at__isnull=False) & earlier


def notice_line(row: Notice, *, blind: bool) -> InboxLine:
    if blind:
        return InboxLine(row, BLIND_MESSAGE.format(run=row.run_id), "")
    comment = row.comment
    said = one_line(plain(comment.body), EXCERPT_CHARS) if comment and comment.deleted_at is None else ""
    return InboxLine(row, row.text, said)


def plain(text: str) -> str:
    """Markdown without its marks; unchanged if it cannot be rendered."""
    html = markdown(text)
    return unescape(strip_tags(html)) if html else text


def choices_of(user: User) -> list[ChoiceLine]:
    """The user's notification settings by kind."""
    chosen = {choice.kind: choice for choice in NoticeChoice.objects.filter(user=user)}
    return [
        ChoiceLine(
            kind=kind.value,
            label=str(kind.label),
            inbox=kind not in chosen or chosen[kind].inbox,
            mail=kind not in chosen or chosen[kind].mail,
        )
        for kind in NoticeKind
    ]
