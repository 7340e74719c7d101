"""Database constraints refuse invalid rows."""

from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from refinement.models import Call, Check, CheckResult, Criterion, Round, Rubric, RubricVersion, Run, Verdict
from tests.models.given import a_run, a_version


def refused(make, constraint: str) -> None:
    """The statement fails, for this constraint's sake."""
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        make()


def a_round(run: Run, **changes: object) -> Round:
    return Round(
        **{"run": run, "number": 1, "origin": "draft", "candidate": "text", "candidate_chars": 4, **changes}
    )


# --- runs -------------------------------------------------------------------------------------
NOW = timezone.now()
END = {"status": "finished", "outcome": "PASS", "stop_reason": "passed", "finished_at": NOW}


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({**END, "outcome": ""}, "run_finished_has_outcome_and_reason"),
        ({**END, "stop_reason": ""}, "run_finished_has_outcome_and_reason"),
        ({**END, "finished_at": None}, "run_finished_has_outcome_and_reason"),
        ({"outcome": "PASS"}, "run_finished_has_outcome_and_reason"),
        ({"stop_reason": "passed"}, "run_finished_has_outcome_and_reason"),
        ({"finished_at": NOW}, "run_finished_has_outcome_and_reason"),
        ({"status": "waiting", "next_try_at": None}, "run_waiting_has_next_try"),
        ({"status": "asleep"}, "run_status_known"),
    ],
)
def test_a_run_that_cannot_be(project, fields, constraint):
    run = a_run(project)
    refused(lambda: Run.objects.filter(pk=run.pk).update(**fields), constraint)


@pytest.mark.parametrize("fields", [END, {"status": "waiting", "next_try_at": NOW}, {"status": "paused"}])
def test_a_run_that_can_be(project, fields):
    run = a_run(project)
    assert Run.objects.filter(pk=run.pk).update(**fields) == 1


def test_a_version_that_a_run_used_cannot_be_deleted(project):
    run = a_run(project)
    with pytest.raises(ProtectedError):
        run.rubric_version.delete()


# --- rounds and what belongs to them ------------------------------------------------------------
def test_a_round_is_unique_in_its_run(project):
    run, other = a_run(project), a_run(project, a_version(project, "simmer"))
    a_round(run).save()
    a_round(other).save()
    refused(a_round(run).save, "UNIQUE constraint failed: refinement_round.run_id, refinement_round.number")


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"number": 0}, "round_from_one"),
        ({"candidate": "", "candidate_chars": 0}, "round_candidate_not_empty"),
        ({"judged_at": NOW}, "round_judged_has_composite"),
        ({"composite": Decimal(7)}, "round_judged_has_composite"),
        ({"judged_at": NOW, "composite": Decimal(7)}, "round_judged_has_composite"),
        ({"scores": {"depth": "7"}}, "round_judged_has_composite"),
    ],
)
def test_a_round_that_cannot_be(project, fields, constraint):
    refused(a_round(a_run(project), **fields).save, constraint)


def test_a_judge_and_a_check_speak_once_of_a_round(project):
    entry = a_round(a_run(project))
    entry.save()
    Verdict.objects.create(round=entry, judge="judge:8b", scores=[])
    refused(lambda: Verdict.objects.create(round=entry, judge="other", scores=[]), "refinement_verdict")
    given = {"round": entry, "key": "long", "passed": True, "severity": "error", "weight": 1}
    CheckResult.objects.create(position=0, **given)
    refused(lambda: CheckResult.objects.create(position=1, **given), "refinement_checkresult")


def test_an_attempt_is_kept_once(project):
    given = {
        "run": a_run(project), "round_number": 1, "role": "judge", "attempt": 1, "endpoint": "ollama",
        "model": "judge:8b", "messages": [], "started_at": NOW, "finished_at": NOW,
    }  # fmt: skip
    Call.objects.create(**given)
    refused(lambda: Call.objects.create(**given), "refinement_call")
    Call.objects.create(**{**given, "attempt": 2})


# --- rubrics ------------------------------------------------------------------------------------
def copied(version: RubricVersion, **changes: object) -> RubricVersion:
    fields = {
        field.name: getattr(version, field.name) for field in version._meta.fields if field.name != "id"
    }
    return RubricVersion(**{**fields, "number": 2, **changes})


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"number": 1}, "refinement_rubricversion.rubric_id, refinement_rubricversion.number"),
        ({"number": 0}, "rubric_version_from_one"),
        ({"scale_minimum": Decimal(10)}, "scale_has_a_range"),
        ({"scale_minimum": Decimal(11)}, "scale_has_a_range"),
        ({"scale_step": Decimal(0)}, "scale_step_positive"),
        ({"scale_step": Decimal(-1)}, "scale_step_positive"),
    ],
)
def test_a_version_that_cannot_be(project, fields, constraint):
    refused(copied(a_version(project), **fields).save, constraint)


def test_a_slug_is_unique_in_its_project_only(project, other_project):
    a_version(project)
    a_version(other_project)
    refused(lambda: Rubric.objects.create(project=project, slug="wiggum", name="Again"), "refinement_rubric")


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"weight": Decimal(0)}, "criterion_weight_positive"),
        ({"weight": Decimal(-1)}, "criterion_weight_positive"),
        ({"key": "depth"}, "refinement_criterion.version_id, refinement_criterion.key"),
        ({"position": 0}, "refinement_criterion.version_id, refinement_criterion.position"),
    ],
)
def test_a_criterion_that_cannot_be(project, fields, constraint):
    given = {"version": a_version(project), "position": 9, "key": "new", "name": "New", "weight": Decimal(1)}
    refused(Criterion(**{**given, **fields}).save, constraint)


def test_one_criterion_is_primary(project):
    version = a_version(project, "simmer")
    assert version.criteria.filter(primary=True).count() == 1
    second = Criterion(version=version, position=9, key="new", name="New", weight=1, primary=True)
    refused(second.save, "refinement_criterion.version_id")


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"weight": Decimal(0)}, "check_weight_positive"),
        ({"key": "not-empty"}, "refinement_check.version_id, refinement_check.key"),
        ({"position": 0}, "refinement_check.version_id, refinement_check.position"),
    ],
)
def test_a_check_that_cannot_be(project, fields, constraint):
    given = {
        "version": a_version(project, "ralph"), "position": 9, "key": "new", "kind": "is-json",
        "severity": "error", "weight": Decimal(1),
    }  # fmt: skip
    refused(Check(**{**given, **fields}).save, constraint)
