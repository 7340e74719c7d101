"""The rubric's texts that a launch can replace."""

from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.forms.runs.texts import rubric_with_texts, texts_changed, texts_posted

OLD = replace(rubric_for("wiggum"), background="Old facts.\n", output_contract="A letter.")
NEW = replace(rubric_for("simmer"), background="New facts.", output_contract="")


@pytest.mark.parametrize(
    ("sent", "shown", "background"),
    [
        ({}, NEW, "New facts."),  # not sent: the rubric's
        ({"background": "Mine."}, NEW, "Mine."),
        ({"background": ""}, NEW, ""),  # cleared
        ({"background": "New facts.\r\n"}, NEW, "New facts."),  # as browsers send it
        # The rubric was changed after the page was filled: what nobody changed follows it.
        ({"background": "Old facts."}, OLD, "New facts."),
        ({"background": "Mine."}, OLD, "Mine."),
        ({"background": ""}, OLD, ""),
    ],
)
def test_unchanged_texts_follow_the_rubric(sent, shown, background):
    assert texts_posted(sent, shown, NEW)["background"] == background


def test_a_text_that_was_not_changed_stays_exactly_as_it_is():
    assert rubric_with_texts(OLD, {"background": "Old facts.\r\n", "output_contract": "A letter. "}) is OLD


def test_changed_texts_are_the_runs():
    used = rubric_with_texts(OLD, {"background": " Mine.\r\nTwo lines. ", "output_contract": ""})
    assert (used.background, used.output_contract) == ("Mine.\nTwo lines.", "")
    assert texts_changed(OLD, used) == ["Output contract", "Background"]
    assert OLD.background == "Old facts.\n"
