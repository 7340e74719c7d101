"""Review rules: requests for matching runs, once, for members who can sign in, from then on."""

import pytest
from django.core.exceptions import ValidationError

from refinement.engine.types import Finish, Outcome, StopReason
from refinement.execution.leases import LeaseLost, lease_take
from refinement.execution.steps.recording import Recorder
from refinement.models import AuditEntry, ReviewRequest, Rubric, Run, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.people.memberships import member_leave
from refinement.services.reviews.requests import review_done, reviews_ask
from refinement.services.reviews.rules import in_sample, review_rule_create, review_rule_end
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.lifecycle import run_cancel, run_continue
from tests.execution.lifecycle.conftest import scene
from tests.execution.lifecycle.given import Scene, advance, rubric
from tests.loopback.fixtures import ollama_server
from tests.views.test_role_matrix import run_in

__all__ = ["ollama_server", "scene"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project) -> Run:
    default_rubrics_install(project=project)
    return run_in(project)


def ended(run: Run, outcome: Outcome = Outcome.FAIL, signals: int = 0) -> Recorder:
    """The run's end, as a worker writes it down."""
    Run.objects.filter(pk=run.pk).update(signal_rounds=signals)
    lease = lease_take(Run, run.pk, "a worker")
    assert lease is not None
    recorder = Recorder(lease, None, "worker", sends=True)
    recorder.finish(Finish(outcome, StopReason.MAX_ROUNDS, "It is over.", None))
    return recorder


def asked() -> list[tuple[str, int | None]]:
    return list(ReviewRequest.objects.order_by("id").values_list("reviewer__email", "rule_id"))


OUTCOMES = (Outcome.PASS, Outcome.FAIL, Outcome.DONE, Outcome.ERROR)


@pytest.mark.parametrize("signals", [0, 2])
@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("kind", ["failed", "signal", "sample"])
def test_a_rule_asks_where_the_run_ended_as_it_says(run, editor, viewer, kind, outcome, signals):
    rule = review_rule_create(
        project=run.project,
        kind=kind,
        rubric=run.rubric if kind == "failed" else None,
        percent=100,
        reviewers=[viewer],
        user=editor,
        due_days=2,
    )
    ended(run, outcome, signals)
    expected = {
        "failed": outcome is Outcome.FAIL,
        "signal": signals > 0,
        "sample": outcome is not Outcome.ERROR,
    }[kind]
    assert asked() == ([(viewer.email, rule.pk)] if expected else [])
    assert run.events.filter(kind="reviewing").count() == expected
    if expected:
        request = ReviewRequest.objects.get()
        assert (request.asked_by, request.project) == (None, run.project)
        assert (request.due_on - request.asked_at.date()).days == 2
        entry = AuditEntry.objects.get(action="review.ask")
        assert (entry.actor, entry.user) == ("review rule", None)


def test_a_rule_for_one_rubric_leaves_the_others_alone(run, project, editor, viewer):
    other = Rubric.objects.get(project=project, slug="simmer")
    for kind in ("failed", "signal", "sample"):
        review_rule_create(
            project=project, kind=kind, rubric=other, percent=100, reviewers=[viewer], user=editor
        )
    ended(run, Outcome.FAIL, signals=1)
    assert asked() == []


def test_a_cancelled_run_is_nobodys_to_review(run, editor, viewer):
    review_rule_create(project=run.project, kind="sample", percent=100, reviewers=[viewer], user=editor)
    run_cancel(run=run, user=editor)
    assert asked() == []


def test_an_ended_rule_asks_nobody(run, editor, viewer):
    rule = review_rule_create(
        project=run.project, kind="sample", percent=100, reviewers=[viewer], user=editor
    )
    assert review_rule_end(project=run.project, number=rule.pk, user=editor)
    assert not review_rule_end(project=run.project, number=rule.pk, user=editor)
    ended(run)
    assert asked() == []
    assert AuditEntry.objects.get(action="review_rule.end").before == {"rule": "100 % of the runs"}


