"""What the command palette finds: runs, rubrics, suites, saved views, pages, projects and actions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from refinement.models import Experiment, Membership, Project, Rubric, Run, User
from refinement.selectors.projects.lists import projects_for
from refinement.selectors.runs.listing.rows import since
from refinement.selectors.runs.listing.saved_views import views_of
from refinement.selectors.runs.listing.search import search

MOST_CHARS = 200
MOST_RUNS = 7
MOST_OTHERS = 5
RECENT_RUNS = 500  # newest runs whose titles are matched by parts of words; older ones by whole words
MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Entry:
    """A place to go to, or a theme to switch to."""

    label: str
    href: str = ""
    note: str = ""
    theme: str = ""
    more_words: str = ""  # also found by these
    posts: bool = False  # the address wants a POST


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    entries: list[Entry]


def jump(membership: Membership, words: str) -> list[Group]:
    """Matches by kind, each kind bounded. Without words: recent runs, then pages and actions."""
    wanted = " ".join(words.split())[:MOST_CHARS]
    user, project = membership.user, membership.project
    groups = [
        Group("Runs", _runs(project, wanted)),
        Group("Rubrics", _rubrics(project, wanted)),
        Group("Suites", _suites(project, wanted)),
        Group("Experiments", _experiments(project, wanted)),
        Group("Views", _views(user, project, wanted)),
        Group("Actions", _named(wanted, _actions(membership))),
        Group("Pages", _named(wanted, _pages(membership))),
        Group("Projects", _projects(user, project, wanted)),
    ]
    return [group for group in groups if group.entries]


def _runs(project: Project, words: str) -> list[Entry]:
    rows = Run.objects.filter(project=project).order_by("-id")
    digits = words.removeprefix("#")
    if not words:
        found = rows.filter(archived_at__isnull=True)
    elif digits.isascii() and digits.isdigit() and len(digits) <= MOST_DIGITS:
        found = rows.filter(Q(pk=int(digits)) | Q(pk__in=_by_words(project, words)))
    else:
        found = rows.filter(pk__in=_by_words(project, words))
    shown = found.select_related("rubric").only("title", "created_at", "rubric__name")[:MOST_RUNS]
    return [_run(project, run) for run in shown]


def _by_words(project: Project, words: str) -> list[int]:
    """Recent runs with the words in their title, and runs with the words in their texts."""
    recent = Run.objects.filter(project=project).order_by("-id").values("pk")[:RECENT_RUNS]
    # Those of experiments last: they have the same title many times.
    titled = Run.objects.filter(pk__in=recent, title__icontains=words)
    titled = titled.order_by(F("experiment_id").asc(nulls_first=True), "-id")
    numbers = list(titled.values_list("pk", flat=True)[:MOST_RUNS])
    return numbers if len(numbers) == MOST_RUNS else numbers + search(project, words, limit=MOST_RUNS).numbers


def _run(project: Project, run: Run) -> Entry:
    return Entry(
        run.title or f"Run {run.pk}",
        reverse("run_page", args=[project.slug, run.pk]),
        f"#{run.pk} · {run.rubric.name} · {since(run.created_at, timezone.now())}",
    )


def _rubrics(project: Project, words: str) -> list[Entry]:
    if not words:
        return []
    found = Rubric.objects.filter(project=project, archived_at__isnull=True, name__icontains=words)
    return [
        Entry(rubric.name, reverse("rubric_page", args=[project.slug, rubric.slug]))
        for rubric in found[:MOST_OTHERS]
    ]


def _suites(project: Project, words: str) -> list[Entry]:
    if not words:
        return []
    found = project.suites.filter(archived_at__isnull=True, name__icontains=words).only("name", "slug")
    return [
        Entry(suite.name, reverse("suite_page", args=[project.slug, suite.slug]))
        for suite in found[:MOST_OTHERS]
    ]


def _experiments(project: Project, words: str) -> list[Entry]:
    if not words:
        return []
    found = Experiment.objects.filter(project=project, name__icontains=words).order_by("-pk")
    return [
        Entry(each.name, reverse("experiment_page", args=[project.slug, each.pk]), each.get_status_display())
        for each in found[:MOST_OTHERS]
    ]


def _views(user: User, project: Project, words: str) -> list[Entry]:
    if not words:
        return []
    found = views_of(project, user).filter(name__icontains=words)
    address = reverse("run_list", args=[project.slug])
    return [Entry(view.name, f"{address}?{view.query}") for view in found[:MOST_OTHERS]]


def _projects(user: User, project: Project, words: str) -> list[Entry]:
    if not words:
        return []
    found = projects_for(user).exclude(pk=project.pk).filter(name__icontains=words)
    return [Entry(each.name, reverse("project_home", args=[each.slug])) for each in found[:MOST_OTHERS]]


def _named(words: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries with every word in their label or their other words."""
    parts = words.lower().split()
    texts = {entry: f"{entry.label} {entry.more_words}".lower() for entry in entries}
    return [entry for entry, text in texts.items() if all(part in text for part in parts)]


