"""Canaries in measurements: a measured judge sees what a run's judge sees, and nothing else.

A retest and a replay show a round exactly as its run showed it. A held-out judge and planted copies see the
text alone: no other round, no score, nothing that another judge or a person said.
"""

import json
import re

import pytest

from refinement.models import Label, LabelRater, Measurement, Run
from refinement.services.reviews.human_scores import Reading, human_score_give
from refinement.services.trust.label_items import label_rounds_add
from refinement.services.trust.labels import label_set_create
from refinement.services.trust.measurements.creating import NewItem, measurement_create
from tests.execution.wire.test_canaries_on_the_wire import (
    ODD,
    bodies,
    each_preset,
    each_profile,
    found,
    played,
    reply,
)
from tests.services.trust.measurements.given import carried_out

KINDS = ("candidate", "change", "asi", "reasoning", "improvement", "issue", "thought", "musing")
NOW = 3  # the round that is measured
OTHER = 9  # of what the measured judge says
PERSON = "canary-person"


def labelled(run: Run, user) -> Run:
    """The run with a person's score and a label of the measured round, both with words."""
    row = run.rounds.get(number=NOW)
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    maximum = run.rubric_version.scale_maximum
    scores = Reading(dict.fromkeys(keys, maximum), dict.fromkeys(keys, PERSON), PERSON)
    human_score_give(run=run, row=row, user=user, submitted=scores, seen_version=0)
    made = label_set_create(project=run.project, version=run.rubric_version, name=PERSON)
    label_rounds_add(label_set=made, rounds=[row], user=None)
    rater = LabelRater.objects.create(label_set=made, name=PERSON)
    Label.objects.create(
        item=made.items.get(), rater=rater, scores=dict.fromkeys(keys, str(maximum)),
        reasons=dict.fromkeys(keys, PERSON), note=PERSON,
    )  # fmt: skip
    return run


def measured(stage, profile: str, of: Run, kind: str, **more) -> list[str]:
    """What the judge of a measurement of the third round is sent."""
    before = len(bodies(stage, "judge"))
    rows = {row.number: row for row in of.rounds.all()}
    stage.says(judge=[reply(profile, 1).replace("-1", f"-{OTHER}")] * 9)
    values = {
        "items": [NewItem(rows[NOW].candidate, of.task, round=rows[NOW])],
        "judge": (of.judge_endpoint, of.judge_model, ()),
        **more,
    }
    made = measurement_create(project=of.project, version=of.rubric_version, kind=kind, **values)
    carried_out(made)
    sent = bodies(stage, "judge")[before:]
    assert sent
    return sent


def same_mark(body: str, run: Run, measurement: Measurement) -> str:
    """The request with the run's delimiters, which are made anew for each measurement."""
    nonce = measurement.items.get().bench.nonce
    text = body.replace(nonce, run.nonce)
    return re.sub(r'"(num_ctx|num_predict|keep_alive)": [^,}]+', "", text)


@each_profile
@each_preset
@pytest.mark.parametrize("kind", ["retest", "replay"])
def test_a_round_is_judged_again_with_the_very_same_words(stage, editor, profile, evaluator, kind):
    run = labelled(played(stage, profile, evaluator), editor)
    asked_in_run = bodies(stage, "judge")[NOW - 1]
    (body,) = measured(stage, profile, run, kind)
    made = Measurement.objects.get(kind=kind)
    assert same_mark(body, run, made) == same_mark(asked_in_run, run, made)
    assert PERSON not in body


@each_profile
@each_preset
@pytest.mark.parametrize("kind", ["held_out", "planted"])
def test_a_text_alone_is_judged_without_what_was_said_of_it(stage, editor, profile, evaluator, kind):
    run = labelled(played(stage, profile, evaluator), editor)
    row = run.rounds.get(number=NOW)
    items = [NewItem(row.candidate, run.task, round=row)]
    if kind == "planted":
        copy = row.candidate + " A sentence that a copy adds."
        items.append(NewItem(copy, run.task, edit="padding", original=0, change=PERSON))
    for body in measured(
        stage, profile, run, kind, items=items, **({"run": run} if kind == "held_out" else {})
    ):
        assert {name: found(body, name) for name in KINDS if found(body, name)} == {"candidate": {NOW}}
        assert PERSON not in body
        assert "canary-task" in body
        if profile != "simmer":  # whole numbers are no canaries
            assert not [score for score in ODD[profile] if score in body]
        for never in ("canary-purpose", "canary-suggestion", "padding", f"canary-asi-{OTHER}"):
            assert never not in body


@each_profile
def test_what_a_measured_judge_said_reaches_no_later_request(stage, profile):
    run = played(stage, profile, evaluator=True)
    (first,) = measured(stage, profile, run, "retest")
    (again,) = measured(stage, profile, run, "replay", ask_again=True)
    nonces = [made.items.get().bench.nonce for made in Measurement.objects.order_by("pk")]
    assert again.replace(nonces[1], nonces[0]) == first
    assert f"canary-asi-{OTHER}" not in json.dumps([first, again])
