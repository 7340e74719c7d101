"""People's scores: exact, one per person, changed with versions, and separate from the judge's record."""

import threading
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from refinement.engine.profiles import rubric_for
from refinement.engine.rubrics import Scale
from refinement.models import AuditEntry, BlindReading, CheckResult, Event, HumanScore, ReviewRequest
from refinement.services.reviews.blind_readings import ScoresSeen, blind_reading_begin
from refinement.services.reviews.human_scores import (
    NOTE_CHARS,
    REASON_CHARS,
    Reading,
    ScoreConflict,
    human_score_give,
)
from refinement.services.runs.lifecycle import WrongState, run_continue
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HALVES = Scale(Decimal(1), Decimal(10), Decimal("0.5"))


@pytest.fixture
def run(project):
    return finished_run(project)


def keys_of(run):
    return [entry["key"] for entry in run.snapshot["criteria"]]


def said(run, score="7.5", *, note="", reasons=None, **others):
    scores = {key: Decimal(others.get(key, score)) for key in keys_of(run)}
    return Reading(scores, reasons or {}, note)


def give(run, user, reading, *, number=2, seen=0, **more):
    row = run.rounds.get(number=number)
    return human_score_give(run=run, row=row, user=user, submitted=reading, seen_version=seen, **more)


def test_the_composite_is_the_engines(run, viewer):
    kept = give(run, viewer, said(run, "6", depth="10"))
    assert kept.composite == Decimal("7")  # depth weighs a quarter
    assert kept.scores[0] == {"key": "depth", "score": "10", "reason": ""}
    assert (kept.version, kept.blind, kept.author_name) == (1, False, "Vera Viewer")


def test_the_judges_record_stays(run, viewer):
    before = run.rounds.values_list("composite", "scores", "judged_at").order_by("number")
    kept = list(before)
    give(run, viewer, said(run, "1"))
    run.refresh_from_db()
    assert list(before.all()) == kept
    assert (run.best_round, run.best) == (2, Decimal("8.6"))


def test_checks_count_where_the_rubric_says_so(project, viewer):
    rubric = rubric_for("wiggum")
    rubric = replace(rubric, policy=replace(rubric.policy, checks_in_composite=True))
    run = finished_run(project, definition=rubric)
    with_checks = give(run, viewer, said(run, "5"))
    CheckResult.objects.filter(round__run=run).delete()
    without = give(run, viewer, said(run, "5"), number=1)
    assert with_checks.composite == Decimal("7.5")  # the one check passed and weighs as much as all criteria
    assert without.composite == Decimal(5)


@pytest.mark.parametrize(
    ("score", "fits"),
    [("1", True), ("1.5", True), ("10", True), ("10.5", False), ("0.5", False), ("1.25", False),
     ("7.500000", True), ("NaN", False), ("Infinity", False), ("1.000001", False)],
)  # fmt: skip
def test_a_score_is_on_the_scale_exactly(project, viewer, score, fits):
    run = finished_run(project, ["7", "8", "9"], definition=replace(rubric_for("wiggum"), scale=HALVES))
    if fits:
        assert give(run, viewer, said(run, "5", depth=score)).version == 1
        return
    with pytest.raises(ValidationError) as wrong:
        give(run, viewer, said(run, "5", depth=score))
    assert list(wrong.value.message_dict) == ["score-depth"]
    assert "steps of 0.5" in wrong.value.message_dict["score-depth"][0]
    assert not HumanScore.objects.exists()


def test_every_criterion_wants_a_score_and_texts_have_limits(run, viewer):
    reading = Reading({"depth": Decimal(3)}, {"depth": "x" * (REASON_CHARS + 1)}, "y" * (NOTE_CHARS + 1))
    with pytest.raises(ValidationError) as wrong:
        give(run, viewer, reading)
    told = wrong.value.message_dict
    assert {"reason-depth", "note", "score-relevance"} <= set(told)
    assert "score-depth" not in told


def test_hostile_words_are_kept_as_text(run, viewer):
    words = "a\x00b\r\n<script>alert(1)</script>\u202e \ud800"
    kept = give(run, viewer, said(run, note=words, reasons={"depth": words}))
    kept.refresh_from_db()
    assert kept.note == "a\ufffdb\n<script>alert(1)</script>\u202e ?"
    assert kept.scores[0]["reason"] == kept.note


def test_a_rubric_without_criteria_cannot_be_scored(project, viewer):
    run = finished_run(project, ["0.4", "0.9"], definition=rubric_for("ralph"))
    with pytest.raises(ValidationError, match="no criteria to score"):
        give(run, viewer, Reading({}, {}))


