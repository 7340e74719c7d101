"""Form rendering: label, help, control and errors."""

from django.forms.renderers import TemplatesSetting


class FormRenderer(TemplatesSetting):
    """Django's renderer with this project's templates for forms and fields."""

    form_template_name = "forms/form.html"
    field_template_name = "forms/field.html"
