"""A judge's report: known noise and bias are found, and which scores count."""

import random
import re
import time
from decimal import Decimal

import pytest
from django.utils import timezone

from refinement.execution.reports import report_advance
from refinement.execution.trust.computing import compute_judges, compute_trust
from refinement.models import HumanScore, JudgeRecord, LabelItem, LabelSet, Report, Round, Verdict
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.scores import scores_of
from refinement.services.experiments.reporting import reports_clean
from refinement.services.reviews.human_scores import Reading, human_score_give
from refinement.services.trust.judges import judge_ensure, trust_refresh
from refinement.services.trust.measurements.creating import NewItem, measurement_create
from refinement.services.trust.reports import judges_wanted
from tests.execution.trials.given import JUDGE, Table
from tests.execution.wire.stage import verdict
from tests.models.given import a_run, a_version
from tests.services.trust.given import a_rubric, imported
from tests.services.trust.measurements.given import carried_out
from tests.services.trust.rated import CRITERIA, a_rated_set, two_judges
from tests.statistics.ratings import criteria, ratings

pytestmark = pytest.mark.django_db
NOISE, BIAS, TEXTS = 0.5, 0.8, 60
WHO = (JUDGE.endpoint, JUDGE.model, ())


def quality(text: int) -> float:
    return random.Random(text).uniform(2.5, 7.5)


class KnownJudge:
    """Scores a text's quality with a known bias and noise."""

    def __init__(self, definition) -> None:
        self.definition, self.random, self.asked = definition, random.Random(11), 0

    def __call__(self, asked) -> str:
        self.asked += 1
        text = int(re.findall(r"Text (\d+)\.", asked.body["messages"][-1]["content"])[-1])
        score = quality(text) + BIAS + self.random.gauss(0, NOISE)
        return verdict(self.definition, round(score, 2))


def labelled(project, table: Table) -> LabelSet:
    """60 texts, each scored by two people with a noise of 0.4."""
    version = a_rubric(project, "clarity", least=0, most=10, step=None)
    table.server.replies = KnownJudge(definition_of(version))
    noise, rows = random.Random(7), ["item,criterion,rater,score"]
    for text in range(TEXTS):
        rows += [f"{text},clarity,{who},{quality(text) + noise.gauss(0, 0.4):.2f}" for who in ("Ada", "Ben")]
    texts = "\n".join(f'{{"item": "{text}", "text": "Text {text}."}}' for text in range(TEXTS))
    return LabelSet.objects.get(pk=imported(project, "\n".join(rows) + "\n", texts).label_set)


def retested(project, row: LabelSet, repeats: int = 3, **more):
    items = [NewItem(item.text, label_item=item) for item in row.items.order_by("position")]
    return carried_out(
        measurement_create(
            project=project, version=row.rubric_version, kind="retest", judge=WHO, items=items,
            repeats=repeats, label_set=row, **more,
        )
    )  # fmt: skip


def holds(figure, truth: float) -> bool:
    return figure["low"] <= truth <= figure["high"]


def test_a_judge_with_known_noise_and_bias_is_found_out(project, table):
    row = labelled(project, table)
    retested(project, row)
    record = JudgeRecord.objects.get()
    found = compute_trust(record.pk)
    whole = found["composite"]
    assert (found["labels"], found["evidence"], found["raters"]) == (TEXTS, "usable", ["Ada", "Ben"])
    assert (whole["retest_items"], whole["retest_judgements"]) == (TEXTS, 3 * TEXTS)
    assert holds(whole["bias"], BIAS)
    assert holds(whole["retest_sd"], NOISE)
    assert holds(whole["smallest_difference"], 1.96 * 2**0.5 * NOISE)
    assert whole["bias"]["high"] - whole["bias"]["low"] < 0.5
    assert whole["retest_sd"]["high"] - whole["retest_sd"]["low"] < 0.2
    assert {**found["criteria"][0], "key": "", "name": ""} == {**whole, "key": "", "name": ""}
    the_report_fills_the_judges_row(record)


