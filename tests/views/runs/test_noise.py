"""Gains within the judge's noise, and judges that are not proven: the run's page, the list, exports."""

import csv
import io
import re
from decimal import Decimal

import pytest
from django.urls import reverse

from refinement.models import JudgeRecord, Project, Round, Run
from refinement.selectors.runs.reports import run_report
from refinement.services.runs.shares import share_link_make
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


def text_of(answer):
    page = answer.content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("&#x27;", "’")


def quiet_run(project, composites=("7.15", "7.5"), **fields):
    run = finished_run(project, composites)
    Run.objects.filter(pk=run.pk).update(**{"smallest_difference": Decimal("0.5"), **fields})
    return Run.objects.get(pk=run.pk)


def page_of(client, run):
    return client.get(f"/p/{run.project.slug}/runs/{run.pk}/")


def test_the_header_says_that_no_difference_is_shown(as_viewer, project):
    answer = page_of(as_viewer, quiet_run(project))
    text = text_of(answer)
    assert "7.15 →to 7.50 No difference shown" in text
    assert "No difference shown: changes up to 0.50 are within the judge’s noise." in text
    assert "judge noise ±0.25" in text
    page = answer.content.decode()
    assert page.count('class="chart-band chart-series-0"') == 2, "wide and narrow"
    assert "▲" not in page.split('class="round-strip')[1].split("</nav>")[0]


def test_a_real_gain_is_shown_as_before(as_viewer, project):
    page = page_of(as_viewer, quiet_run(project, ("7.15", "7.66"))).content.decode()
    assert "No difference shown" not in page
    assert "▲" in page


def test_without_known_noise_nothing_is_said(as_viewer, project):
    page = page_of(as_viewer, quiet_run(project, smallest_difference=None)).content.decode()
    assert "No difference shown" not in page
    assert "chart-band" not in page


def test_the_verdict_says_what_is_known_of_the_judges_noise(as_viewer, project):
    run = quiet_run(project)
    assert "Can this verdict be trusted?Judge noise ±0.25" in text_of(page_of(as_viewer, run))
    run = quiet_run(project, smallest_difference=None)
    page = page_of(as_viewer, run).content.decode()
    assert re.search(r'Judge noise: <a href="/p/alpha/trust/[^"]*" title="[^"]*">unknown</a>', page)


def test_a_board_that_took_over_has_other_noise(as_viewer, project):
    page = page_of(as_viewer, quiet_run(project, escalated_after=1)).content.decode()
    assert "No difference shown" not in page


def test_same_texts_are_flagged_on_round_chart_and_header(as_viewer, project):
    run = quiet_run(project, ("6.25", "9.72"), smallest_difference=None, same_text_moved=Decimal("3.47"))
    signal = {"kind": "same_text", "from_round": 1, "moved": "3.470000", "candidate_change": "0.0000"}
    Round.objects.filter(run=run, number=2).update(signals=[signal])
    answer = page_of(as_viewer, run)
    text = text_of(answer)
    assert "Same text, score moved by 3.47: judge noise. No difference shown." in text
    assert "Same text as in round 1, score moved by 3.47: judge noise." in text
    assert "chart-mark-noise" in answer.content.decode()
    assert "judge check" not in text


@pytest.mark.parametrize("signal", [{"kind": "same_text"}, {"kind": "same_text", "moved": "NaN"}])
def test_an_imported_signal_may_be_anything(as_viewer, project, signal):
    run = quiet_run(project)
    Round.objects.filter(run=run, number=2).update(signals=[signal])
    assert page_of(as_viewer, run).status_code == 200


def test_the_list_says_so(as_viewer, project):
    quiet_run(project)
    text = text_of(as_viewer.get(f"/p/{project.slug}/runs/"))
    assert "no difference shown" in text


