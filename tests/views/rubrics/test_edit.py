"""The rubric editor: show, save, refuse, change without saving, and the number of queries."""

from dataclasses import replace
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.engine.codec import rubric_to_json
from refinement.engine.profiles import rubric_for
from refinement.engine.types import Check, Criterion
from refinement.forms.rubrics.initial import form_fields
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import rubric_create
from tests.views.rubrics.given import HOSTILE, MARKUP, a_rubric, hostile_definition, saved_again

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
COMMAND = {"evaluation_mode": "runnable", "evaluator-command": "pytest {file}"}


@pytest.fixture
def version(project):
    return a_rubric(project)


@pytest.fixture
def address(project, version):
    return reverse("rubric_edit", args=[project.slug, "own"])


def typed(version, **changes):
    """What the browser would send for this version, with these fields changed; None leaves one out."""
    fields = form_fields(rubric_to_json(definition_of(version))) | {"edited_from": str(version.number)}
    fields |= {name.replace("__", "-"): value for name, value in changes.items()}
    return {name: value for name, value in fields.items() if value is not None}


def large(criteria, checks):
    kinds = [
        ("contains", {"text": "sun"}),
        ("regex", {"pattern": r"\bsun\b"}),
        ("length", {"minimum": 10}),
        ("json-schema", {"schema": {"type": "object"}}),
    ]
    return replace(
        rubric_for("simmer"),
        criteria=tuple(
            Criterion(f"c{n}", f"Criterion {n}", "Asks. " * 20, "Top. " * 20) for n in range(criteria)
        ),
        checks=tuple(Check(f"k{n}", *kinds[n % len(kinds)], suggestion="Do it.") for n in range(checks)),
    )


def test_it_shows_every_field_of_the_newest_version(as_editor, address, version):
    newer = saved_again(version, purpose="The newest words.")

    answer = as_editor.get(address)

    page = unescape(answer.content.decode())
    assert answer.status_code == 200
    for name in typed(newer):
        assert f'name="{name}"' in page, name
    assert "The newest words." in page
    assert 'name="edited_from" value="2"' in page


def test_htmx_gets_the_form_alone(as_editor, address):
    page = as_editor.get(address, headers=HTMX).content.decode()

    assert page.lstrip().startswith("<form")
    assert "<html" not in page


def test_a_save_is_a_new_version_with_author_and_note(as_editor, editor, address, version):
    answer = as_editor.post(address, typed(version, purpose="Better.", note=" Why not. ", draft="abc-1"))

    assert (answer.status_code, answer.headers["Location"]) == (302, f"{address}?saved=abc-1")
    newest = version.rubric.versions.first()
    assert (newest.number, newest.purpose, newest.note) == (2, "Better.", "Why not.")
    assert newest.created_by == editor
    shown = as_editor.get(answer.headers["Location"]).content.decode()
    assert "Version 2 saved." in shown
    assert 'data-saved="abc-1"' in shown


def test_a_save_by_htmx_leads_the_browser_there(as_editor, address, version):
    answer = as_editor.post(address, typed(version, purpose="Better."), headers=HTMX)

    assert answer.headers["HX-Redirect"] == address
    assert version.rubric.versions.count() == 2


def test_an_odd_draft_name_is_not_carried_into_the_address(as_editor, address, version):
    answer = as_editor.post(address, typed(version, purpose="Better.", draft='"><script>'))

    assert answer.headers["Location"] == address


def test_nothing_changed_is_no_new_version(as_editor, address, version):
    answer = as_editor.post(address, typed(version), follow=True)

    assert version.rubric.versions.count() == 1
    assert "No changes to save." in answer.content.decode()


def test_problems_stand_beside_their_fields_and_in_a_list(as_editor, address, version):
    changes = {"criterion-0-weight": "-3", "purpose": "p" * 5_000, "background": "kept"}

    answer = as_editor.post(address, typed(version, **changes))

    page = answer.content.decode()
    assert answer.status_code == 422
    assert version.rubric.versions.count() == 1
    assert '<a href="#criterion-0-weight">Criterion 1 (Depth), weight</a>' in page
    assert 'id="criterion-0-weight-error"' in page
    assert 'value="-3"' in page
    assert "p" * 5_000 in page
    assert ">\nkept</textarea>" in page


def test_a_megabyte_is_refused_with_its_limit_and_kept(as_editor, address, version):
    answer = as_editor.post(address, typed(version, background="x" * 1_000_000))

    assert answer.status_code == 422
    assert "1,000,000 characters; at most 50,000" in answer.content.decode()
    assert "x" * 1_000_000 in answer.content.decode()


