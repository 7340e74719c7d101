"""A category that becomes a check, and its figures on its page."""

import pytest
from django.urls import reverse

from refinement.models import FailureCategory, RubricVersion, Run
from tests.views.failures.given import brought_up_to_date, criticised

pytestmark = pytest.mark.django_db
NAME = "The claim has no source."


@pytest.fixture
def category(project) -> FailureCategory:
    for _ in range(6):
        criticised(project, [[NAME], ["Something else is odd."]])
    brought_up_to_date(project)
    return FailureCategory.objects.get(automatic_name__icontains="source")


@pytest.fixture
def editor_page(project, category):
    return reverse("rubric_edit", args=[project.slug, Run.objects.first().rubric.slug])


def category_page(project, category):
    return reverse("failure_category", args=[project.slug, category.pk])


def test_a_category_offers_the_rubrics_whose_judges_raised_it(
    as_editor, as_viewer, project, category, editor_page
):
    html = as_editor.get(category_page(project, category)).content.decode()
    assert f"{editor_page}?failure={category.pk}" in html
    assert "6 issues</span>" in html
    assert "Make it a check" not in as_viewer.get(category_page(project, category)).content.decode()


def test_the_editor_opens_with_a_prepared_check_and_saves_it(as_editor, project, category, editor_page):
    category.note = "Attach a source pack."
    category.save(update_fields=["note"])
    address = f"{editor_page}?failure={category.pk}&kind=not-contains"
    page = as_editor.get(address)
    assert f"Check for: <bdi>{category.shown_name}</bdi>" in page.content.decode()
    check = page.context["checks"][-1]
    assert (check["kind"], check["severity"], check["suggestion"], check["open"]) == (
        *("not-contains", "warning", "Attach a source pack.", True),
    )
    fields = page.context["fields"] | {"edited_from": page.context["version"].number}
    start = check["id"]
    refused = as_editor.post(address, fields | {"act": "save"})
    assert refused.status_code == 422  # what it looks for is missing
    assert f"Check for: <bdi>{category.shown_name}</bdi>" in refused.content.decode()
    saved = as_editor.post(address, fields | {"act": "save", f"{start}-p-text": "we believe"})
    assert saved.status_code == 302
    version = RubricVersion.objects.order_by("-pk").first()
    assert version.note == f"Adds a check for “{category.shown_name}”."
    added = version.checks.order_by("position").last()
    assert (added.kind, added.parameters["text"]) == ("not-contains", "we believe")


@pytest.mark.parametrize("number", ["999", "x", "1" * 30])
def test_an_unknown_category_is_not_found(as_editor, editor_page, number):
    assert as_editor.get(f"{editor_page}?failure={number}").status_code == 404


def test_another_projects_category_is_not_found(as_editor, category, editor_page, other_project):
    FailureCategory.objects.update(project=other_project)
    assert as_editor.get(f"{editor_page}?failure={category.pk}").status_code == 404


def test_the_page_of_a_category_has_its_figures_among_the_runs(as_viewer, project, category):
    page = category_page(project, category)
    html = as_viewer.get(f"{page}?window=300").content.decode()
    assert "<dt>Share of runs</dt><dd>100 %</dd>" in html
    assert "<dt>Not raised in the next round</dt>" in html
    assert "<dt>Share of runs</dt>" not in as_viewer.get(page).content.decode()
