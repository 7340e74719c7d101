"""Planted defects from copies to the report."""

from typing import Any

import pytest

from refinement.execution.trust.computing import compute_trust
from refinement.execution.trust.planted import planted_results
from refinement.models import JudgeRecord, Measurement, MeasurementItem
from refinement.services.trust.measurements.creating import measurement_create
from refinement.services.trust.planting import GoodText, OwnCopy, planted_plan, planted_values
from tests.execution.trials.given import JUDGE, Table
from tests.execution.trust.planted_judge import WIGGUM, WeakJudge, good_texts
from tests.execution.wire.stage import verdict
from tests.services.trust.measurements.given import carried_out

pytestmark = pytest.mark.django_db
WHO = (JUDGE.endpoint, JUDGE.model, ())


def measured(table: Table, judge: Any, texts: list[GoodText], **more: Any) -> Measurement:
    table.server.replies = judge
    plan = planted_plan(table.version, texts, **more)
    values = planted_values(version=table.version, judge=WHO, planned=plan)
    return carried_out(measurement_create(**values))


def by_edit(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {entry["edit"]: entry for entry in entries}


def around(value: dict[str, float], truth: float) -> bool:
    return value["low"] <= truth <= value["high"]


def test_a_judge_is_found_out(table: Table):
    texts = good_texts(20)
    judge = WeakJudge(texts)
    edits = [
        "dropped",
        "numbers",
        "shuffled",
        "citation",
        "contradiction",
        "typography",
        "synonyms",
        "padding",
    ]
    measurement = measured(table, judge, texts, edits=edits, seed=3)
    assert measurement.status == "finished"
    record = JudgeRecord.objects.get()
    found = compute_trust(record.pk)["planted"]
    kinds, harmless = by_edit(found["kinds"]), by_edit(found["harmless"])
    assert {edit: entry["n"] for edit, entry in kinds.items()} == dict.fromkeys(edits[:5], 20)
    assert kinds["dropped"]["hits"] == kinds["contradiction"]["hits"] == 0
    assert kinds["dropped"]["share"]["high"] < 0.2
    truth = sum(judge.notices(good.text) for good in texts)
    assert kinds["numbers"]["hits"] == truth
    assert around(kinds["numbers"]["share"], judge.sees_numbers)
    assert kinds["shuffled"]["hits"] == kinds["citation"]["hits"] == 20
    assert kinds["citation"]["right"]["share"]["value"] == 1
    assert kinds["citation"]["mean_drop"] == 4
    assert {edit: entry["hits"] for edit, entry in harmless.items()} == {"typography": 0, "synonyms": 0}
    assert around(found["false_alarms"]["share"], 0)
    assert found["padding"]["change"]["value"] == pytest.approx(judge.likes)
    assert found["padding"]["words"] >= 40
    assert found["found"] == {**found["found"], "n": 100, "hits": 40 + truth}


def test_without_a_retest_a_fallback_says_what_is_noise(table: Table):
    texts = good_texts(2)
    measured(table, WeakJudge(texts, sees_numbers=1), texts, edits=["numbers"])
    record = JudgeRecord.objects.get()
    assert planted_results(record)["noise"] == {"known": False, "composite": 0.5, "fallback": 0.5}
    assert planted_results(record)["found"]["hits"] == 2
    noisy = planted_results(record, {"composite": 1.0, "grounded": 3.5})
    assert noisy["noise"]["known"]
    assert noisy["found"]["hits"] == 0
    assert planted_results(record, {"composite": 1.0, "grounded": 2.9})["found"]["hits"] == 2


def test_a_drop_on_another_criterion_is_not_on_the_right_one(table: Table):
    texts = good_texts(3)

    def judge(asked):
        spoiled = "p. " in asked.prompt[asked.prompt.index("# Guide") :]
        return verdict(WIGGUM, [5 if spoiled else 9, *[8.4 if spoiled else 9] * 5])

    measured(table, judge, texts, edits=["citation"])
    found = planted_results(JudgeRecord.objects.get())["kinds"][0]
    assert (found["hits"], found["right"]["hits"], found["right"]["n"]) == (3, 0, 3)
    example = found["examples"][0]
    assert example["noticed"]
    assert example["criterion"] == "grounded"
    assert example["drop"] == pytest.approx(0.6)
    assert "invented source" in example["change"]
    assert MeasurementItem.objects.filter(pk=example["item"], edit="citation").exists()


def test_peoples_own_copies_count_as_their_own_kinds(table: Table):
    good = good_texts(1)[0]
    own = [
        OwnCopy(
            good, good.text.replace("by hand", "by nobody") + "p. 1", criterion="grounded", change="Wrong."
        ),
        OwnCopy(good, good.text.replace("by hand", "manually"), harmless=True, criterion="grounded"),
    ]
    measured(table, WeakJudge([good]), [], own=own)
    found = planted_results(JudgeRecord.objects.get())
    assert [(entry["edit"], entry["name"], entry["hits"]) for entry in found["kinds"]] == [
        ("own", "Own spoiled copy", 1)
    ]
    assert [(entry["edit"], entry["hits"]) for entry in found["harmless"]] == [("own_harmless", 0)]
    assert found["copies"] == 2


def test_the_same_copy_in_two_measurements_counts_once(table: Table):
    texts = good_texts(2)
    judge = WeakJudge(texts)
    measured(table, judge, texts, edits=["citation"])
    calls = judge.asked
    measured(table, judge, texts, edits=["citation"])
    assert judge.asked == calls == 4
    assert planted_results(JudgeRecord.objects.get())["copies"] == 2


def test_a_judge_without_planted_copies_has_no_results(table: Table):
    texts = good_texts(1)
    measurement = measured(table, lambda asked: "no idea", texts, edits=["citation"])
    assert measurement.status == "finished"
    assert planted_results(JudgeRecord.objects.get()) is None
    assert compute_trust(JudgeRecord.objects.get().pk)["planted"] is None