def test_markup_is_shown_as_text_everywhere(as_editor, project):
    rubric_create(project=project, slug="hostile", definition=hostile_definition())
    address = reverse("rubric_edit", args=[project.slug, "hostile"])

    shown = as_editor.get(address)
    again = as_editor.post(address, typed(shown.context["version"], name="", note=HOSTILE))

    for answer, status in ((shown, 200), (again, 422)):
        page = answer.content.decode()
        assert answer.status_code == status
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;alert" in page
    assert MARKUP in unescape(again.content.decode())


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"act": "show", "criterion-2-remove": "on"}, 'data-count="criterion">5<'),
        ({"act": "add-criterion"}, 'name="criterion-6-key"'),
        ({"act": "add-criterion"}, 'value="3" data-weight'),
        ({"act": "add-criterion", "criterion-5-remove": "on"}, 'name="criterion-6-key"'),
        ({"act": "add-check", "add-kind": "length"}, 'name="check-1-p-minimum"'),
        ({"act": "add-check", "add-kind": "nonsense"}, 'data-count="check">1<'),
        ({"act": "preset", "context-judge-history": "on"}, "data-no-departures>"),
        ({"act": "show", **COMMAND}, "data-no-departures>"),
        ({"act": "show", **COMMAND}, 'name="preset" value="evaluator"'),
    ],
)
def test_other_buttons_change_the_form_and_save_nothing(as_editor, address, version, changes, wanted):
    answer = as_editor.post(address, typed(version, purpose="Typed.", **changes))

    page = answer.content.decode()
    assert answer.status_code == 200
    assert wanted in page
    assert "Typed." in page
    assert 'data-state="typed"' in page
    assert version.rubric.versions.count() == 1


def test_departures_from_the_preset_are_told(as_editor, address, version):
    answer = as_editor.post(
        address, typed(version, act="show", **{"context-judge-history": "on", "context-judge-task": None})
    )

    assert [sentence.partition(".")[0] for sentence in answer.context["departures"]] == [
        "The judge does not see the task, which the default shows",
        "The judge sees the history, which the default hides",
    ]


def test_calibration_scores_of_a_removed_criterion_are_said_to_be_gone(as_editor, address, version):
    seeded = saved_again(
        version, calibration_text="Seed.", calibration_scores={"depth": Decimal(3), "grounded": Decimal(4)}
    )

    answer = as_editor.post(address, typed(seeded, **{"criterion-0-remove": "on"}), follow=True)

    assert "Calibration scores were removed along with their criteria: depth." in answer.content.decode()
    assert version.rubric.versions.first().calibration_scores == {"grounded": "4"}


@pytest.mark.parametrize("number", ["", "0", "99", "x", "-1", "1" * 40])
def test_a_form_that_started_from_nothing_is_not_found(as_editor, address, version, number):
    assert as_editor.post(address, typed(version, edited_from=number)).status_code == 404


def test_others_and_other_methods_are_refused(as_viewer, as_outsider, anonymous, as_editor, address, version):
    assert as_viewer.get(address).status_code == 403
    assert as_viewer.post(address, typed(version, purpose="x")).status_code == 403
    assert as_outsider.get(address).status_code == 404
    assert as_outsider.post(address, typed(version, purpose="x")).status_code == 404
    assert anonymous.get(address).status_code == 302
    assert as_editor.put(address).status_code == 405
    assert version.rubric.versions.count() == 1


def test_a_rubric_of_another_project_is_not_found(as_editor, project, other_project):
    a_rubric(other_project, slug="elsewhere")

    assert as_editor.get(reverse("rubric_edit", args=[project.slug, "elsewhere"])).status_code == 404


def queries(client, method, address, data=None):
    with CaptureQueriesContext(
        connection,
    ) as captured:
        answer = getattr(client, method)(address, data or {})
    assert answer.status_code in (200, 302)
    return len(captured)


def test_size_costs_no_queries(as_editor, project):
    sizes = {"small": (1, 1), "large": (30, 50)}
    versions = {
        slug: rubric_create(project=project, slug=slug, definition=large(*size))
        for slug, size in sizes.items()
    }
    as_editor.get(reverse("project_home", args=[project.slug]))  # the session remembers the project now
    shown, saved = {}, {}
    for slug, version in versions.items():
        address = reverse("rubric_edit", args=[project.slug, slug])
        shown[slug] = queries(as_editor, "get", address)
        saved[slug] = queries(as_editor, "post", address, typed(version, purpose="Changed."))

    assert shown["small"] == shown["large"] <= 12
    assert saved["small"] == saved["large"] <= 25


def test_the_largest_form_is_one_request(as_editor, project):
    version = rubric_create(project=project, slug="huge", definition=large(100, 200))

    answer = as_editor.post(
        reverse("rubric_edit", args=[project.slug, "huge"]), typed(version, purpose="Changed.")
    )

    assert answer.status_code == 302
    assert version.rubric.versions.count() == 2