def test_exports_say_so(as_viewer, project):
    run = quiet_run(project)
    answer = as_viewer.get(reverse("run_export_many", args=[project.slug, "csv"]))
    row = next(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert (row["within_noise"], row["smallest_difference"]) == ("True", "0.5")
    report = as_viewer.get(reverse("run_export", args=[project.slug, run.pk, "md"]))
    assert "(no difference shown)" in b"".join(report).decode()


def test_the_comparison_says_so(as_viewer, project):
    first, second = quiet_run(project), quiet_run(project)
    text = text_of(as_viewer.get(f"/p/{project.slug}/runs/compare/?run={first.pk}&run={second.pk}"))
    assert "no difference shown" in text


def test_the_api_and_the_report_of_the_command_line_say_so(as_viewer, project):
    runs = [quiet_run(project), quiet_run(project, ("7.15", "7.66"))]
    runs.append(quiet_run(project, smallest_difference=None))
    said = {}
    for run in runs:
        found = as_viewer.get(f"/api/v1/projects/{project.slug}/runs/{run.pk}").json()
        said[run.pk] = (found["within_noise"], found["smallest_difference"], run_report(run)["within_noise"])
    listed = as_viewer.get(f"/api/v1/projects/{project.slug}/runs").json()["items"]
    assert list(said.values()) == [(True, "0.5", True), (False, "0.5", False), (None, None, None)]
    assert {entry["id"]: entry["within_noise"] for entry in listed} == {
        number: values[0] for number, values in said.items()
    }


def test_the_home_page_says_so(as_viewer, project):
    quiet_run(project)
    text = text_of(as_viewer.get(f"/p/{project.slug}/"))
    assert "7.15 → 7.50 no difference shown" in text


def test_a_shared_page_says_so(client, project, owner):
    Project.objects.filter(pk=project.pk).update(sharing=True)
    run = quiet_run(project)
    run.project.refresh_from_db()
    _, token = share_link_make(run=run, by=owner, days=7)
    text = text_of(client.get(f"/s/{token}/"))
    assert "No difference shown" in text
    assert "judge noise ±0.25" in text


def unproven_run(project, **rule):
    Project.objects.filter(pk=project.pk).update(**(rule or {"gate_labels": 100}))
    return finished_run(project, ["7", "9.5"], outcome="PASS", stop_reason="passed")


def test_a_pass_by_an_unproven_judge_says_so(as_viewer, project):
    run = unproven_run(project)
    answer = page_of(as_viewer, run)
    assert "unproven judge" in text_of(answer)
    assert "0 of 100 texts labelled." in text_of(answer)
    assert "answer-ok" not in answer.content.decode()
    report = as_viewer.get(reverse("run_export", args=[project.slug, run.pk, "md"]))
    assert "**Unproven judge: 0 of 100 texts labelled.**" in b"".join(report).decode()
    text = text_of(as_viewer.get(f"/p/{project.slug}/runs/"))
    assert "unproven judge" in text


def test_every_list_and_page_that_names_the_outcome_says_so(as_viewer, project):
    run = unproven_run(project)
    other = finished_run(project, ["7", "9.5"], outcome="PASS", stop_reason="passed")
    for address in (
        f"/p/{project.slug}/",
        f"/p/{project.slug}/rubrics/{run.rubric.slug}/",
        f"/p/{project.slug}/runs/{run.pk}/calls/",
        f"/p/{project.slug}/runs/compare/",
        f"/p/{project.slug}/runs/compare/?run={run.pk}&run={other.pk}",
    ):
        assert "PASS, unproven judge" in text_of(as_viewer.get(address)), address
    Project.objects.update(gate_labels=None)
    assert "unproven judge" not in text_of(as_viewer.get(f"/p/{project.slug}/"))


def test_a_proven_judge_passes(as_viewer, project):
    run = unproven_run(project)
    JudgeRecord.objects.filter(pk=run.judge_record_id).update(labels=100)
    answer = page_of(as_viewer, run)
    assert "unproven judge" not in text_of(answer)
    assert "answer-ok" in answer.content.decode()
    assert "unproven judge" not in text_of(as_viewer.get(f"/p/{project.slug}/runs/"))


def test_changes_of_criteria_within_the_noise_have_no_colour(as_viewer, project):
    def tones(run):
        page = page_of(as_viewer, run).content.decode()
        return set(re.findall(r'class="num small delta ?(\w*)">', page))

    assert tones(quiet_run(project)) == {""}
    assert tones(quiet_run(project, ("7.15", "7.66"))) == {"up"}
    assert tones(quiet_run(project, smallest_difference=None)) == {"up"}


def test_no_difference_is_grey_in_the_strip_and_no_warning(as_viewer, project):
    strip = page_of(as_viewer, quiet_run(project)).content.decode().split('class="round-strip')[1]
    assert '<span class="round-flag soft">no difference shown</span>' in strip.split("</nav>")[0]


def test_the_comparisons_bands_and_criteria(as_viewer, project):
    first, near = quiet_run(project), quiet_run(project, ("7.15", "7.9"))
    far = quiet_run(project, ("7.15", "9"))
    record = first.judge_record_id
    Run.objects.filter(pk__in=[near.pk, far.pk]).update(judge_record=record)
    address = f"/p/{project.slug}/runs/compare/?run={first.pk}&run="
    for run, tone in ((near, False), (far, True)):
        page = as_viewer.get(f"{address}{run.pk}").content.decode()
        assert ("tone-ok" in page.split('id="criteria')[-1]) is tone, run
        assert page.count("judge noise</li>") == 1
        assert 'class="chart-band' in page
