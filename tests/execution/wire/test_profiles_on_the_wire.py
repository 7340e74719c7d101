"""Each profile reaches each of its stop reasons, with the right prompts and rows."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.engine.types import Check, Criterion, Penalties, Rubric, Severity
from refinement.judging.delimiters import fence
from refinement.judging.schema import reply_limit_tokens, reply_schema
from refinement.models import CheckResult, Run, Verdict
from refinement.providers.registry import Target
from tests.execution.wire.stage import Stage, calls, composites, draft, drafts, figures, roles, texts, verdict
from tests.loopback.faults import Fault
from tests.loopback.server import Entry

WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet")


def changed(profile: str, **settings: str) -> Rubric:
    return rubric_with(rubric_for(profile), {f"policy.{name}": value for name, value in settings.items()})


def word_rubric(**settings: str) -> Rubric:
    """Ten checks for ten words: a text with seven of them has the composite 0.7."""
    checks = tuple(
        Check(word, "contains", {"text": word}, Severity.WARNING, suggestion=f"Bring in {word}.")
        for word in WORDS
    )
    return replace(changed("ralph", **settings), checks=checks)


def with_words(share: float) -> str:
    return "A text with " + " ".join(WORDS[: round(share * 10)]) + "."


def assert_wire(stage: Stage, run: Run, rubric: Rubric) -> None:
    """What must hold of every request of a run, and that the rows say what went over the wire."""
    chats = stage.server.chats
    assert len(chats) == len(calls(run)) == run.calls_made
    for entry, call in zip(chats, calls(run), strict=True):
        assert call.role == entry.role
        assert call.messages == entry.body["messages"]
        assert roles(entry)[:2] == ["system", "user"]
        assert entry.body["stream"] is True
    for entry in stage.asked("judge"):
        assert_judge_request(entry, run, rubric)
    for entry in stage.asked("producer"):
        options = entry.body["options"]
        assert entry.body["model"] == run.producer_model
        assert options["temperature"] == 0.7
        assert options["num_predict"] == rubric.policy.producer_tokens
        assert options["num_ctx"] == run.producer_context
        assert not entry.body.get("format")
    assert len({texts(entry)[0] for entry in stage.asked("judge")}) <= 1


def assert_judge_request(entry: Entry, run: Run, rubric: Rubric) -> None:
    options = entry.body["options"]
    assert entry.body["model"] == run.judge_model
    assert options["temperature"] == 0
    assert options["num_predict"] == reply_limit_tokens(rubric)
    assert options["num_ctx"] == run.judge_context
    assert entry.body["format"] == reply_schema(rubric)
    assert run.judge_context in {2048 * 2**step for step in range(8)} | {40_960}
    system = texts(entry)[0]
    assert all(criterion.description in system for criterion in rubric.criteria)


def candidate_seen(entry: Entry, run: Run) -> str:
    """What stood between the judge's candidate marks."""
    marks = fence(run.nonce, "CANDIDATE")
    user = texts(entry)[1]
    return user[user.index(marks.opening) + len(marks.opening) : user.index(marks.closing)].strip()


# --- wiggum -----------------------------------------------------------------------------------
WIGGUM = [
    ((8.3, 8.7, 9.1), "PASS", "passed", 3, "Stopped after round 3: 9.10 reaches the pass mark of 9.0."),
    (
        (7.0, 8.7, 8.3),
        "FAIL",
        "max_rounds",
        2,
        "Stopped after round 3: reached the 3-round limit, below the pass mark of 9.0. "
        "Round 2 is the result.",
    ),
    (
        (6.5, 6.5),
        "FAIL",
        "cycling",
        1,
        "Stopped after round 2: all scores are the same as in round 1. Round 1 is the result.",
    ),
    ((9.0,), "PASS", "passed", 1, "Stopped after round 1: 9.00 reaches the pass mark of 9.0."),
    (
        (0, 1, 0),
        "FAIL",
        "max_rounds",
        2,
        "Stopped after round 3: reached the 3-round limit, below the pass mark of 9.0. "
        "Round 2 is the result.",
    ),
]


