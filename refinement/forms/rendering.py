"""The templates that every form is rendered with: label, help, control and errors, one below the other."""

from django.forms.renderers import TemplatesSetting


class FormRenderer(TemplatesSetting):
    """Django's own rendering with this project's layout of forms and fields."""

    form_template_name = "forms/form.html"
    field_template_name = "forms/field.html"
