"""Controls that are written straight out: a page with many of them asks the template engine for none."""

from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString


class PlainSelect(forms.Select):
    """A list of choices, without groups."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        chosen = "" if value is None else str(value)
        options = format_html_join(
            "",
            '<option value="{}"{}>{}</option>',
            ((key, flatatt({"selected": str(key) == chosen}), words) for key, words in self.choices),
        )
        return format_html(
            '<select name="{}"{}>{}</select>', name, flatatt(self.build_attrs(self.attrs, attrs)), options
        )


class PlainInput(forms.TextInput):
    """One line; `kind` is the type of the control, and what was typed is shown as it is."""

    def __init__(self, kind: str, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs)
        self.input_type = kind

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        given = {} if value in (None, "") else {"value": str(value)}
        every = {**self.build_attrs(self.attrs, attrs), **given}
        return format_html('<input type="{}" name="{}"{}>', self.input_type, name, flatatt(every))