@pytest.mark.parametrize(
    ("scores", "outcome", "reason", "best", "why"), WIGGUM, ids=[f"{row[2]}-{row[0][0]}" for row in WIGGUM]
)
def test_wiggum(stage, scores, outcome, reason, best, why):
    rubric = rubric_for("wiggum")
    said = [verdict(rubric, score, issues=[f"issue {n}"]) for n, score in enumerate(scores, 1)]
    stage.says(judge=said, producer=drafts(len(scores)))
    run = stage.play(rubric)

    assert (run.status, run.outcome, run.stop_reason, run.why) == ("finished", outcome, reason, why)
    assert composites(run) == list(scores)
    assert figures(run) == (scores[0], max(scores), scores[-1], pytest.approx(scores[-1] - scores[0]))
    assert (run.best_round, run.rounds_judged) == (best, len(scores))
    assert_wire(stage, run, rubric)
    seen = [candidate_seen(entry, run) for entry in stage.asked("judge")]
    assert seen == drafts(len(scores))
    for number, entry in enumerate(stage.asked("producer")[1:], start=1):
        assert draft(number) in texts(entry)[1]
        assert f"- issue {number}" in texts(entry)[1]
    origins = list(run.rounds.order_by("number").values_list("origin", "base_round"))
    assert origins == [("draft", None), ("revision", 1), ("revision", 2)][: len(scores)]


def test_a_seed_is_round_one_and_costs_no_call(stage):
    rubric = rubric_for("wiggum")
    stage.says(judge=[verdict(rubric, 9.5)])
    run = stage.play(rubric, seed="# The seed as it was given.")
    assert (run.outcome, run.calls_made) == ("PASS", 1)
    first = run.rounds.get()
    assert (first.origin, first.candidate, first.judge_attempts) == ("seed", "# The seed as it was given.", 1)
    assert candidate_seen(stage.asked("judge")[0], run) == "# The seed as it was given."
    assert_wire(stage, run, rubric)


def test_a_verdict_is_kept_with_every_word_and_the_tokens_add_up(stage):
    rubric = rubric_for("wiggum")
    scores = [9.25, 9.5, 9, 10, 9, 9.75]
    stage.says(judge=[verdict(rubric, scores, issues=["one", "two"], asi="Do this.")], producer=drafts(1))
    run = stage.play(rubric)
    row = Verdict.objects.get(round__run=run)
    assert [(entry["key"], Decimal(entry["score"])) for entry in row.scores] == [
        (criterion.key, Decimal(str(score))) for criterion, score in zip(rubric.criteria, scores, strict=True)
    ]
    assert {entry["reasoning"] for entry in row.scores} == {"It names the steps."}
    assert (row.issues, row.asi, row.judge) == (["one", "two"], "Do this.", "loopback:8b")
    judged = run.rounds.get()
    assert judged.composite == Decimal("9.3875")
    assert (judged.parse_rung, judged.judge_attempts) == ("strict", 1)
    made = calls(run)
    assert run.tokens == sum(call.prompt_tokens + call.completion_tokens for call in made) > 0
    assert run.model_seconds == sum(call.seconds for call in made)
    assert all(call.finish_reason == "stop" and call.attempt == 1 for call in made)
    assert [call.options["schema_used"] for call in made] == [False, True]


def test_a_penalty_is_docked_and_named(stage):
    rubric = rubric_for("wiggum")
    text = "# Chains\n\n```python\nclient.generate_contextual_embedding_chain()\n```\n"
    stage.says(judge=[verdict(rubric, 9.2)], producer=[text])
    run = stage.play(replace(rubric, policy=replace(rubric.policy, max_rounds=1)))
    row = run.rounds.get()
    assert row.penalties[0]["criterion"] == "depth"
    assert "generate_contextual_embedding_chain" in row.penalties[0]["names"][0]
    assert row.scores["depth"] == "8.2"
    assert float(row.composite) == 8.95
    assert (run.outcome, run.stop_reason) == ("FAIL", "max_rounds")


def test_one_model_in_both_roles_has_one_window_and_a_warning(stage):
    rubric = rubric_for("wiggum")
    stage.says(judge=[verdict(rubric, 9.5)], producer=drafts(1))
    both = Target("ollama", "loopback:1b")
    run = stage.play(rubric, producer=both, judge=both)
    assert len({entry.body["options"]["num_ctx"] for entry in stage.server.chats}) == 1
    assert run.kinship == "same_model"
    assert (run.judge_family, run.producer_family) == ("loopback", "loopback")