def the_report_fills_the_judges_row(record: JudgeRecord) -> None:
    for report in Report.objects.filter(kind="trust", subject=record.pk):
        assert report_advance(report.pk)
    record.refresh_from_db()
    whole = Report.objects.get(kind="trust", subject=record.pk).result["composite"]
    assert record.labels == TEXTS
    assert record.computed_at is not None
    for name in ("kappa", "alpha", "bias", "smallest_difference"):
        assert getattr(record, name) == pytest.approx(whole[name]["value"])
    assert record.criteria_differences == {"clarity": record.smallest_difference}
    assert record.worse_than_people == whole["worse_than_people"]


def test_an_answer_that_was_reused_is_no_repeat(project, table):
    row = labelled(project, table)
    retested(project, row, repeats=1)
    asked = table.server.replies.asked
    items = [NewItem(item.text, label_item=item) for item in row.items.order_by("position")]
    carried_out(
        measurement_create(project=project, version=row.rubric_version, kind="replay", judge=WHO, items=items)
    )
    assert table.server.replies.asked == asked
    found = compute_trust(JudgeRecord.objects.get().pk)["composite"]
    assert (found["n"], found["retest_items"], found["retest_sd"]) == (TEXTS, 0, None)


def test_judgements_of_another_prompt_are_no_repeats(project, table):
    """Those of a recorded judge, whose prompt is not known, and of another task."""
    row = labelled(project, table)
    keys = row.items.order_by("position").values_list("key", flat=True)[:2]
    lines = ["item,criterion,rater,score", *(f"{key},clarity,j,0" for key in keys)]
    imported(project, "\n".join(lines) + "\n", judges={"j": WHO[1]})
    retested(project, row, repeats=2)
    other = [NewItem(item.text, "Another task.", label_item=item) for item in row.items.order_by("position")]
    carried_out(
        measurement_create(project=project, version=row.rubric_version, kind="retest", judge=WHO, items=other)
    )
    found = compute_trust(JudgeRecord.objects.get().pk)["composite"]
    assert (found["retest_items"], found["retest_judgements"]) == (TEXTS, 2 * TEXTS)
    assert holds(found["retest_sd"], NOISE)


# --- which scores count ---------------------------------------------------------------------------
def scored_run(project, version, *scores: float, model: str = "judge:8b", **changes):
    """A run whose rounds a judge gave these scores throughout."""
    run = a_run(project, version, judge=Target("ollama", model), **changes)
    keys = [criterion["key"] for criterion in run.snapshot["criteria"]]
    for number, score in enumerate(scores, 1):
        row = Round.objects.create(
            run=run, number=number, origin="draft", candidate_chars=600, candidate="Text.",
            composite=Decimal(str(score)), scores=dict.fromkeys(keys, str(score)), judged_at=timezone.now(),
        )  # fmt: skip
        said = [{"key": key, "score": str(score), "reasoning": "", "improvement": ""} for key in keys]
        Verdict.objects.create(round=row, judge=model, scores=said)
    return run


def people_say(run, number: int, score: float, user=None, name: str = "Ada") -> HumanScore:
    row = run.rounds.get(number=number)
    given = [{"key": key, "score": str(score), "reason": ""} for key in row.scores]
    return HumanScore.objects.create(
        run=run, round=row, author=user, author_name=name, scores=given, composite=Decimal(str(score))
    )


@pytest.fixture
def version(project):
    return a_rubric(project, *CRITERIA, least=0, most=10, step=None)


def test_peoples_scores_of_rounds_are_labels(project, version, viewer, editor):
    run = scored_run(project, version, 6.5, 9)
    people_say(run, 1, 6, viewer)
    people_say(run, 1, 7, editor, "Ben")
    found = compute_trust(judge_ensure(project=project, version=version, model="judge:8b").pk)
    assert (found["labels"], found["items_with_two"], found["raters"]) == (1, 1, ["Ada", "Ben"])
    assert found["composite"]["bias"]["value"] == 0
    assert found["composite"]["mae"]["value"] == 0
    assert found["criteria"][0]["standing"] == "not_enough"
    # A verdict of a run is no retest, and both rounds are part of the mean.
    assert found["composite"]["retest_items"] == 0
    assert found["correction"] is None
    assert scores_of(JudgeRecord.objects.get(key="judge:8b")).rounds == [9, 6.5]


