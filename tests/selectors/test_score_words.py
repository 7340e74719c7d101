"""Scores are written by one rule on all pages."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import rubric_for
from refinement.selectors.score_words import composite_change, composite_text, score_change, score_text
from tests.views.runs.finished import finished_run


@pytest.mark.parametrize(
    ("value", "decimals", "words"),
    [
        ("8", 2, "8.00"),
        ("8.605", 2, "8.60"),
        ("8", 1, "8.0"),
        ("8.25", 1, "8.2"),
        ("8", 0, "8"),
        ("8", None, "8.00"),
    ],
)
def test_a_composite_has_its_rubric_s_decimals(value, decimals, words):
    assert composite_text(Decimal(value), decimals) == words


@pytest.mark.parametrize(("value", "words"), [("7", "7"), ("7.500", "7.5"), ("7.256", "7.26"), ("10", "10")])
def test_a_score_has_those_that_were_given(value, words):
    assert score_text(Decimal(value)) == words


def test_changes():
    assert composite_change(Decimal("8.6"), Decimal("7"), 2) == "+1.60"
    assert composite_change(Decimal("8.601"), Decimal("8.6"), 2) == ""
    assert score_change(Decimal("7"), Decimal("8.50")) == "−1.5"
    assert score_change(Decimal("7"), Decimal("7.0")) == ""


@pytest.mark.django_db
@pytest.mark.parametrize(("decimals", "words"), [(1, "8.0"), (2, "8.00"), (3, "8.000")])
def test_a_run_s_score_is_the_same_on_every_page(as_viewer, project, decimals, words):
    usual = rubric_for("wiggum")
    policy = replace(usual.policy, composite_decimals=decimals)
    run, other = (finished_run(project, ["7", "8"], definition=replace(usual, policy=policy)) for _ in "ab")
    home, slug = f"/p/{project.slug}/", run.rubric.slug
    for address in (
        home,
        f"{home}runs/",
        f"{home}runs/{run.pk}/",
        f"{home}rubrics/{slug}/",
        f"{home}runs/compare/",
        f"{home}runs/compare/?run={run.pk}&run={other.pk}",
    ):
        page = as_viewer.get(address).content.decode()
        assert f">{words}<" in page, address
        assert not [form for form in {"8.0", "8.00", "8.000"} - {words} if f">{form}<" in page], address
