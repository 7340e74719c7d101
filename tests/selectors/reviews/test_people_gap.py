"""People's mean minus the judge's, for one run and for a list."""

from decimal import Decimal

import pytest

from refinement.models import HumanScore, Run
from refinement.selectors.reviews.blindness import hiding
from refinement.selectors.reviews.people_gap import people_gap, people_gaps
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


def scored(run: Run, number: int, composite: str, name: str) -> None:
    row = run.rounds.get(number=number)
    HumanScore.objects.create(run=run, round=row, author_name=name, scores=[], composite=Decimal(composite))


def test_the_result_counts_where_people_scored_it(project):
    run = finished_run(project, ["4", "8", "6"])  # round 2 is the best
    scored(run, 1, "5", "Tomás")
    scored(run, 2, "4.5", "Tomás")
    scored(run, 2, "4.9", "Mina")
    found = people_gap(run.pk)
    assert found is not None
    assert (found.mean, found.gap, found.people) == (Decimal("4.7"), Decimal("-3.3"), 2)


def test_the_result_is_the_round_that_people_chose(project):
    run = finished_run(project, ["4", "8", "6"])
    scored(run, 1, "5", "Tomás")
    assert people_gap(run.pk) is None  # nobody scored the best round
    Run.objects.filter(pk=run.pk).update(chosen_round=1)
    scored(run, 2, "2", "Mina")
    found = people_gap(run.pk)
    assert found is not None
    assert (found.mean, found.gap, found.people) == (5, 1, 1)


def test_a_list_takes_one_query_and_leaves_out_what_is_hidden(project, django_assert_num_queries):
    runs = [finished_run(project, ["4", "8"]) for _ in range(3)]
    for run in runs[:2]:
        scored(run, 2, "7", "Mina")
    unjudged = finished_run(project, ["4", "8"])
    unjudged.rounds.update(composite=None, scores=None, judged_at=None)
    scored(unjudged, 2, "7", "Mina")
    everything = [run.pk for run in [*runs, unjudged]]
    with django_assert_num_queries(1):
        found = people_gaps(everything)
    assert {pk: line.gap for pk, line in found.items()} == {runs[0].pk: -1, runs[1].pk: -1}
    with hiding({runs[0].pk: 1}):
        assert list(people_gaps(everything)) == [runs[1].pk]