def test_other_versions_and_models_have_their_own_record(project, version, viewer):
    people_say(scored_run(project, version, 6, model="judge:8b"), 1, 5, viewer)
    people_say(scored_run(project, version, 8, model="other:8b"), 1, 5, viewer)
    records = [
        judge_ensure(project=project, version=version, model=name) for name in ("judge:8b", "other:8b")
    ]
    biases = [compute_trust(record.pk)["composite"]["bias"]["value"] for record in records]
    assert biases == [1, 3]


def test_a_round_in_a_label_set_is_one_text(project, version, viewer):
    run = scored_run(project, version, 6)
    people_say(run, 1, 5, viewer)
    imported(project, "item,criterion,rater,score\na,clarity,Cleo,4\na,depth,Cleo,4\n")
    LabelItem.objects.update(round=run.rounds.get())
    found = compute_trust(judge_ensure(project=project, version=version, model="judge:8b").pk)
    assert (found["labels"], found["composite"]["raters"]) == (1, 2)
    assert found["composite"]["bias"]["value"] == pytest.approx(1.5)


def test_without_every_criterion_there_is_no_composite(project, version):
    rows = "item,criterion,rater,score\na,clarity,Ada,4\na,depth,Ada,6\nb,clarity,Ada,4\na,clarity,j,5\n"
    imported(project, rows + "b,clarity,j,5\n", judges={"j": "judge"})
    found = compute_trust(JudgeRecord.objects.get(key="judge").pk)
    assert [entry["n"] for entry in found["criteria"]] == [2, 0]
    assert (found["labels"], found["composite"]["bias"], found["evidence"]) == (0, None, "none")


def test_the_composite_has_the_rubrics_weights(project):
    version = a_version(project)
    keys = [entry.key for entry in version.criteria.all()]
    lines = ["item,criterion,rater,score"]
    lines += [f"a,{key},{who},{score}" for who, score in (("Ada", 5), ("j", 5)) for key in keys]
    lines = [line.replace("a,depth,j,5", "a,depth,j,9") for line in lines]
    imported(project, "\n".join(lines) + "\n", rubric="wiggum", judges={"j": "judge"})
    found = compute_trust(JudgeRecord.objects.get(key="judge").pk)
    # Depth has a weight of 0.25.
    assert found["composite"]["bias"]["value"] == pytest.approx(1.0)


def test_a_score_by_a_person_asks_for_the_reports_of_the_judges_it_concerns(project, version, viewer):
    run = scored_run(project, version, 6)
    concerned = judge_ensure(project=project, version=version, model="judge:8b")
    other = judge_ensure(project=project, version=a_version(project), model="judge:8b")
    Report.objects.all().delete()
    given = Reading(dict.fromkeys(CRITERIA, Decimal(5)), {})
    human_score_give(run=run, row=run.rounds.get(), user=viewer, submitted=given, seen_version=0)
    assert list(Report.objects.values_list("kind", "subject")) == [("trust", concerned.pk)]
    assert other.pk != concerned.pk


def test_reports_of_deleted_judges_are_deleted(project, version):
    records = [judge_ensure(project=project, version=version, model=name) for name in "ab"]
    judges_wanted(*records)
    for record in records:
        trust_refresh(record)
    before = Report.objects.count()
    assert reports_clean() == 0
    records[0].delete()
    assert (before, reports_clean(), Report.objects.get().subject) == (3, 2, records[1].pk)


# --- evidence and standing ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("texts", "evidence", "standing"),
    [(29, "not_enough", "not_enough"), (30, "usable", "unclear"), (100, "may_gate", "as_people")],
)
def test_few_labels_give_no_verdict(project, texts, evidence, standing):
    record, _ = two_judges(project, texts)
    found = compute_trust(record.pk)
    assert (found["labels"], found["evidence"], found["composite"]["standing"]) == (texts, evidence, standing)
    assert found["composite"]["worse_than_people"] is (False if standing == "as_people" else None)


