"""How every form looks: label, help, control, errors, one below the other.

Controls are written straight out. Django's templates make the same, but each control asks the template
engine four times and more, which was a third of the time of a page with a few forms on it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.forms.renderers import TemplatesSetting
from django.http import HttpRequest
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

Control = Mapping[str, Any]  # what Django's templates get as `widget`
NOTHING = mark_safe("")
INPUTS = (
    "text",
    "number",
    "email",
    "url",
    "password",
    "hidden",
    "date",
    "datetime",
    "time",
    "checkbox",
    "file",
    "input",
)


def attributes(control: Control) -> SafeString:
    """The control's attributes; True stands for one without a value, False for none at all."""
    written = [
        f" {conditional_escape(name)}"
        if value is True
        else f' {conditional_escape(name)}="{conditional_escape(value)}"'
        for name, value in control["attrs"].items()
        if value is not False
    ]
    return mark_safe("".join(written))  # noqa: S308  every part was escaped


def written_input(control: Control) -> SafeString:
    value = control["value"]
    given = "" if value is None else format_html(' value="{}"', value)
    return format_html(
        '<input type="{}" name="{}"{}{}>', control["type"], control["name"], given, attributes(control)
    )


def written_textarea(control: Control) -> SafeString:
    # A browser drops the first line break after the tag: this one, and none of the text's.
    return format_html(
        '<textarea name="{}"{}>\n{}</textarea>', control["name"], attributes(control), control["value"] or ""
    )


def written_select(control: Control) -> SafeString:
    parts = []
    for group, options, _ in control["optgroups"]:
        inside = "".join(
            format_html(
                '<option value="{}"{}>{}</option>', option["value"], attributes(option), option["label"]
            )
            for option in options
        )
        written = mark_safe(inside)  # noqa: S308  every part was escaped
        parts.append(format_html('<optgroup label="{}">{}</optgroup>', group, written) if group else written)
    inside = mark_safe("".join(parts))  # noqa: S308
    return format_html('<select name="{}"{}>{}</select>', control["name"], attributes(control), inside)


def written_choices(control: Control) -> SafeString:
    """Radio buttons, each in its label."""
    parts = []
    for group, options, _ in control["optgroups"]:
        inside = mark_safe("".join(map(written_choice, options)))  # noqa: S308  every part was escaped
        parts.append(format_html("<div><label>{}</label>{}</div>", group, inside) if group else inside)
    around = attributes({"attrs": {name: control["attrs"].get(name) or False for name in ("id", "class")}})
    return format_html("<div{}>{}</div>", around, mark_safe("".join(parts)))  # noqa: S308


def written_choice(option: Control) -> SafeString:
    target = attributes({"attrs": {"for": option["attrs"].get("id", False)}})
    return format_html("<div><label{}>{} {}</label></div>", target, written_input(option), option["label"])


WRITTEN: dict[str, Callable[[Control], SafeString]] = {
    **{f"django/forms/widgets/{kind}.html": written_input for kind in INPUTS},
    "django/forms/widgets/textarea.html": written_textarea,
    "django/forms/widgets/select.html": written_select,
    "django/forms/widgets/radio.html": written_choices,
}
ERRORS = "django/forms/errors/list/default.html"


class HouseRenderer(TemplatesSetting):
    form_template_name = "forms/form.html"
    field_template_name = "forms/field.html"

    def render(
        self, template_name: str, context: Mapping[str, Any], request: HttpRequest | None = None
    ) -> SafeString:
        if write := WRITTEN.get(template_name):
            return write(context["widget"])
        if template_name == ERRORS and not context["errors"]:
            return NOTHING
        return SafeString(super().render(template_name, dict(context), request))