def _linked(project: Project, pages: Mapping[str, tuple[str, str]]) -> list[Entry]:
    return [
        Entry(label, reverse(name, args=[project.slug]), more_words=more)
        for name, (label, more) in pages.items()
    ]


def _actions(membership: Membership) -> list[Entry]:
    actions: dict[str, tuple[str, str]] = {}
    if membership.can_edit:
        actions["run_new"] = ("New run", "launch start create")
        actions["rubric_gallery"] = ("New rubric", "create gallery criteria")
        actions["experiment_new"] = ("New experiment", "launch suite compare configurations")
        actions["suite_new"] = ("New suite", "create tasks experiment")
        actions["run_import"] = ("Import runs", "upload file")
    if membership.is_owner:
        actions["member_list"] = ("Invite people", "add member invitation")
    themes = [
        Entry(f"Theme: {theme}", theme=theme, more_words="color mode appearance")
        for theme in ("light", "dark", "system")
    ]
    return [*_linked(membership.project, actions), *_tour(membership), *themes]


def _tour(membership: Membership) -> list[Entry]:
    """The prepared example, and for administrators the way to a model of their own."""
    slug = membership.project.slug
    entries = [
        Entry(
            "Open the example", reverse("prepared_open", args=[slug]), more_words="tour prepared", posts=True
        ),
        Entry(
            "Play the example", f"{reverse('prepared_play', args=[slug])}?play=1", more_words="tour prepared"
        ),
    ]
    if membership.user.is_superuser:
        entries.append(Entry("Connect a model", reverse("connect"), more_words="endpoint server ollama"))
    return entries


def _pages(membership: Membership) -> list[Entry]:
    pages = {
        "project_home": ("Home", "overview dashboard"),
        "run_list": ("Runs", "list"),
        "failure_page": ("Failures", "what fails most issues categories criteria checks"),
        "trust_home": ("Trust", "judges agreement with people noise kappa bias labels"),
        "trust_compare": ("Compare judges", "trust agreement two models versions"),
        "review_list": ("Reviews", "requests queue"),
        "rubric_list": ("Rubrics", "list"),
        "experiment_list": ("Experiments", "list suites leaderboard"),
        "suite_list": ("Suites", "list tasks experiments"),
        "member_list": ("Members", "people roles project"),
        "token_list": ("API tokens", "keys scripts"),
    }
    if membership.is_owner:
        pages["project_settings"] = ("Project settings", "blind sharing")
        pages["webhook_list"] = ("Webhooks", "slack teams discord notices")
        pages["audit_log"] = ("Audit log", "history changes")
    everywhere = {
        "inbox": ("Inbox", "notices unread"),
        "account": ("Account", "name password time zone sessions"),
        "mfa_index": ("Security", "passkey two-factor sign-in"),
        "notice_settings": ("Notifications", "email notices"),
        "help": ("Help", "documentation docs"),
    }
    if membership.user.is_superuser:
        everywhere["administration"] = ("Administration", "accounts admin")
        everywhere["administration_prices"] = ("Prices", "cost money tokens models")
        everywhere["administration_system"] = ("System status", "workers queue database endpoints models")
    return [
        *_linked(membership.project, pages),
        *(Entry(label, reverse(name), more_words=more) for name, (label, more) in everywhere.items()),
    ]
