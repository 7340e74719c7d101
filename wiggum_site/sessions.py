"""Sessions as Django keeps them in the database, read by a statement that is made once.

Every page begins with this query, and building it took longer than answering it.
"""

from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from refinement.models.prepared import prepared


class SessionStore(db.SessionStore):
    """The name is Django's as well: with another one, nobody who is signed in now would be."""

    def _get_session_from_db(self) -> Any:
        for found in _sessions_under(self.session_key) if self.session_key else ():
            if found.expire_date > timezone.now():
                return found
        self._session_key = None
        return None


@prepared
def _sessions_under(key: str) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key).order_by("pk")
