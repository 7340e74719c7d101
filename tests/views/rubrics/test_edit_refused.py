"""Invalid input in the editor: a message at its field, all input kept, nothing saved."""

import re
from html import escape, unescape

import pytest
from django.urls import reverse

from tests.views.rubrics.given import HOSTILE, MARKUP, a_rubric
from tests.views.rubrics.test_edit import HTMX, typed

pytestmark = pytest.mark.django_db
OWN_TEMPLATE = {"template-judge-default": None}


def a_check(kind: str, **parameters: str) -> dict[str, str]:
    row = {"check-0-key": "mine", "check-0-kind": kind, "check-0-severity": "error", "check-0-weight": "1"}
    return row | {f"check-0-p-{name}": value for name, value in parameters.items()}


CASES = {
    "a key twice": ("criterion-1-key", {"criterion-1-key": "depth"}, "has the same one"),
    "a weight of zero": ("criterion-0-weight", {"criterion-0-weight": "0"}, "greater than 0"),
    "a negative weight": ("criterion-0-weight", {"criterion-0-weight": "-3"}, "greater than 0"),
    "a pass mark too high": ("policy-pass_threshold", {"policy-pass_threshold": "10.5"}, "from 0 to 10"),
    "a pass mark too low": ("policy-pass_threshold", {"policy-pass_threshold": "-1"}, "from 0 to 10"),
    "a name no template has": (
        "template-judge",
        OWN_TEMPLATE | {"template-judge": "Judge.\n{{ nonsense }}"},
        "Line 2: Unknown variable 'nonsense'",
    ),
    "a template of markup": (
        "template-judge",
        OWN_TEMPLATE | {"template-judge": f"{MARKUP} {{{{ nonsense }}}}"},
        "Unknown variable",
    ),
    "a pattern that is none": ("check-0-p-pattern", a_check("regex", pattern="(a"), "not a valid regular"),
    "a pattern that runs away": (
        "check-0-p-pattern",
        a_check("regex", pattern="(a+)+$"),
        "takes longer than",
    ),
    "a schema that is none": ("check-0-p-schema", a_check("json-schema", schema="{"), "Not valid JSON"),
    "a megabyte of background": ("background", {"background": "x" * 1_000_000}, "at most 50,000"),
    "a megabyte of ideal": ("criterion-0-ideal", {"criterion-0-ideal": "x" * 1_000_000}, "at most 4,000"),
    "markup for a number": ("policy-max_rounds", {"policy-max_rounds": HOSTILE}, "whole number"),
    "markup for a key": ("criterion-0-key", {"criterion-0-key": MARKUP[:50]}, "only letters"),
    "markup for a choice": ("policy-composite", {"policy-composite": HOSTILE}, "one of the options"),
}


@pytest.fixture
def version(project):
    return a_rubric(project)


@pytest.fixture
def address(project, version):
    return reverse("rubric_edit", args=[project.slug, "own"])


def message_beside(page: str, field: str) -> str:
    """What the list that the field is described by says."""
    found = re.search(rf'<ul class="errorlist" id="{re.escape(field)}-error">(.*?)</ul>', page, re.DOTALL)
    assert found, f"no message beside {field}"
    described = re.search(rf'id="{re.escape(field)}"[^>]*aria-describedby="([^"]*)"', page)
    assert described, f"{field} is not described"
    assert f"{field}-error" in described[1].split()
    return unescape(found[1])


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
@pytest.mark.parametrize(("field", "changes", "said"), CASES.values(), ids=CASES)
def test_it_is_refused_beside_its_field(as_editor, address, version, field, changes, said, headers):
    sent = typed(version, purpose="Typed & kept.", note="Why.", **changes)

    answer = as_editor.post(address, sent, headers=headers)

    page = answer.content.decode()
    assert answer.status_code == 422
    assert version.rubric.versions.count() == 1
    assert said in message_beside(page, field)
    assert f'<a href="#{field}">' in page
    assert "<script>alert" not in page
    kept = answer.context["fields"]
    assert {name: value for name, value in sent.items() if name != "act"}.items() <= kept.items()
    assert "Typed &amp; kept." in page


def test_what_was_typed_stands_in_its_field(as_editor, address, version):
    changes = {"criterion-0-weight": HOSTILE, "background": f"{HOSTILE}x" * 2_000, "name": ""}

    page = as_editor.post(address, typed(version, **changes)).content.decode()

    assert re.search(r'id="criterion-0-weight" value="([^"]*)"', page)[1] == escape(HOSTILE)
    assert f">\n{escape(changes['background'])}</textarea>" in page


def test_no_criteria_is_said_at_the_list(as_editor, address, version):
    bare = {name: None for name in typed(version) if name.startswith(("criterion-", "check-"))}

    answer = as_editor.post(address, typed(version, purpose="Typed & kept.", **bare))

    page = unescape(answer.content.decode())
    section = page[page.index('id="criteria"') : page.index('id="checks"')]
    assert answer.status_code == 422
    assert version.rubric.versions.count() == 1
    assert "Add at least one criterion" in section
    assert "Typed & kept." in page
