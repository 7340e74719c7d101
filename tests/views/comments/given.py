"""Runs with comments, and a parser that finds dangerous HTML."""

from html.parser import HTMLParser

from refinement.anchoring import Quotation
from refinement.models import Comment, Run, ThreadPlace, User
from refinement.services.reviews.comment_spots import Spot
from refinement.services.reviews.comments import comment_add, thread_open
from tests.views.runs.finished import finished_run

FIRST = "# Deploying ingest\n\nThe service runs **in a container** and reads its settings.\n\nWatch the log."
SECOND = FIRST.replace("Watch the log.", "Watch the log until it says *ready*.").replace(
    "and reads", "and takes"
)
THIRD = "Something else entirely was written here in the last round of the run."
HTMX = {"HX-Request": "true"}


def talked_run(project, **fields) -> Run:
    return finished_run(project, candidates=[FIRST, SECOND, THIRD], **fields)


def say(
    run: Run, user: User, body: str = "Why?", place: str = "run", number: int | None = None, **more
) -> Comment:
    """Starts a thread."""
    return thread_open(run=run, spot=Spot(ThreadPlace(place), number, **more), body=body, user=user)


def quote(run: Run, user: User, words: str, number: int = 1, body: str = "Really?") -> Comment:
    return say(run, user, body, "passage", number, quotation=Quotation(words))


def answer(comment: Comment, user: User, body: str = "Because.") -> Comment:
    return comment_add(thread=comment.thread, body=body, user=user)


def address(run: Run, rest: str = "") -> str:
    return f"/p/{run.project.slug}/runs/{run.pk}/{rest}"


class Harm(HTMLParser):
    """Collects scripts, loaded resources and links that a page must not have."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in ("img", "iframe", "object", "embed", "base") or (tag == "script" and "src" not in given):
            self.found.append(tag)
        for name, value in given.items():
            href = (value or "").strip().lower()
            if name.startswith("on") or name == "style":
                self.found.append(f"{tag} {name}")
            if name in ("href", "src", "action") and href.startswith(("javascript:", "data:", "vbscript:")):
                self.found.append(f"{tag} {name}={value}")


def harm_in(text: str) -> list[str]:
    harm = Harm()
    harm.feed(text)
    return harm.found
