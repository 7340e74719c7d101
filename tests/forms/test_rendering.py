"""Forms are rendered with the project's own templates."""

from django import forms


class OneField(forms.Form):
    name = forms.CharField(help_text="A word.", required=False)
    colour = forms.ChoiceField(choices=[("r", "Red <b>")], widget=forms.RadioSelect)


def test_label_help_control_and_errors_stand_one_below_the_other():
    html = str(OneField({"colour": "x"}))
    places = [html.index(part) for part in ("<label", "A word.", "<input", "errorlist")]
    assert places == sorted(places)
    assert "(optional)" in html
    assert "Red &lt;b&gt;" in html


def test_a_field_without_errors_has_no_error_list():
    assert "errorlist" not in str(OneField())