def test_a_long_candidate_is_judged_in_part_and_the_round_says_so(stage):
    rubric = rubric_for("wiggum")
    long = "# Words\n\n" + "word " * 3_000
    stage.says(judge=[verdict(rubric, 9.5)], producer=[long])
    run = stage.play(rubric)
    row = run.rounds.get()
    assert row.candidate_chars == len(long.strip())
    assert row.seen_chars <= rubric.policy.judge_limit_chars
    assert (
        f"you see {row.seen_chars:,} of its {row.candidate_chars:,} characters"
        in texts(stage.asked("judge")[0])[1]
    )


def test_a_candidate_cut_by_its_limit_is_said_to_be_cut(stage):
    rubric = changed("wiggum", producer_tokens="100")
    stage.says(judge=[verdict(rubric, 9.5)], producer=["# " + "x" * 1_000])
    row = stage.play(rubric).rounds.get()
    assert row.candidate_cut
    assert row.candidate_chars == 400


# --- ralph ------------------------------------------------------------------------------------
RALPH = [
    ((0.3, 1.0), {}, "PASS", "perfect_score", 2, "1.00 is a perfect score"),
    ((0.4, 0.7, 0.9), {}, "PASS", "quality_threshold_met", 3, "0.90 reaches the pass mark of 0.8"),
    ((0.5, 0.7, 0.6), {}, "FAIL", "score_regression", 2, "the score fell from 0.70 to 0.60"),
    ((0.5, 0.5), {}, "FAIL", "no_improvement", 1, "the gain of 0.00 is below the minimum of 0.05"),
    (
        (0.2, 0.4, 0.6),
        {},
        "FAIL",
        "max_iterations_reached",
        3,
        "reached the 3-round limit, below the pass mark of 0.8",
    ),
    (
        (0.7, 0.8, 0.7),
        {"pass_threshold": "0.9"},
        "FAIL",
        "score_regression",
        2,
        "the score fell from 0.80 to 0.70",
    ),
]


@pytest.mark.parametrize(
    ("shares", "settings", "outcome", "reason", "best", "why"),
    RALPH,
    ids=[f"{row[3]}-{row[0][0]}" for row in RALPH],
)
def test_ralph(stage, shares, settings, outcome, reason, best, why):
    rubric = word_rubric(**settings)
    stage.says(producer=[with_words(share) for share in shares])
    run = stage.play(rubric)

    assert (run.status, run.outcome, run.stop_reason, run.best_round) == ("finished", outcome, reason, best)
    assert why in run.why
    assert composites(run) == list(shares)
    assert figures(run) == (shares[0], max(shares), shares[-1], pytest.approx(shares[-1] - shares[0]))
    assert stage.asked("judge") == []
    assert_wire(stage, run, rubric)
    assert not Verdict.objects.filter(round__run=run).exists()
    for number, share in enumerate(shares, start=1):
        rows = CheckResult.objects.filter(round__run=run, round__number=number)
        assert [row.passed for row in rows] == [index < round(share * 10) for index in range(10)]


def test_ralph_starts_from_the_original_prompt_with_what_failed(stage):
    rubric = word_rubric()
    stage.says(producer=[with_words(0.4), with_words(0.6), with_words(0.9)])
    run = stage.play(rubric)
    first, second, third = (texts(entry)[1] for entry in stage.asked("producer"))
    assert second.startswith(first.rstrip())
    assert third.startswith(first.rstrip())
    assert with_words(0.4) not in second
    missing = [word for word in WORDS if f"Bring in {word}." in second]
    assert missing == list(WORDS[4:])
    assert [word for word in WORDS if f"Bring in {word}." in third] == list(WORDS[6:])
    stored = run.rounds.get(number=2)
    assert stored.base_round is None
    assert stored.feedback["failures"] == list(WORDS[4:])


def test_ralph_weighs_checks_and_criteria_together(stage):
    rubric = replace(word_rubric(), criteria=(Criterion("tone", "Tone", "Calm or not.", weight=Decimal(10)),))
    stage.says(producer=[with_words(0.6)], judge=[verdict(rubric, 0.85)])
    run = stage.play(replace(rubric, policy=replace(rubric.policy, max_rounds=1)))
    assert composites(run) == [0.725]
    assert_wire(stage, run, rubric)


# --- checks and invented names, under every profile ---------------------------------------------
MUST_HAVE = Check("mentions-cost", "contains", {"text": "cost"}, Severity.ERROR, suggestion="Name the cost.")