def test_an_unjudged_round_can_be_scored(run, viewer):
    row = run.rounds.create(number=4, origin="revision", candidate="Not judged.", candidate_chars=11)
    assert give(run, viewer, said(run), number=row.number).round == row


def test_a_change_is_a_new_version_with_both_in_the_log(run, viewer):
    give(run, viewer, said(run, "4", note="First."))
    kept = give(run, viewer, said(run, "6", note="Second."), seen=1)
    assert (kept.version, kept.composite) == (2, Decimal(6))
    assert kept.changed_at is not None
    entry = AuditEntry.objects.get(action="score.change")
    assert (entry.object_type, entry.object_id) == ("run", str(run.pk))
    assert (entry.before["composite"], entry.after["composite"]) == ("4", "6")
    assert (entry.before["note"], entry.after["version"]) == ("First.", 2)


def test_open_pages_hear_of_it_without_a_number(run, viewer):
    give(run, viewer, said(run, "4", note="Secret."))
    event = Event.objects.get(run=run, kind="scored")
    assert event.data == {"round": 2}
    assert event.user == viewer


def test_a_second_window_is_told(run, viewer):
    give(run, viewer, said(run, "4"))
    give(run, viewer, said(run, "5"), seen=1)
    with pytest.raises(ScoreConflict) as meanwhile:
        give(run, viewer, said(run, "9"), seen=1)
    assert meanwhile.value.stored.version == 2
    assert HumanScore.objects.get().composite == Decimal(5)


def test_the_same_form_sent_twice_is_one_score(run, viewer):
    first = give(run, viewer, said(run, "4"))
    again = give(run, viewer, said(run, "4"))
    assert (again.pk, again.version) == (first.pk, 1)
    assert AuditEntry.objects.filter(action__startswith="score.").count() == 1


def test_a_blind_form_sent_twice_stays_blind(run, viewer):
    blind_reading_begin(run=run, number=2, user=viewer)
    give(run, viewer, said(run, "4"))
    again = give(run, viewer, said(run, "4"))
    assert (again.version, again.blind) == (1, True)
    assert BlindReading.objects.get().ended_at is not None


def test_a_change_with_the_scores_in_view_is_no_longer_blind(run, viewer):
    blind_reading_begin(run=run, number=2, user=viewer)
    assert give(run, viewer, said(run, "4")).blind
    assert not give(run, viewer, said(run, "5"), seen=1).blind
    with pytest.raises(ScoresSeen, match="is not blind"):
        blind_reading_begin(run=run, number=1, user=viewer)


def test_who_scored_openly_cannot_begin_blind(run, viewer):
    give(run, viewer, said(run, "4"))
    with pytest.raises(ScoresSeen, match="with its scores visible"):
        blind_reading_begin(run=run, number=1, user=viewer)


def test_beginning_twice_is_one_reading(run, viewer):
    first = blind_reading_begin(run=run, number=1, user=viewer)
    again = blind_reading_begin(run=run, number=3, user=viewer)
    assert (first.pk, again.round_number) == (again.pk, 3)
    assert BlindReading.objects.count() == 1


def test_a_score_closes_what_was_asked(run, project, viewer, owner):
    request = ReviewRequest.objects.create(run=run, project=project, reviewer=viewer, asked_by=owner)
    give(run, viewer, said(run))
    request.refresh_from_db()
    assert request.closed_at is not None


def test_more_rounds_do_not_throw_away_what_people_scored(run, viewer, owner):
    run.rounds.create(number=4, origin="revision", candidate="Not judged.", candidate_chars=11)
    give(run, viewer, said(run), number=4)
    with pytest.raises(WrongState, match="people scored"):
        run_continue(run=run, rounds=2, user=owner)
    assert HumanScore.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_windows_at_once_keep_one_score_and_tell_the_other(project, viewer):
    run = finished_run(project)
    ready, results = threading.Barrier(2), []

    def window(score):
        ready.wait()
        try:
            results.append(("kept", give(run, viewer, said(run, score)).version))
        except ScoreConflict as meanwhile:
            results.append(("told", meanwhile.stored.version))
        finally:
            connection.close()

    threads = [threading.Thread(target=window, args=(score,)) for score in ("4", "9")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [("kept", 1), ("told", 1)]
    assert HumanScore.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_people_at_once_are_both_kept(project, viewer, editor):
    run = finished_run(project)
    ready, kept = threading.Barrier(2), []

    def person(user, score):
        ready.wait()
        try:
            kept.append(give(run, user, said(run, score)).author_name)
        finally:
            connection.close()

    threads = [threading.Thread(target=person, args=pair) for pair in ((viewer, "4"), (editor, "9"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(kept) == ["Edgar Editor", "Vera Viewer"]
    assert HumanScore.objects.count() == 2
