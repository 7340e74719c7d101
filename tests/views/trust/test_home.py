"""The list of judges."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.models import LabelRater, Report
from refinement.selectors.trust.lists import PAGE_SIZE
from tests.selectors.trust.given import a_judge, a_labelled_text, a_version, reported

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(project):
    return reverse("trust_home", args=[project.slug])


def test_without_judges_it_says_where_they_come_from(as_viewer, page):
    assert "No judges yet" in as_viewer.get(page).content.decode()


def test_each_judge_has_its_fact_and_figures(as_viewer, page, project):
    record = a_judge(project)
    reported(record)
    text = as_viewer.get(page).content.decode()
    assert "Not worse than people on 2 of 5 criteria" in text
    assert "0.68" in text  # its kappa
    assert reverse("trust_page", args=[project.slug, record.pk]) in text


def test_judges_with_labels_come_first(as_viewer, page, project):
    version = a_version(project)
    known = a_judge(project, version=version)
    a_judge(project, version=version, model="newer:1b")
    reported(known)
    text = as_viewer.get(page).content.decode()
    assert text.index("gemma3:27b") < text.index("newer:1b")
    assert "No texts labelled yet" in text


def test_a_search_by_model_or_rubric(as_viewer, page, project):
    version = a_version(project)
    for model in ("gemma3:27b", "qwen3:14b"):
        a_judge(project, version=version, model=model)
    found = as_viewer.get(page, {"q": "QWEN"}).content.decode()
    assert "qwen3:14b" in found
    assert "gemma3:27b" not in found
    assert "gemma3:27b" in as_viewer.get(page, {"q": "notes"}).content.decode()
    assert "No judges match" in as_viewer.get(page, {"q": "nothing"}).content.decode()


def test_a_page_at_a_time_with_the_same_number_of_queries(as_viewer, page, project):
    version = a_version(project)
    reported(a_judge(project, version=version))
    as_viewer.get(page)
    with CaptureQueriesContext(connection) as few:
        as_viewer.get(page)
    for number in range(PAGE_SIZE + 5):
        reported(a_judge(project, version=version, model=f"model-{number:02}:1b"))
    with CaptureQueriesContext(connection) as many:
        first = as_viewer.get(page).content.decode()
    assert len(many) == len(few)
    assert first.count('<th scope="row">') == PAGE_SIZE
    second = as_viewer.get(page, {"page": "2"}).content.decode()
    assert second.count('<th scope="row">') == 6
    assert as_viewer.get(page, {"page": "x"}).status_code == 200


def test_a_judge_that_is_being_computed_says_so(as_viewer, page, project):
    row = reported(a_judge(project))
    Report.objects.filter(pk=row.pk).update(status="queued")
    assert "updating" in as_viewer.get(page).content.decode()


def test_who_labels_sees_no_figures(as_viewer, viewer, page, project):
    record = a_judge(project)
    item = a_labelled_text(record)
    reported(record)
    LabelRater.objects.create(label_set=item.label_set, name="Vera", user=viewer, opened_at=record.created_at)
    text = as_viewer.get(page).content.decode()
    assert "Hidden while you label" in text
    assert "0.68" not in text


def test_judges_of_other_projects_are_not_listed(as_viewer, page, other_project):
    a_judge(other_project)
    assert "gemma3:27b" not in as_viewer.get(page).content.decode()


def test_the_navigation_and_the_palette_lead_to_it(as_viewer, page, project):
    home = as_viewer.get(reverse("project_home", args=[project.slug])).content.decode()
    assert f'href="{page}"' in home
    found = as_viewer.get(reverse("project_jump", args=[project.slug]), {"q": "kappa"}).content.decode()
    assert page in found
