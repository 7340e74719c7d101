"""Ordinary and hostile rubrics, and runs that used them."""

from dataclasses import replace
from decimal import Decimal

from django.utils import timezone

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Check, Criterion, Rubric
from refinement.models import Project, RubricVersion, Run
from refinement.services.rubrics.editing import rubric_create, version_create
from tests.models.given import a_run

MARKUP = '<script>alert("x")</script><img src=x onerror=alert(1)>&lt;b&gt;'
BACKWARDS = "\u202egnp.exe\u202c \u05d0\u05d1\u200f"
HOSTILE = f"{MARKUP} {BACKWARDS} {{{{ 7|add:7 }}}}"


def a_rubric(project: Project, profile: str = "wiggum", slug: str = "own", **changes) -> RubricVersion:
    definition = replace(rubric_for(profile), **{"name": "Our own", **changes})
    return rubric_create(project=project, slug=slug, definition=definition)


def saved_again(version: RubricVersion, user=None, note: str = "", **changes) -> RubricVersion:
    definition = replace(rubric_for(version.profile), **{"name": version.name, **changes})
    return version_create(rubric=version.rubric, definition=definition, user=user, note=note)


def a_finished_run(project: Project, version: RubricVersion, outcome: str = "PASS", best: str = "9.1") -> Run:
    run = a_run(project, version)
    run.status, run.outcome, run.stop_reason = "finished", outcome, "passed"
    run.finished_at, run.best, run.rounds_judged = timezone.now(), Decimal(best), 2
    run.save(update_fields=["status", "outcome", "stop_reason", "finished_at", "best", "rounds_judged"])
    return run


def hostile_definition(purpose: str = HOSTILE) -> Rubric:
    """Markup and right-to-left marks in every field that takes a text."""
    base = rubric_for("wiggum")
    return replace(
        base,
        name=HOSTILE[:150],
        purpose=purpose,
        artifact_type=MARKUP[:40],
        policy=replace(
            base.policy,
            penalties=replace(base.policy.penalties, criterion="key", allowed_objects=(HOSTILE,)),
        ),
        criteria=(Criterion("key", HOSTILE[:110], HOSTILE, HOSTILE), Criterion(MARKUP[:60], "Name")),
        checks=(Check(MARKUP[:50], "contains", {"text": HOSTILE}, suggestion=HOSTILE),),
        background=HOSTILE,
        output_contract=HOSTILE,
        search_space=HOSTILE,
        templates={"judge": HOSTILE},
        calibration_text=HOSTILE,
        calibration_scores={"key": Decimal(5)},
    )