@pytest.mark.parametrize(("profile", "outcome"), [("wiggum", "FAIL"), ("ralph", "FAIL"), ("simmer", "DONE")])
def test_a_failed_check_is_told_and_keeps_a_run_from_passing(stage, profile, outcome):
    tone = (Criterion("tone", "Tone", "Calm or not.", weight=Decimal(10)),)
    base = changed(profile, max_rounds="2", **{"penalties.criterion": "none"})
    rubric = replace(base, criteria=tone, checks=(MUST_HAVE,))
    high = rubric.scale.maximum - Decimal("0.1") * (rubric.scale.step is None)
    stage.says(judge=[verdict(rubric, float(high))] * 2, producer=drafts(2))
    run = stage.play(rubric, seed="A seed.")
    assert (run.outcome, run.rounds_judged) == (outcome, 2)
    assert "Suggestion: Name the cost." in texts(stage.asked("producer")[0])[1]
    assert ("but the check “mentions-cost” failed" in run.why) == (outcome == "FAIL")


@pytest.mark.parametrize("profile", ["wiggum", "ralph", "simmer"])
def test_invented_names_are_told_to_the_producer(stage, profile):
    tone = (Criterion("tone", "Tone", "Calm or not."),)
    base = rubric_for(profile)
    docked = Penalties("tone", allowed_objects=base.policy.penalties.allowed_objects)
    rubric = replace(base, criteria=tone, policy=replace(base.policy, max_rounds=2, penalties=docked))
    stage.says(judge=[verdict(rubric, 1)] * 2, producer=drafts(2))
    stage.play(rubric, seed="Call `client.generate_contextual_embedding_chain()` at the end.")
    told = texts(stage.asked("producer")[0])[1]
    assert "These calls look invented: `client.generate_contextual_embedding_chain()`." in told


# --- simmer -----------------------------------------------------------------------------------
def test_simmer_goes_on_to_its_last_iteration_and_is_done(stage):
    rubric = rubric_for("simmer")
    stage.says(judge=[verdict(rubric, score) for score in (4, 5, 6, 7)], producer=drafts(3))
    run = stage.play(rubric, seed="A seed.")
    assert (run.outcome, run.stop_reason) == ("DONE", "max_rounds")
    assert run.why == "Stopped after round 4: reached the 4-round limit."
    assert composites(run) == [4, 5, 6, 7]
    assert figures(run) == (4, 7, 7, 3)
    assert (run.best_round, run.calls_made) == (4, 7)
    assert_wire(stage, run, rubric)
    assert all("Explain the restore." in texts(entry)[1] for entry in stage.asked("producer"))


def test_simmer_stops_on_a_plateau_and_returns_to_the_best(stage):
    """Where the rubric says so; otherwise a board takes over (tests/execution/boards/test_plateau.py)."""
    rubric = changed("simmer", on_plateau="stop")
    said = [verdict(rubric, score, asi=f"direction {n}") for n, score in enumerate((7, 5, 6, 7), 1)]
    stage.says(judge=said, producer=drafts(3))
    run = stage.play(rubric, seed="The seed is the best of them.")
    assert (run.outcome, run.stop_reason, run.best_round) == ("DONE", "plateau", 1)
    assert run.why == (
        "Stopped after round 4: none of the last 3 rounds is better than round 1. Round 1 is the result."
    )
    bases = list(run.rounds.order_by("number").values_list("base_round", flat=True))
    assert bases == [None, 1, 1, 1]
    again = texts(stage.asked("producer")[1])[1]
    assert "The seed is the best of them." in again
    assert draft(1) not in again
    assert "direction 2" in again
    assert "Round 2 was worse than round 1" in again


def test_simmers_best_round_goes_by_the_primary_criterion(stage):
    rubric = rubric_for("simmer")
    vectors = ([9, 9, 5], [4, 4, 6], [6, 6, 6], [9, 9, 5])
    stage.says(judge=[verdict(rubric, vector) for vector in vectors], producer=drafts(3))
    run = stage.play(rubric, seed="A seed.")
    assert rubric.criteria[2].primary
    assert run.best_round == 3


