"""Controls that are written straight out say what Django's own templates say."""

import re

import pytest
from django import forms
from django.forms.renderers import TemplatesSetting

from refinement.forms.rendering import WRITTEN, HouseRenderer

HOSTILE = "\"><script>alert(1)</script>' & é"
GROUPED = [("", "none"), ("Group <b>", [("a", "A & B"), (HOSTILE, HOSTILE)]), (3, "three")]
WIDGETS = {
    "text": forms.TextInput(attrs={"maxlength": 10, "data-x": HOSTILE, "autofocus": True, "hidden": False}),
    "number": forms.NumberInput(attrs={"step": "any", "min": 0}),
    "email": forms.EmailInput(),
    "url": forms.URLInput(),
    "password": forms.PasswordInput(render_value=True),
    "hidden": forms.HiddenInput(),
    "date": forms.DateInput(),
    "datetime": forms.DateTimeInput(),
    "time": forms.TimeInput(),
    "checkbox": forms.CheckboxInput(),
    "file": forms.FileInput(),
    "textarea": forms.Textarea(attrs={"rows": 3}),
    "select": forms.Select(choices=GROUPED),
    "many": forms.SelectMultiple(choices=GROUPED),
    "radio": forms.RadioSelect(choices=GROUPED),
    "radio of a class": forms.RadioSelect(attrs={"class": HOSTILE}, choices=[("", "none"), ("a", "A")]),
}
VALUES = [None, "", "plain", HOSTILE, "\n\nlines", 3, 2.5, True, ["a", HOSTILE]]


def normal(html: str) -> str:
    """Without the spaces between tags, and after a radio button, that only Django's templates have."""
    return re.sub(r"(<input[^>]*>)\s+", r"\1 ", re.sub(r">\s+<", "><", html.strip()))


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("name", WIDGETS)
def test_a_control_is_the_same_as_django_makes_it(name, value):
    widget = WIDGETS[name]
    given = {"name": f"field-{HOSTILE}", "value": value, "attrs": {"id": "it", "aria-invalid": "true"}}
    ours = widget.render(renderer=HouseRenderer(), **given)
    theirs = widget.render(renderer=TemplatesSetting(), **given)
    assert normal(ours) == normal(theirs)
    assert "<script>" not in ours


def test_no_template_is_asked_for_these_controls():
    asked = {widget.template_name for name, widget in WIDGETS.items()}
    assert asked <= set(WRITTEN)


class OneField(forms.Form):
    default_renderer = HouseRenderer
    name = forms.CharField(help_text="A word.")


def test_errors_are_shown_and_none_leave_nothing():
    assert "errorlist" not in str(OneField().as_div())
    wrong = str(OneField({"name": ""})["name"].errors)
    assert "This field is required." in wrong
    assert "errorlist" in wrong
