"""Bulk actions on runs."""

from collections.abc import Callable
from typing import Literal

from ninja import Field, Router, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import Number
from refinement.api.core.permissions import member
from refinement.services.runs.bulk import (
    MOST_RUNS,
    BulkResult,
    runs_archive,
    runs_cancel,
    runs_tag,
    runs_unarchive,
    runs_untag,
)
from refinement.services.runs.creating import MOST_TAGS

router = Router(tags=["Actions"])
CHANGES: dict[str, Callable[..., BulkResult]] = {
    "tag": runs_tag,
    "untag": runs_untag,
    "cancel": runs_cancel,
    "archive": runs_archive,
    "unarchive": runs_unarchive,
}


class ManyRuns(Schema):
    """The runs and the action."""

    runs: list[Number] = Field(
        min_length=1, max_length=MOST_RUNS, description="Run numbers.", examples=[[12, 13]]
    )
    action: Literal["tag", "untag", "cancel", "archive", "unarchive"]
    tags: list[str] = Field([], max_length=MOST_TAGS, description="For tag and untag.", examples=[["ci"]])


class ManyDone(Schema):
    """How many were changed, and why the others were not."""

    done: int
    refused: list[str]


@router.post("/bulk", response=ManyDone)
@member("editor")
def runs_changed(request: ApiRequest, body: ManyRuns) -> ManyDone:
    """Tag, cancel or archive many runs. Each run is changed independently; errors are reported."""
    extra = {"names": body.tags} if body.action in ("tag", "untag") else {}
    result = CHANGES[body.action](project=request.project, numbers=body.runs, user=request.user, **extra)
    return ManyDone(done=result.done, refused=result.refused)