def test_who_left_or_cannot_sign_in_is_passed_over(run, project, owner, editor, viewer):
    review_rule_create(
        project=project, kind="sample", percent=100, reviewers=[owner, editor, viewer], user=owner
    )
    member_leave(project=project, user=viewer)
    User.objects.filter(pk=editor.pk).update(is_active=False)
    ended(run)
    assert [email for email, _ in asked()] == [owner.email]


def test_who_is_asked_already_is_not_asked_by_a_rule_as_well(run, editor, viewer):
    reviews_ask(run=run, reviewers=[viewer], user=editor, note="Please.")
    review_rule_create(project=run.project, kind="sample", percent=100, reviewers=[viewer], user=editor)
    ended(run)
    assert asked() == [(viewer.email, None)]


def test_two_rules_ask_a_person_once(run, editor, viewer, owner):
    given = {"project": run.project, "kind": "sample", "percent": 100, "user": editor}
    first = review_rule_create(**given, reviewers=[viewer])
    second = review_rule_create(**given, reviewers=[viewer, owner])
    ended(run)
    assert asked() == [(viewer.email, first.pk), (owner.email, second.pk)]


def test_an_end_that_comes_twice_asks_once(run, editor, viewer):
    review_rule_create(project=run.project, kind="sample", percent=100, reviewers=[viewer], user=editor)
    recorder = ended(run)
    recorder.lease.row = run  # as it was before the end: a holder that does not know of it
    with pytest.raises(LeaseLost):
        recorder.finish(Finish(Outcome.FAIL, StopReason.MAX_ROUNDS, "It is over.", None))
    assert len(asked()) == 1


def test_a_run_that_goes_on_and_ends_again_is_not_asked_about_again(scene: Scene, editor, viewer):
    review_rule_create(project=scene.project, kind="sample", percent=100, reviewers=[viewer], user=editor)
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(1))
    advance(run)
    assert len(asked()) == 1
    assert review_done(run=run, user=viewer)
    run_continue(run=run, rounds=1, user=editor)
    advance(run)
    assert run.rounds_judged == 2
    assert len(asked()) == 1


def test_the_sample_is_the_same_each_time_and_of_the_size_asked_for():
    drawn = [in_sample(7, run, 20) for run in range(5_000)]
    assert drawn == [in_sample(7, run, 20) for run in range(5_000)]
    assert 900 < sum(drawn) < 1_100
    assert drawn != [in_sample(8, run, 20) for run in range(5_000)]
    assert all(in_sample(7, run, 100) for run in range(500))
    assert not any(in_sample(7, run, 0) for run in range(500))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"kind": "sometimes"}, "kind"),
        ({"reviewers": []}, "reviewers"),
        ({"kind": "failed", "rubric": None}, "rubric"),
        ({"percent": 0}, "percent"),
        ({"percent": 101}, "percent"),
        ({"percent": None}, "percent"),
        ({"due_days": 366}, "due_days"),
        ({"due_days": -1}, "due_days"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(project, editor, viewer, given, field):
    values = {"project": project, "kind": "sample", "percent": 10, "reviewers": [viewer], "user": editor}
    with pytest.raises(ValidationError) as refused:
        review_rule_create(**{**values, **given})
    assert list(refused.value.message_dict) == [field]


def test_reviewers_and_rubrics_of_other_projects_are_refused(run, other_project, editor, outsider):
    given = {"project": run.project, "kind": "failed", "rubric": run.rubric, "user": editor}
    with pytest.raises(ValidationError, match="Reviewers must be members"):
        review_rule_create(**given, reviewers=[outsider])
    default_rubrics_install(project=other_project)
    theirs = Rubric.objects.filter(project=other_project).first()
    with pytest.raises(ValidationError, match="a rubric of this project"):
        review_rule_create(**{**given, "rubric": theirs}, reviewers=[editor])
    rule = review_rule_create(**given, reviewers=[editor])
    with pytest.raises(NotFound):
        review_rule_end(project=other_project, number=rule.pk, user=outsider)
