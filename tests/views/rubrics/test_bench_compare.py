"""Two benches on one text, side by side."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.types import Criterion
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import Table, advance, definition
from tests.execution.wire.stage import verdict
from tests.loopback.replies import from_lists
from tests.views.rubrics.test_bench import address
from tests.views.rubrics.test_bench_results import shown

__all__ = ["ollama_server", "table"]

pytestmark = pytest.mark.django_db


def path_of(table: Table, first, second) -> str:
    return f"{address(table, 'rubric_bench_compare')}?a={first.pk}&b={second.pk}"


def test_two_versions_on_one_text(table: Table, as_viewer):
    first = table.judged(6, 6, 6.3)
    table.rubric(definition(background="For people on call."))
    second = table.judged(8, 8, 8.3)
    told = shown(as_viewer, path_of(table, first, second))
    assert "What differs: version 1 and version 2." in told
    assert "mean composite is 2.00 higher, which is more than the noise" in told
    assert told.count("more than noise") == 7
    assert "+2.00" in told


def test_a_difference_within_the_noise_is_said_to_mean_nothing(table: Table, as_viewer):
    first = table.judged(5, 7, 9)
    table.rubric(definition(background="For people on call."))
    second = table.judged(6, 7, 9)
    told = shown(as_viewer, path_of(table, first, second))
    assert "the difference is not significant" in told
    assert told.count("within the noise") == 7


def test_one_trial_each_cannot_tell(table: Table, as_viewer):
    told = shown(as_viewer, path_of(table, table.judged(5), table.judged(6)))
    assert "Run at least two trials of each" in told
    assert "same settings, so differences are noise" in told


def test_different_texts_say_nothing_about_each_other(table: Table, as_viewer):
    told = shown(as_viewer, path_of(table, table.judged(5), table.judged(6, text="Another text.")))
    assert "judged different texts" in told
    assert "Texts that were judged more than once" in told


def test_different_scales_are_not_set_against_each_other(table: Table, as_viewer):
    first = table.judged(5, 5)
    rubric = definition("simmer")
    table.rubric(rubric)
    table.server.replies = from_lists({"judge": [verdict(rubric, 7)] * 2})
    table.server._asked.clear()
    second = table.bench(repeats=2)
    advance(second)
    told = shown(as_viewer, path_of(table, first, second))
    assert "different scales" in told
    assert "new in the second" in told
    assert "only in the first" in told


def test_a_criterion_that_is_new_stands_alone(table: Table, as_viewer):
    first = table.judged(5, 5)
    rubric = definition()
    more = replace(rubric, criteria=(*rubric.criteria, Criterion("tone", "Tone", weight=Decimal("0.1"))))
    table.rubric(more)
    table.server.replies = from_lists({"judge": [verdict(more, 5)] * 2})
    table.server._asked.clear()
    second = table.bench(repeats=2)
    advance(second)
    told = shown(as_viewer, path_of(table, first, second))
    assert "new in the second" in told
    assert "Both have the same mean composite." in told


def test_a_bench_without_scores_is_said_to_have_none(table: Table, as_viewer):
    told = shown(as_viewer, path_of(table, table.judged(5, 5), table.bench()))
    assert "One of the two has no scores yet." in told


def test_without_two_the_page_offers_pairs(table: Table, as_viewer):
    path = address(table, "rubric_bench_compare")
    assert "Nothing to compare yet" in shown(as_viewer, path)
    first, _again = table.judged(5), table.judged(5)
    table.rubric(definition(background="x"))
    second = table.judged(6)
    page = as_viewer.get(path).content.decode()
    assert f'href="?a={_again.pk}&amp;b={second.pk}"' in page
    assert f"Bench {first.pk} " not in page


def test_outsiders_find_nothing(table: Table, as_outsider, as_editor):
    first, second = table.judged(5), table.judged(6)
    path = path_of(table, first, second)
    assert as_outsider.get(path).status_code == 404
    assert as_editor.post(path).status_code == 405
    assert as_editor.get(path.replace(f"b={second.pk}", "b=999")).status_code == 404
    assert as_editor.get(path.replace(f"b={second.pk}", "b=x")).status_code == 200
