"""Streams that tell open pages of an experiment that something has changed.

A frame says what to reload; the page then asks for its parts, with the reader's permissions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse

from refinement.access.projects import ProjectRequest
from refinement.models import Experiment
from refinement.selectors.experiments.progress import Glance, glances_at
from refinement.streaming.frames import frame
from refinement.streaming.hub import Hub
from refinement.streaming.looking import Wanted
from refinement.streaming.responses import stream_opened
from refinement.streaming.watchers import Watcher


@dataclass(frozen=True, slots=True)
class ExperimentNews:
    """An experiment's state. A watcher sends it if it differs from the last one."""

    glance: Glance


class ExperimentWatcher(Watcher):
    """A page of one experiment. It stays open after the end: people may run what is missing."""

    def send_news(self, news: Any) -> bool:
        """Sends the state if it has changed. Returns whether anything was sent."""
        if self.seen == news.glance:
            return False
        self.seen = news.glance
        self.send(frame("changed", changed_values(news.glance)))
        return True


def changed_values(glance: Glance) -> dict[str, Any]:
    """`report` rises with each computation of the figures, `states` counts the cells by state."""
    return {
        "status": glance.status,
        "reason": glance.reason,
        "states": dict(glance.states),
        "total": sum(count for _, count in glance.states),
        "report": glance.report,
        "ended": glance.ended,
    }


def collect_experiments(wanted: Mapping[int, Wanted]) -> dict[int, Any]:
    return {pk: ExperimentNews(glance) for pk, glance in glances_at(list(wanted)).items()}


experiments_hub = Hub(collect_experiments)


def experiment_streamed(request: ProjectRequest, experiment: Experiment, *, session: str) -> HttpResponse:
    """The experiment's stream: `changed` at most twice a second, as long as the session or token is valid."""
    watcher = ExperimentWatcher(
        run_id=experiment.pk,
        user_id=request.user.pk,
        project_id=request.project.pk,
        session=session,
        after=0,
    )
    return stream_opened(request, experiments_hub, watcher)
