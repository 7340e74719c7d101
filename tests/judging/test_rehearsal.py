"""A rehearsal's assumed history is the same as that of a run."""

from decimal import Decimal

import pytest

from refinement.engine.kinds import Information
from refinement.engine.profiles import PROFILES, rubric_for
from refinement.engine.types import CriterionScore, Verdict
from refinement.judging.rehearsal import AssumedScores, assumed_history, brief_for, fits, rehearse
from refinement.judging.visibility import Visibility

NONCE = "0123456789ab"


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("number", [1, 2, 5])
def test_the_past_has_every_round_judged(profile, number):
    rubric = rubric_for(profile)
    history = assumed_history(
        rubric, number, "The candidate.", "Before.", AssumedScores(rubric.scale.maximum)
    )
    assert [entry.number for entry in history.rounds] == list(range(1, number + 1))
    assert all(entry.assessment is not None for entry in history.rounds)
    assert history.rounds[-1].candidate == "The candidate."
    assert all(entry.candidate == "Before." for entry in history.rounds[:-1])


def test_without_an_earlier_text_the_candidate_stands_in():
    history = assumed_history(rubric_for("wiggum"), 3, "The candidate.", "", AssumedScores(Decimal(5)))
    assert {entry.candidate for entry in history.rounds} == {"The candidate."}


def test_checks_and_penalties_are_the_texts_own():
    rubric = rubric_for("ralph")
    history = assumed_history(rubric, 1, "Short. TODO", "", AssumedScores(Decimal(1)))
    failed = {result.key for result in history.rounds[0].assessment.checks if not result.passed}
    assert failed == {"not-empty", "no-placeholders", "has-headings"}
    stub = "```python\nclient.generate_contextual_embedding_chain()\n```"
    docked = (
        assumed_history(rubric_for("wiggum"), 1, stub, "", AssumedScores(Decimal(5))).rounds[0].assessment
    )
    assert docked.scores["depth"] == Decimal(4)


def test_a_rubric_without_criteria_has_no_judge():
    rubric = rubric_for("ralph")
    history = assumed_history(rubric, 2, "Text.", "", AssumedScores(Decimal(1)))
    rehearsal = rehearse(brief_for(rubric, "Task.", NONCE), history)
    assert rehearsal.judge is None
    assert rehearsal.step.base_round is None
    assert rehearsal.revision.visibility[Information.FEEDBACK] is Visibility.SEEN


@pytest.mark.parametrize(
    ("scores", "usable"),
    [({"clarity": 5, "completeness": 5, "usefulness": 5}, True), ({"clarity": 5}, False),
     ({"clarity": 5, "completeness": 5, "usefulness": "5.5"}, False),
     ({"clarity": 5, "completeness": 5, "usefulness": 5, "more": 5}, False)],
)  # fmt: skip
def test_a_verdict_fits_when_it_scores_every_criterion_on_the_scale(scores, usable):
    verdict = Verdict(tuple(CriterionScore(key, Decimal(score)) for key, score in scores.items()))
    assert fits(rubric_for("simmer"), verdict) is usable
