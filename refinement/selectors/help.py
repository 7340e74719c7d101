"""The help pages: the documentation in `docs/`, and which page helps where."""

import re
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from refinement.rendering import document
from refinement.selectors.projects.lists import NotFound

FOLDER = settings.BASE_DIR / "docs"
INDEX = "README"
RELATIVE = re.compile(r"([a-z0-9-]+)\.md(#[\w-]+)?")
LINE = re.compile(r"- \[(.+?)\]\(([a-z0-9-]+)\.md\)(?:: (.+))?")
# The page that helps on a page of the app, by the start of its URL's name; the first match counts.
TOPICS = (
    ("run_import", "import"),
    ("run_training", "training-pairs"),
    ("run_source", "sources"),
    ("run_evaluator", "evaluators"),
    ("evaluator", "evaluators"),
    ("run_list", "start"),
    ("run_new", "start"),
    ("run_estimate", "start"),
    ("prepared", "start"),
    ("project_home", "start"),
    ("connect", "endpoints"),
    ("run", "loop"),
    ("failure", "failures"),
    ("trust", "trust"),
    ("label", "trust"),
    ("measurement", "trust"),
    ("retest", "trust"),
    ("planted", "trust"),
    ("replay", "trust"),
    ("experiment", "experiments"),
    ("configuration", "experiments"),
    ("suite_history", "experiments"),
    ("rubric_import", "rubric-yaml"),
    ("rubric", "rubrics"),
    ("suite", "suites"),
    ("review", "reviews"),
    ("score", "reviews"),
    ("webhook", "webhooks"),
    ("token", "api"),
    ("endpoint", "endpoints"),
    ("administration_system", "monitoring"),
    ("administration", "people"),
    ("audit", "people"),
    ("member", "people"),
    ("invitation", "people"),
    ("project_settings", "people"),
    ("notice", "people"),
    ("inbox", "people"),
    ("account", "sign-in"),
    ("mfa", "sign-in"),
)
SECTION = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    title: str
    note: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the table of contents."""

    title: str
    links: list[Link]


@dataclass(frozen=True, slots=True)
class HelpPage:
    title: str
    body: SafeString
    sections: list[tuple[str, str]]  # anchor and title


@cache
def contents() -> list[Part]:
    """The table of contents, from the index of `docs/`."""
    parts: list[Part] = []
    for line in (FOLDER / f"{INDEX}.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            parts.append(Part(line[3:], []))
        elif parts and (found := LINE.fullmatch(line)):
            title, name, note = found.groups(default="")
            parts[-1].links.append(Link(name, title, note.replace("`", "")))
    return parts


@cache
def help_page(name: str) -> HelpPage:
    """A page of the documentation. Raises NotFound."""
    if name not in {link.name for part in contents() for link in part.links}:
        raise NotFound("Help page not found.")
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    title = text.partition("\n")[0].removeprefix("# ")
    body = document(text, _linked)
    return HelpPage(title, body, [(anchor, mark_safe(words)) for anchor, words in SECTION.findall(body)])  # noqa: S308  ours


def topic_of(url_name: str) -> str:
    """The URL of the help page for a page of the app, or of the index."""
    for start, page in TOPICS:
        if url_name.startswith(start):
            return reverse("help_page", args=[page])
    return reverse("help")


def _linked(target: str) -> str | None:
    if target.startswith("#"):
        return target
    found = RELATIVE.fullmatch(target)
    return f"{reverse('help_page', args=[found[1]])}{found[2] or ''}" if found else None
