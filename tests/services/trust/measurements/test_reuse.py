"""A verdict for the same text, rubric, judge and model digest is reused, unless asked otherwise."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_to_json, rubric_with
from refinement.models import Bench, Project
from refinement.services.rubrics.editing import version_create
from refinement.services.trust.measurements.creating import NewItem
from refinement.services.trust.measurements.dealing import measurement_advance
from tests.execution.trials.given import Table, definition
from tests.services.trust.measurements.given import a_measurement, carried_out, statuses, trials_of

pytestmark = pytest.mark.django_db


def calls(table: Table) -> int:
    return len(table.server.chats)


def test_the_same_again_costs_no_call(table: Table):
    table.says(*range(1, 9))
    first = carried_out(a_measurement(table, "One.", "Two.", repeats=3))
    again = carried_out(a_measurement(table, "One.", "Two.", repeats=3))
    assert calls(table) == 6
    assert again.status == "finished"
    assert statuses(again) == {"done": 6}
    pairs = zip(trials_of(first), trials_of(again), strict=True)
    for before, after in pairs:
        assert after.reused_from == before
        assert (after.scores, after.composite, after.said) == (before.scores, before.composite, before.said)
        assert (after.calls_made, after.tokens) == (0, 0)


def test_more_repeats_are_asked_for_alone(table: Table):
    table.says(*range(1, 9))
    carried_out(a_measurement(table, "One.", repeats=2))
    carried_out(a_measurement(table, "One.", repeats=5))
    assert calls(table) == 5


def test_reusing_what_was_reused_names_the_first(table: Table):
    table.says(7)
    first = carried_out(a_measurement(table, "One."))
    carried_out(a_measurement(table, "One."))
    third = carried_out(a_measurement(table, "One."))
    assert trials_of(third).get().reused_from == trials_of(first).get()


def test_asking_again_pays_again(table: Table):
    table.says(7, 8)
    carried_out(a_measurement(table, "One."))
    carried_out(a_measurement(table, "One.", ask_again=True))
    assert calls(table) == 2


def test_the_same_text_twice_in_one_measurement_is_judged_once(table: Table):
    table.says(7, 8)
    measurement = carried_out(a_measurement(table, "One.", "One."))
    assert calls(table) == 1
    assert statuses(measurement) == {"done": 2}


def test_two_measurements_at_once_share_what_is_under_way(table: Table):
    table.says(7, 8)
    first, second = a_measurement(table, "One."), a_measurement(table, "One.")
    measurement_advance(first.pk)
    measurement_advance(second.pk)
    assert (statuses(first), statuses(second)) == ({"queued": 1}, {})
    carried_out(first)
    carried_out(second)
    assert calls(table) == 1


def test_a_failure_is_no_verdict(table: Table):
    table.says("no", "no", "no", 7)
    carried_out(a_measurement(table, "One."))
    assert statuses(carried_out(a_measurement(table, "One."))) == {"done": 1}


def test_another_pass_mark_is_the_same_verdict(table: Table):
    """Only what the judge sees and how its reply is scored counts, not what the loop would do."""
    table.says(7, 8)
    carried_out(a_measurement(table, "One."))
    draft = rubric_to_json(rubric_with(definition(), {"policy.pass_threshold": "5"}))
    carried_out(a_measurement(table, "One.", definition=draft))
    version = version_create(rubric=table.version.rubric, definition=replace(definition(), purpose="x"))
    carried_out(a_measurement(table, "One.", version=version))
    assert calls(table) == 1


def changed_criterion(**changes):
    rubric = definition()
    return replace(rubric, criteria=(replace(rubric.criteria[0], **changes), *rubric.criteria[1:]))


@pytest.mark.parametrize(
    "draft",
    [
        changed_criterion(description="Something else."),
        changed_criterion(weight=changed_criterion().criteria[0].weight / 2),
        rubric_with(definition(), {"policy.judge_limit_chars": "3"}),
    ],
    ids=["words", "weight", "cut"],
)
def test_what_changes_the_prompt_or_the_score_is_asked_for(table: Table, draft):
    table.says(7, 8)
    carried_out(a_measurement(table, "One."))
    carried_out(a_measurement(table, "One.", definition=rubric_to_json(draft)))
    assert calls(table) == 2


def test_another_task_text_or_model_is_asked_for(table: Table):
    table.says(7, 8, 9, 10)
    carried_out(a_measurement(table, "One."))
    carried_out(a_measurement(table, items=[NewItem("One.", "Another task.")]))
    carried_out(a_measurement(table, "One"))
    carried_out(a_measurement(table, "One.", judge=("ollama", "loopback:1b", ())))
    assert calls(table) == 4


def test_a_model_that_was_replaced_is_asked_again(table: Table, monkeypatch):
    table.says(7, 8)
    carried_out(a_measurement(table, "One."))
    module = "refinement.services.trust.measurements.dealing.digests_of"
    monkeypatch.setattr(module, lambda targets: dict.fromkeys(targets, "new"))
    carried_out(a_measurement(table, "One."))
    assert calls(table) == 2


def test_the_digest_comes_from_the_server(table: Table):
    from refinement.providers.registry import Target
    from refinement.selectors.trust.measurements.reuse import digests_of

    target = Target("ollama", "loopback:8b")
    assert digests_of([target]) == {target: "digest-of-loopback:8b"}


def test_another_project_shares_nothing(table: Table):
    table.says(7, 8)
    carried_out(a_measurement(table, "One."))
    other = Table(table.server, Project.objects.create(name="Other", slug="other"))
    carried_out(a_measurement(other, "One."))
    assert calls(table) == 2


def test_a_persons_test_is_not_reused_and_has_no_fingerprint(table: Table):
    table.judged(7, text="One.")
    assert Bench.objects.get().fingerprint == ""
    table.says(8)
    carried_out(a_measurement(table, "One."))
    assert calls(table) == 2
