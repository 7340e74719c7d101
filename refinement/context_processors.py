"""Template context of every page."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest

from refinement.models import Project, User
from refinement.selectors.help import topic_of
from refinement.selectors.reviews.notices import unread_count, unread_words
from refinement.selectors.reviews.requests import projects_with_reviews
from refinement.views.account.theme import theme_of


def page(request: HttpRequest) -> dict[str, Any]:
    """The theme and the data of the navigation."""
    return {
        "theme": theme_of(request),
        "mail_configured": settings.MAIL_CONFIGURED,
        "openid_connect": settings.OPENID_CONNECT,
        "navigation": Navigation(request),
    }


class Navigation:
    """The user's projects and counts, loaded once and only if a page shows them."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._projects: list[Project] | None = None
        self._unread: str | None = None

    @property
    def projects(self) -> list[Project]:
        if self._projects is None:
            user: Any = getattr(self._request, "user", None)
            signed_in = isinstance(user, User)
            self._projects = projects_with_reviews(user.pk) if signed_in else []
        return self._projects

    @property
    def reviews_waiting(self) -> int:
        """The number of the user's open review requests in this page's project."""
        here = self.project
        return next((getattr(entry, "reviews_waiting", 0) for entry in self.projects if entry == here), 0)

    @property
    def unread(self) -> str:
        """The number of unread notices as text, or an empty string."""
        if self._unread is None:
            user = getattr(self._request, "user", None)
            count = unread_count(user) if isinstance(user, User) else 0
            self._unread = unread_words(count) if count else ""
        return self._unread

    @property
    def time_zone(self) -> str:
        """The zone that this page's times are in, if the user chose one."""
        return getattr(self._request, "time_zone", "")

    @property
    def help(self) -> str:
        """The URL of the help page for this page."""
        match = getattr(self._request, "resolver_match", None)
        return topic_of(match.url_name or "" if match else "")

    @property
    def project(self) -> Project | None:
        """The project of this page, or the last used one, or the first."""
        here: Project | None = getattr(self._request, "project", None)
        if here is not None:
            return here
        session = getattr(self._request, "session", {})
        last = session.get("project")
        return next((project for project in self.projects if project.slug == last), None) or next(
            iter(self.projects), None
        )
