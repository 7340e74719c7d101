"""Two judges compared."""

import pytest
from django.urls import reverse
from django.utils import timezone

from refinement.models import JudgeRecord, LabelRater, Report
from refinement.selectors.trust.comparing import pair_headline, weak_words
from tests.selectors.trust.given import a_judge, a_labelled_text, a_version, reported
from tests.selectors.trust.reports import figure

pytestmark = pytest.mark.django_db


def a_pair(key: str = "structure", verdict: str = "no_difference", apart: float = 0.0, n: int = 78, **given):
    side = {"kappa": figure(0.7), "bias": figure(0.2), "mae": figure(0.9)}
    names = {"key": key, "name": key.replace("_", " ").capitalize(), "n": n, "raters": 3}
    difference = {"kappa": figure(apart, 0.05), "bias": figure(0.1), "mae": figure(0.1)}
    return {**names, "first": side, "second": side, "difference": difference, "verdict": verdict, **given}


def a_pair_report(*criteria, items: int = 78, **composite):
    whole = a_pair("composite", **({"n": items} | composite))
    return {"schema": 1, "items": items, "evidence": "usable", "criteria": list(criteria), "composite": whole}


@pytest.fixture
def judges(project) -> list[JudgeRecord]:
    version = a_version(project)
    return [a_judge(project, version=version, model=model) for model in ("gemma3:27b", "qwen3:14b")]


@pytest.fixture
def page(project):
    return reverse("trust_compare", args=[project.slug])


def both(judges) -> str:
    return f"?a={judges[0].pk}&b={judges[1].pk}"


def stored(project, judges, result):
    row = Report.objects.get(kind="judges", subject=judges[0].pk, other=judges[1].pk)
    Report.objects.filter(pk=row.pk).update(
        status="done", result=result, computed=row.asked, computed_at=timezone.now()
    )


def test_first_two_are_chosen(as_viewer, page, judges):
    text = as_viewer.get(page).content.decode()
    assert "Choose two judges" in text
    assert "gemma3:27b" in text
    assert "Choose two judges" in as_viewer.get(f"{page}?a={judges[0].pk}&b={judges[0].pk}").content.decode()


def test_the_two_judges_with_labels_of_one_rubric_are_chosen(as_viewer, page, project, judges):
    for record in judges:
        reported(record)
    reported(a_judge(project, version=a_version(project, "other")))
    for address in (page, f"{page}?a={judges[1].pk}"):
        answer = as_viewer.get(address)
        assert answer.status_code == 302
        assert answer.headers["Location"] == f"{page}?a={judges[1].pk}&b={judges[0].pk}"


def test_a_worker_is_asked_and_the_page_looks_again(as_viewer, page, project, judges):
    text = as_viewer.get(page + both(judges)).content.decode()
    assert "A worker is computing" in text
    assert "look=1" in text
    assert Report.objects.filter(kind="judges", subject=judges[0].pk, other=judges[1].pk).count() == 1


def test_the_difference_with_its_interval_and_a_warning(as_viewer, page, project, judges):
    as_viewer.get(page + both(judges))
    pairs = [a_pair(), a_pair("grounded", "second", 0.3)]
    stored(project, judges, a_pair_report(*pairs, verdict="first", apart=-0.17))
    text = as_viewer.get(page + both(judges)).content.decode()
    assert "gemma3:27b agrees better with people than qwen3:14b: κ is 0.17 higher (0.12 to 0.22)" in text
    assert "qwen3:14b agrees better on Grounded." in text
    assert "Weak evidence: 78 texts." in text
    assert "no difference shown" in text
    assert "look=" not in text


def test_judges_of_different_rubrics_do_not_compare(as_viewer, page, project, judges):
    other = a_judge(project, version=a_version(project, "other"))
    text = as_viewer.get(f"{page}?a={judges[0].pk}&b={other.pk}").content.decode()
    assert "Different rubrics" in text
    assert not Report.objects.filter(kind="judges").exists()


@pytest.mark.parametrize("given", ["x", "999999", "-1", "9" * 40])
def test_unknown_judges_are_not_found(as_viewer, page, given):
    assert as_viewer.get(f"{page}?a={given}").status_code == 404


def test_judges_of_other_projects_are_not_found(as_viewer, page, other_project):
    assert as_viewer.get(f"{page}?a={a_judge(other_project).pk}").status_code == 404


def test_who_labels_for_the_rubric_sees_no_comparison(as_viewer, viewer, page, project, judges):
    as_viewer.get(page + both(judges))
    stored(project, judges, a_pair_report(a_pair()))
    item = a_labelled_text(judges[0])
    LabelRater.objects.create(label_set=item.label_set, name="Vera", user=viewer, opened_at=timezone.now())
    assert "Weighted κ" not in as_viewer.get(page + both(judges)).content.decode()
    assert "gemma3:27b" not in as_viewer.get(page).content.decode()


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (a_pair_report(items=0), "No text has scores by both judges and by a person."),
        (a_pair_report(items=12), "Not enough evidence: 12 texts"),
        (
            a_pair_report(a_pair()),
            "No difference in agreement is shown over 78 texts. They need not be equal.",
        ),
        (
            a_pair_report(a_pair(), verdict="second", apart=0.2),
            "B agrees better with people than A: κ is 0.20",
        ),
    ],
)
def test_the_headline(report, words):
    assert words in pair_headline(report, ("A", "B"))


@pytest.mark.parametrize(("items", "weak"), [(29, False), (30, True), (199, True), (200, False)])
def test_below_200_texts_the_evidence_is_weak(items, weak):
    assert bool(weak_words(items)) is weak