def test_simmer_sees_no_plateau_while_its_primary_criterion_rises(stage):
    rubric = rubric_for("simmer")
    vectors = ([8, 8, 4], [7, 6, 5], [5, 6, 6], [4, 4, 7])
    stage.says(judge=[verdict(rubric, vector) for vector in vectors], producer=drafts(3))
    run = stage.play(rubric, seed="A seed.")
    assert (run.outcome, run.stop_reason, run.best_round) == ("DONE", "max_rounds", 4)
    assert list(run.rounds.order_by("number").values_list("base_round", flat=True)) == [None, 1, 2, 3]


# --- budgets and failures -----------------------------------------------------------------------
BUDGETS = [
    ("budget.calls", "2", "budget_calls", 1, "the budget of 2 calls is used up"),
    ("budget.calls", "1", "budget_calls", 0, "the budget of 1 call is used up"),
    ("budget.tokens", "1", "budget_tokens", 0, "the budget of 1 token is used up"),
    ("budget.seconds", "0.01", "budget_seconds", 0, "the budget of 0.01 seconds is used up"),
]


@pytest.mark.parametrize(("path", "limit", "reason", "judged", "why"), BUDGETS)
@pytest.mark.parametrize("profile", ["wiggum", "simmer"])
def test_a_budget_ends_a_run(stage, profile, path, limit, reason, judged, why):
    stage.server.latency = 0.02
    rubric = changed(profile, **{path: limit})
    stage.says(judge=[verdict(rubric, 5)], producer=drafts(2))
    run = stage.play(rubric)
    assert (run.status, run.stop_reason, run.rounds_judged) == ("finished", reason, judged)
    assert why in run.why
    assert run.calls_made == 1 + judged
    assert run.outcome == ("DONE" if judged and profile == "simmer" else "FAIL")


def test_checks_alone_go_on_when_the_budget_is_spent(stage):
    rubric = word_rubric(**{"budget.calls": "1"})
    stage.says(producer=[with_words(0.5)])
    run = stage.play(rubric)
    assert (run.stop_reason, composites(run)) == ("budget_calls", [0.5])


def test_a_judge_that_cannot_be_read_is_asked_again_and_then_given_up(stage):
    rubric = rubric_for("wiggum")
    stage.says(judge=["I like it.", "Ten out of ten!", "Really."], producer=drafts(1))
    run = stage.play(rubric)
    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert run.why == "The judge did not return valid scores (3 tries)."
    assert composites(run) == [None]
    assert figures(run) == (None, None, None, None)
    first, second, third = stage.asked("judge")
    assert [roles(entry) for entry in (first, second, third)] == [
        ["system", "user"],
        ["system", "user", "assistant", "user"],
        ["system", "user", "assistant", "user", "assistant", "user"],
    ]
    assert second.body["messages"][:2] == first.body["messages"]
    assert third.body["messages"][:4] == second.body["messages"]
    assert texts(second)[2] == "I like it."
    assert_wire(stage, run, rubric)
    rows = run.calls.filter(role="judge").order_by("attempt")
    assert [row.attempt for row in rows] == [1, 2, 3]
    assert all(row.complaint and not row.error_kind for row in rows)
    assert texts(second)[3].startswith(f"Your reply could not be used. {rows[0].complaint}")


def test_a_judge_that_comes_to_its_senses_counts_its_attempts(stage):
    rubric = rubric_for("simmer")
    half = verdict(rubric, 7).replace('"score": 7', '"score": 7.5', 1)
    stage.says(judge=[half, verdict(rubric, 7)], producer=drafts(1))
    run = stage.play(replace(rubric, policy=replace(rubric.policy, max_rounds=1)))
    row = run.rounds.get()
    assert (run.outcome, composites(run)) == ("DONE", [7])
    assert (row.judge_attempts, row.parse_rung) == (2, "strict")
    assert "7.5" in run.calls.get(role="judge", attempt=1).complaint


def test_a_producer_that_is_refused_ends_the_run_with_the_best_so_far(stage):
    rubric = rubric_for("wiggum")
    stage.server.faults = [Fault("status", nth=(2,), role="producer", status=401)]
    stage.says(judge=[verdict(rubric, 6)], producer=drafts(2))
    run = stage.play(rubric)
    assert (run.outcome, run.stop_reason, run.best_round) == ("ERROR", "producer_failed", 1)
    assert run.why.startswith("The writer failed: Ollama at http://127.0.0.1")
    assert composites(run) == [6]
