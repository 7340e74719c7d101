"""Creating runs: what is refused, what is stored, and that a run does not change with its rubric."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.judging.demo_limits import JUDGE_CHARS, WRITER_TOKENS
from refinement.models import QueuedMessage, Round, Run
from refinement.providers.registry import Target
from refinement.selectors.runs.history import brief_of, definition_of_run, history_of
from refinement.selectors.runs.reports import run_report
from refinement.services.rubrics.editing import version_create
from refinement.services.runs import creating as runs_module
from refinement.services.runs.creating import run_create, tags_set
from refinement.services.runs.lifecycle import run_rerun
from tests.models.given import a_run, a_version


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"task": ""}, "task", "The task is empty"),
        ({"task": " \n\t"}, "task", "The task is empty"),
        ({"seed": "  \n"}, "seed", "The starting text is empty. Leave it out"),
        ({"task": "x" * 101}, "task", "The task is longer than 100 characters"),
        ({"seed": "x" * 101}, "seed", "The starting text is longer than 100 characters"),
    ],
)
def test_what_cannot_become_a_run_is_refused_before_a_row_is_written(
    project, monkeypatch, changes, field, words
):
    monkeypatch.setattr(runs_module, "MAX_TEXT_CHARS", 100)
    version = a_version(project)
    with pytest.raises(ValidationError) as caught:
        a_run(project, version, **changes)
    assert words in caught.value.message_dict[field][0]
    assert not Run.objects.exists()


def test_a_run_keeps_what_it_needs(project, owner):
    version = a_version(project)
    changed = rubric_with(rubric_for("wiggum"), {"policy.max_rounds": "7"})
    run = a_run(project, version, user=owner, seed="A seed.", definition=changed)
    run.refresh_from_db()
    assert (run.project, run.created_by, run.rubric_version) == (project, owner, version)
    assert brief_of(run).rubric == changed
    assert (run.producer_endpoint, run.producer_model) == ("ollama", "writer:1b")
    assert (run.judge_endpoint, run.judge_model) == ("ollama", "judge:8b")
    seed = run.rounds.get()
    assert (seed.number, seed.origin, seed.candidate, seed.composite) == (1, "seed", "A seed.", None)
    assert len(run.nonce) >= 8
    assert a_run(project, version).nonce != run.nonce


def test_the_demo_model_works_with_lower_limits_than_the_snapshot(project):
    run = a_run(project, a_version(project))
    run.producer_endpoint = run.judge_endpoint = "embedded"
    run.producer_model = run.judge_model = "smollm2-135m"
    policy = brief_of(run).rubric.policy
    assert (policy.producer_tokens, policy.judge_limit_chars) == (WRITER_TOKENS, JUDGE_CHARS)
    assert definition_of_run(run).policy.producer_tokens > WRITER_TOKENS


def test_a_later_version_does_not_change_an_older_run(project):
    version = a_version(project)
    run = a_run(project, version)
    before = brief_of(run)
    stricter = replace(rubric_for("wiggum"), name="Stricter", criteria=rubric_for("wiggum").criteria[:1])
    version_create(rubric=version.rubric, definition=stricter)
    run.refresh_from_db()
    assert brief_of(run) == before
    assert run.rubric_version == version
    assert a_run(project, version.rubric.versions.first()).snapshot["name"] == "Stricter"


@pytest.mark.parametrize(
    ("producer", "judge", "kin"),
    [
        ("qwen3:14b", "qwen3:14b", "same_model"),
        ("qwen3:14b", "qwen3:4b", "same_family"),
        ("qwen3:14b", "gemma3:27b", ""),
    ],
)
def test_kin_is_noted(project, producer, judge, kin):
    run = a_run(project, producer=Target("ollama", producer), judge=Target("ollama", judge))
    assert run.kinship == kin


def test_checks_alone_have_no_judge_to_be_kin_with(project):
    same = Target("ollama", "qwen3:14b")
    assert a_run(project, a_version(project, "ralph"), producer=same, judge=same).kinship == ""


def test_a_calibration_is_copied(project):
    plain = rubric_for("wiggum")
    scores = {criterion.key: Decimal("6.5") for criterion in plain.criteria}
    base = a_version(project)
    seeded = replace(plain, calibration_text="Known.", calibration_scores=scores)
    version = version_create(rubric=base.rubric, definition=seeded)
    run = a_run(project, version)
    calibration = brief_of(run).calibration
    assert (calibration.text, str(calibration.scores["depth"])) == ("Known.", "6.5")
    assert "Known." not in str(run.snapshot)
    assert definition_of_run(run) == seeded
    assert run_rerun(run=run).calibration == run.calibration
    assert brief_of(a_run(project, base)).calibration is None


@pytest.mark.parametrize("odd", ["nul \x00 here", "half \ud83d here", "\x00\ud83d here"])
def test_what_no_column_holds_is_replaced(project, odd):
    run = a_run(project, task=odd, seed=odd)
    run.refresh_from_db()
    for text in (run.task, run.seed, run.rounds.get().candidate):
        text.encode()
        assert "\x00" not in text
        assert text.endswith(" here")


def test_a_queued_run_is_sent_for_and_a_foreground_one_is_not(project):
    version = a_version(project)
    a_run(project, version, status="running")
    assert not QueuedMessage.objects.exists()
    run = a_run(project, version, status="queued")
    assert str(run.pk) in str(QueuedMessage.objects.values().get())


# --- what is read -----------------------------------------------------------------------------
def with_rounds(project, count: int) -> Run:
    run = a_run(project, a_version(project, "ralph"))
    for number in range(1, count + 1):
        text = f"candidate-{number} " * 50
        Round.objects.create(
            run=run, number=number, origin="draft", candidate=text, candidate_chars=len(text),
            judged_at=run.created_at, composite=0, scores={},
        )  # fmt: skip
        for position, check in enumerate(rubric_for("ralph").checks):
            run.rounds.get(number=number).check_results.create(
                position=position, key=check.key, passed=number == 2, severity="error", weight=1
            )
    Run.objects.filter(pk=run.pk).update(rounds_judged=count, best_round=2)
    run.refresh_from_db()
    return run


def test_a_step_reads_the_texts_it_can_need_and_no_other(project):
    run = with_rounds(project, 6)
    rubric = brief_of(run).rubric
    history = history_of(run, rubric)
    assert [entry.number for entry in history.rounds if entry.candidate] == [1, 2, 5, 6]
    assert all(entry.candidate for entry in history_of(run, rubric, whole=True).rounds)


def test_the_number_of_queries_does_not_grow_with_the_rounds(project, other_project):
    counts = []
    for place, rounds in ((project, 2), (other_project, 9)):
        run = with_rounds(place, rounds)
        rubric = brief_of(run).rubric
        with CaptureQueriesContext(
            connection,
        ) as queries:
            history_of(run, rubric)
            run_report(run)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 9


def test_a_report_loads_the_best_candidate_and_no_other(project):
    run = with_rounds(project, 6)
    with CaptureQueriesContext(connection) as queries:
        report = run_report(run)
    assert report["best_candidate"] == "candidate-2 " * 50
    texts = [query["sql"] for query in queries if '"candidate"' in query["sql"]]
    assert len(texts) == 1
    assert "LIMIT 1" in texts[0]


def test_an_empty_definition_is_the_versions_own(project):
    version = a_version(project, "simmer")
    run = run_create(
        project=project,
        version=version,
        task="Explain.",
        producer=Target("ollama", "a"),
        judge=Target("ollama", "b"),
        status="running",
    )
    assert brief_of(run).rubric == rubric_for("simmer")


@pytest.mark.parametrize(
    ("task", "title"),
    [
        ("Explain the backups.\nIn detail.", "Explain the backups"),
        ("And so on...", "And so on..."),
        ("\n\n# A heading\n\nText", "A heading"),
        ("---\n- first\n", "first"),
        ("***", "***"),
        ("word " * 80, "word " * 30 + "word…"),
    ],
)
def test_the_title_is_the_first_line_of_words(project, task, title):
    run = a_run(project, task=task)
    assert run.title == title
    assert len(run.title) <= 160


def test_a_run_names_its_rubric(project):
    version = a_version(project)
    assert a_run(project, version).rubric == version.rubric


def test_tags_are_tidied_and_kept_with_the_run(project):
    run = a_run(project, tags=[" docs ,  release   notes", "docs", ""])
    assert [(tag.name, tag.project) for tag in run.tags.all()] == [
        ("docs", project),
        ("release notes", project),
    ]
    assert tags_set(run=run, names=["docs", "new"]) == ["docs", "new"]
    assert [tag.name for tag in run.tags.all()] == ["docs", "new"]


@pytest.mark.parametrize("tags", [["x" * 51], [f"t{number}" for number in range(21)]])
def test_odd_tags_are_refused_and_nothing_is_written(project, tags):
    version = a_version(project)
    with pytest.raises(ValidationError) as told:
        a_run(project, version, tags=tags)
    assert "tags" in told.value.message_dict
    assert not Run.objects.exists()
