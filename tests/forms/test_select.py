"""Select menus: this project's template gives the same HTML as Django's."""

from django import forms
from django.forms.renderers import DjangoTemplates

from refinement.forms.rendering import FormRenderer

CHOICES = [
    ("", "Any"),
    ("<a>", "A & B"),
    ("Models", [("gemma3:27b", "Gemma"), ("qwen3:14b", "Qwen")]),
]


def test_it_is_the_same_as_djangos():
    select = forms.Select({"id": "judge", "required": True, "hidden": False, "title": '"x"'}, CHOICES)
    for chosen in ("", "<a>", "qwen3:14b", None):
        ours, theirs = (
            select.render("judge", chosen, renderer=each()) for each in (FormRenderer, DjangoTemplates)
        )
        assert ours.split() == theirs.split()
    assert "&lt;a&gt;" in ours
    assert "A &amp; B" in ours