def test_a_wild_judge_is_not_usable_or_below_people(project):
    _, wild = two_judges(project, 60)
    found = compute_trust(wild.pk)
    assert {entry["standing"] for entry in found["criteria"]} <= {"below_people", "not_usable"}
    assert found["composite"]["worse_than_people"] is True
    assert found["disagreements"]["count"] > 10
    first = found["disagreements"]["top"][0]
    assert abs(first["judge"] - first["people"]) >= found["disagreements"]["threshold"] == 3
    assert first["item"].startswith("label:")
    assert first["judgements"] == 1
    ringed = {entry["key"]: sum(cell[3] for cell in entry["grid"]) for entry in found["criteria"]}
    assert ringed == found["disagreements"]["by_criterion"]


def test_one_person_alone_gives_no_ceiling(project):
    a_rated_set(project, 40, {"Ada": (0, 0.5), "j": (0, 0.5)}, {"j": "judge"})
    found = compute_trust(JudgeRecord.objects.get(key="judge").pk)
    assert {entry["standing"] for entry in found["criteria"]} == {"unknown"}
    assert (found["composite"]["alpha"], found["composite"]["worse_than_people"]) == (None, None)


def test_a_raw_mean_stands_beside_the_corrected_one(project, version):
    a_rated_set(project, 50, {"Ada": (0, 0.3), "j": (0.8, 0.3)}, {"j": "judge:8b"})
    for score in (6.8, 7.8, 5.8):
        scored_run(project, version, score)
    found = compute_trust(JudgeRecord.objects.get(key="judge:8b").pk)["correction"]
    assert (found["rounds"], found["labels"]) == (3, 50)
    assert found["raw"]["value"] == pytest.approx(6.8)
    assert found["corrected"]["value"] == pytest.approx(6.0, abs=0.15)


def test_the_number_of_queries_does_not_grow(project, django_assert_max_num_queries):
    record, _ = two_judges(project, 10)
    with django_assert_max_num_queries(25) as few:
        compute_trust(record.pk)
    two_judges(project, 300)
    with django_assert_max_num_queries(len(few)):
        compute_trust(record.pk)


def test_two_judges_have_the_same_texts(project):
    kind, wild = two_judges(project, 220)
    found = compute_judges(kind.pk, wild.pk)
    assert (found["items"], found["evidence"], found["composite"]["verdict"]) == (220, "compares", "first")
    back = compute_judges(wild.pk, kind.pk)
    assert back["composite"]["verdict"] == "second"
    assert back["composite"]["difference"]["kappa"]["value"] == pytest.approx(
        -found["composite"]["difference"]["kappa"]["value"]
    )


def test_four_thousand_ratings_on_six_criteria_within_three_seconds(project):
    """A thousand texts by three people and a judge; more are computed in tests/statistics."""
    keys = [f"c{at}" for at in range(6)]
    version = a_rubric(project, *keys, slug="large", least=0, most=10, step=None)
    chance, rows = random.Random(1), ["item,criterion,rater,score"]
    for text in range(1_000):
        for who in ("Ada", "Ben", "Cleo", "j"):
            rows += [f"{text},{key},{who},{quality(text) + chance.uniform(-2, 2):.1f}" for key in keys]
    imported(project, "\n".join(rows) + "\n", rubric="large", judges={"j": "judge"})
    record = JudgeRecord.objects.get(rubric_version=version)
    started = time.process_time()
    found = compute_trust(record.pk)
    assert time.process_time() - started < 3
    assert (found["labels"], len(found["criteria"])) == (1_000, 6)


def test_newsroom_fluency_measures_no_judge(project):
    a_rubric(project, *criteria("newsroom"))
    imported(project, ratings("newsroom"), judges={"crowd-3": "crowd"})
    found = compute_trust(JudgeRecord.objects.get(key="crowd").pk)
    assert {entry["key"]: entry["standing"] for entry in found["criteria"]}["fluency"] == "not_measurable"
