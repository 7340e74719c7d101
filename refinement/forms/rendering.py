"""How every form looks: label, help, control, errors, one below the other."""

from django.forms.renderers import TemplatesSetting


class HouseRenderer(TemplatesSetting):
    form_template_name = "forms/form.html"
    field_template_name = "forms/field.html"
