"""Canaries on boards: a token in every field; only the allowed ones reach a prompt."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import PROFILES, context_rules_for, rubric_for
from refinement.engine.reflect import reflect
from refinement.engine.steps import revise
from refinement.engine.types import (
    Assessment,
    BoardVerdict,
    CheckResult,
    ContextRules,
    Criterion,
    CriterionScore,
    CriterionStance,
    EvaluationMode,
    Evaluator,
    EvaluatorOutput,
    History,
    Information,
    JudgeMode,
    Judges,
    Metric,
    MetricValue,
    PanelJudge,
    PanelSummary,
    Round,
    Rubric,
    Stance,
    Verdict,
)
from refinement.judging.boards.context import compose_view, deliberation_view, describe_view, merge_view
from refinement.judging.boards.prompts import (
    compose_prompt,
    deliberation_prompt,
    describe_prompt,
    merge_prompt,
)
from refinement.judging.context import Brief, Calibration, judge_view, producer_view
from refinement.judging.prompts import CLOSING, Prompt, judge_prompt, producer_prompt
from refinement.judging.sources import SourceText

NONCE = "7f3a9c5e1b2d4860"
SEATS = (1, 2, 3)
NOW = 4  # the round that the board judges
METRIC = Metric("canary-metric", pattern="canary-pattern (.*)")

# What is planted, by what it is. Numbers with many digits stand for scores.
CRITERIA = {"canary-name", "canary-description", "canary-ideal"}
TASK = {"canary-task"}
OTHER_TASK = {"canary-type"}
BACKGROUND, CONTRACT = {"canary-background"}, {"canary-contract"}
SEED, SEED_SCORES = {"canary-candidate-1"}, {"1.2718281"}
CALIBRATION = {"canary-example", "6.6180339"}
SOURCES = {"canary-source-name", "canary-source-text"}
EVIDENCE = {"canary-stdout-now", "canary-stderr-now", "exit code 77", "canary-metric 70.71"}
PREVIOUS_ASI = {"canary-asi-3"}
CHANGES = {"canary-change-2", "canary-change-3"}
HISTORY = {"51.37", "52.37", "53.37", "1.2718281", "2.2718281", "3.2718281", *CHANGES}
SPACE = {"- larger engine", "- colder kitchen"}
EXPLORED = {"tried so far:\n- larger engine", "not tried yet:\n- colder kitchen"}
SUMMARY = {"canary-working-3", "canary-failing-3", "canary-direction-3"}
LASTED = {"canary-change-2"}  # of the named changes, the one that a later round kept
ROUND_NUMBER = {"This is round 4"}
CANDIDATE = {"canary-candidate-4", "canary-common"}
BASE = {"canary-candidate-3", "canary-common"}
JUDGES = {f"canary-judge-{seat}" for seat in SEATS}
LENSES = {f"canary-lens-{seat}" for seat in SEATS}
SCORES = {f"{seat}.5772156" for seat in SEATS}
REASONS = {f"canary-reason-{seat}" for seat in SEATS}
ISSUES = {f"canary-issue-of-{seat}" for seat in SEATS}
SUGGESTIONS = {f"canary-asi-of-{seat}" for seat in SEATS}
IMPROVEMENTS = {f"canary-improvement-of-{seat}" for seat in SEATS}
STANCES = {f"canary-stance-{seat}" for seat in SEATS}
CONCEDED = {"3.1234567"}  # the third judge's score after it conceded
TOLD = {"canary-told-asi", "canary-told-issue", "canary-told-failure", "canary-told-instruction"}
SAID = {"canary-issue-3", "canary-failure-3"}  # by judge and checks of the round before
NEVER = {
    "canary-purpose", "canary-program", "canary-pattern", "canary-author", "canary-note",
    "canary-candidate-2", "canary-asi-1", "canary-asi-2", "canary-issue-1", "canary-issue-2",
    "canary-failure-1", "canary-failure-2", "1415926",
    *(f"canary-{part}-{number}" for part in ("stdout", "stderr", "reasoning") for number in (1, 2, 3)),
    *(f"canary-improvement-{number}" for number in (1, 2, 3)),
    *(f"canary-{part}-{number}" for part in ("working", "failing", "direction") for number in (1, 2)),
}  # fmt: skip
PLANTED = frozenset().union(
    CRITERIA, TASK, OTHER_TASK, BACKGROUND, CONTRACT, SEED, SEED_SCORES, CALIBRATION, SOURCES, EVIDENCE,
    PREVIOUS_ASI, HISTORY, SPACE, EXPLORED, SUMMARY, LASTED, ROUND_NUMBER, CANDIDATE, BASE, JUDGES, LENSES,
    SCORES, REASONS, ISSUES, SUGGESTIONS, IMPROVEMENTS, STANCES, CONCEDED, TOLD, SAID, NEVER,
)  # fmt: skip
PANEL = tuple(PanelJudge(f"canary-judge-{seat}", f"canary-lens-{seat}") for seat in SEATS)


def rubric(profile: str, *, evaluator: bool) -> Rubric:
    base = rubric_for(profile)
    return replace(
        base,
        context=context_rules_for(profile, evaluator=evaluator),
        criteria=(Criterion("quality", "canary-name", "canary-description", "canary-ideal"),),
        policy=replace(
            base.policy, max_rounds=9, composite_decimals=2,
            penalties=replace(base.policy.penalties, criterion=None),
        ),
        background="canary-background",
        output_contract="canary-contract",
        search_space="- larger engine\n- colder kitchen",
        purpose="canary-purpose",
        evaluation_mode=EvaluationMode.HYBRID if evaluator else EvaluationMode.JUDGE_ONLY,
        evaluator=Evaluator(("canary-program", "{file}") if evaluator else (), metrics=(METRIC,)),
        judges=Judges(JudgeMode.BOARD, PANEL),
    )  # fmt: skip


def assessment(number: int) -> Assessment:
    score = CriterionScore(
        "quality", Decimal(f"{number}.1415926"), f"canary-reasoning-{number}", f"canary-improvement-{number}"
    )
    verdict = Verdict((score,), (f"canary-issue-{number}",), f"canary-asi-{number} larger engine")
    return Assessment(
        Decimal(f"5{number}.37"),
        {"quality": Decimal(f"{number}.2718281")},
        (verdict,),
        (CheckResult("c", False, f"canary-failure-{number}"),),
        evaluator=EvaluatorOutput(f"canary-stdout-{number}", f"canary-stderr-{number}"),
    )


def judged(number: int) -> Round:
    """A round before the board's. Each ranks above the one before, so that round 2's change has lasted."""
    return Round(
        number,
        text(number),
        assessment(number),
        summary=summary(number),
        key_change=None if number == 1 else f"canary-change-{number}",
    )


def text(number: int) -> str:
    return f"canary-common\n\n\ncanary-candidate-{number}"


def summary(number: int) -> PanelSummary:
    return PanelSummary(
        (f"canary-working-{number}",), (f"canary-failing-{number}",), f"canary-direction-{number}"
    )


def answer(seat: int) -> BoardVerdict:
    score = CriterionScore(
        "quality", Decimal(f"{seat}.5772156"), f"canary-reason-{seat}", f"canary-improvement-of-{seat}"
    )
    verdict = Verdict((score,), (f"canary-issue-of-{seat}",), f"canary-asi-of-{seat}")
    concedes = seat == SEATS[-1]
    stance = CriterionStance(
        "quality",
        Stance.CONCEDE if concedes else Stance.CHALLENGE,
        Decimal("3.1234567") if concedes else score.score,
        f"canary-stance-{seat}",
    )
    return BoardVerdict(seat, verdict, stances=(stance,))


BOARD = tuple(answer(seat) for seat in SEATS)
FEEDBACK = {
    "asi": "canary-told-asi",
    "issues": ["canary-told-issue"],
    "failure_texts": ["canary-told-failure"],
    "instructions": [{"id": 1, "author": "canary-author", "text": "canary-told-instruction"}],
    "note": "canary-note",
}


def past() -> History:
    """Three judged rounds, and a fourth that the board is judging."""
    now = Round(NOW, text(NOW), base_round=3, board=BOARD)
    return History((*(judged(number) for number in (1, 2, 3)), now), panel=PANEL)


def brief_of(given: Rubric) -> Brief:
    return Brief(
        "canary-task",
        given,
        NONCE,
        calibration=Calibration("canary-example", {"quality": Decimal("6.6180339")}),
        sources=(SourceText("canary-source-name", "canary-source-text"),),
        task_type="canary-type",
    )


def output() -> EvaluatorOutput:
    metrics = {METRIC.name: MetricValue((Decimal("70.71"),))}
    return EvaluatorOutput("canary-stdout-now", "canary-stderr-now", 77, metrics=metrics)


def first_prompt(brief: Brief, lens: PanelJudge | None) -> Prompt:
    evaluator = output() if brief.rubric.runs_a_command else None
    return judge_prompt(judge_view(brief, past(), NOW, evaluator, lens=lens))


def single_judge(brief: Brief) -> Prompt:
    return first_prompt(brief, None)


def board_judge(brief: Brief) -> Prompt:
    return first_prompt(brief, PANEL[0])


def deliberation(brief: Brief) -> Prompt:
    return deliberation_prompt(board_judge(brief), deliberation_view(brief, PANEL, BOARD, 1), brief.rubric)


def merge(brief: Brief) -> Prompt:
    return merge_prompt(merge_view(brief, PANEL, BOARD, past()))


def describe(brief: Brief) -> Prompt:
    before, after = past().rounds[-2].candidate, past().rounds[-1].candidate
    return describe_prompt(describe_view(brief, before, after, FEEDBACK))


def compose(brief: Brief) -> Prompt:
    return compose_prompt(compose_view(brief, past(), 3))


def revision(brief: Brief) -> Prompt:
    """After round 3, which is the last judged one."""
    history = replace(past(), rounds=past().rounds[:-1])
    step = revise(brief.rubric, history, history.rounds[-1], assessment(3))
    return producer_prompt(producer_view(brief, history, step))


def judge_sees(profile: str, evaluator: bool) -> set[str]:
    """What a judge of round 4 sees, alone or on a board."""
    seen = CRITERIA | TASK | OTHER_TASK | CONTRACT | CALIBRATION | SOURCES | ROUND_NUMBER | CANDIDATE
    if profile == "simmer":
        seen |= SEED | SEED_SCORES
    if evaluator:
        seen |= EVIDENCE | PREVIOUS_ASI | HISTORY | SPACE | EXPLORED | SUMMARY | LASTED
    return seen


def board_judge_sees(profile: str, evaluator: bool) -> set[str]:
    return judge_sees(profile, evaluator) | {"canary-judge-1", "canary-lens-1"}


def deliberation_sees(profile: str, evaluator: bool) -> set[str]:
    """Besides what it saw: its own and the others' first scores and reasoning, and the others' names."""
    return board_judge_sees(profile, evaluator) | JUDGES | SCORES | REASONS


def merge_sees(profile: str, evaluator: bool) -> set[str]:
    """Everything the board said, and its last summary. No candidate, task, seed, evidence or history."""
    said = JUDGES | SCORES | REASONS | ISSUES | SUGGESTIONS | STANCES | CONCEDED
    return said | SUMMARY | {"canary-name"}


def describe_sees(profile: str, evaluator: bool) -> set[str]:
    """The lines that differ and what led to them. No score, verdict or line that stayed."""
    return TOLD | {"canary-candidate-3", "canary-candidate-4"}


def compose_sees(profile: str, evaluator: bool) -> set[str]:
    return TASK | {"canary-name", "canary-description"} | CANDIDATE


def revision_sees(profile: str, evaluator: bool) -> set[str]:
    """No score and no evidence. Ralph starts from the task again, and Simmer gets one direction."""
    seen = TASK | CRITERIA | BACKGROUND | CONTRACT | SOURCES | SPACE | EXPLORED | SUMMARY | LASTED
    if profile == "ralph":
        return seen | SAID
    return seen | BASE | (SAID if profile == "wiggum" else {"canary-asi-3", "canary-failure-3"})


PROMPTS = [
    (single_judge, judge_sees),
    (board_judge, board_judge_sees),
    (deliberation, deliberation_sees),
    (merge, merge_sees),
    (describe, describe_sees),
    (compose, compose_sees),
    (revision, revision_sees),
]


def whole(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


@pytest.mark.parametrize("evaluator", [False, True], ids=["no evaluator", "evaluator"])
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("build", "sees"), PROMPTS, ids=[build.__name__ for build, _ in PROMPTS])
def test_exactly_what_may_be_seen_arrives(build, sees, profile, evaluator):
    found = whole(build(brief_of(rubric(profile, evaluator=evaluator))))
    assert {token for token in PLANTED if token in found} == sees(profile, evaluator)


@pytest.mark.parametrize(
    ("build", "hidden"),
    [
        (single_judge, PREVIOUS_ASI | HISTORY - SEED_SCORES | SPACE | EXPLORED | SUMMARY | EVIDENCE),
        (board_judge, PREVIOUS_ASI | HISTORY - SEED_SCORES | SPACE | EXPLORED | SUMMARY | EVIDENCE),
        (board_judge, SCORES | REASONS | ISSUES | SUGGESTIONS | STANCES),
        (deliberation, ISSUES | SUGGESTIONS | IMPROVEMENTS | STANCES | CONCEDED | {"canary-lens-2"}),
        (merge, CANDIDATE | BASE | SEED | TASK | EVIDENCE | HISTORY | PREVIOUS_ASI | SOURCES | CALIBRATION),
        (describe, SCORES | REASONS | HISTORY | SUMMARY | SEED | TASK | CRITERIA | {"canary-common"}),
        (compose, SCORES | REASONS | SUGGESTIONS | HISTORY | SUMMARY | SEED | BASE - CANDIDATE | EVIDENCE),
        (revision, SCORES | HISTORY - LASTED | EVIDENCE | CALIBRATION | SEED | SEED_SCORES | STANCES),
    ],
)
def test_the_table_above_hides_what_the_rules_hide(build, hidden):
    """Section 5 in other words, so that a mistake in the table is noticed."""
    sees = dict(PROMPTS)[build]
    assert not hidden & sees("simmer", False)


@pytest.mark.parametrize("seat", SEATS)
def test_every_judge_deliberates_over_the_others_alone(seat):
    brief = brief_of(rubric("simmer", evaluator=True))
    first = first_prompt(brief, PANEL[seat - 1])
    prompt = deliberation_prompt(first, deliberation_view(brief, PANEL, BOARD, seat), brief.rubric)
    assert prompt.messages[:2] == first.messages
    own, others = (message.content for message in prompt.messages[2:])
    for other in SEATS:
        assert (f"canary-reason-{other}" in own) is (other == seat)
        assert (f"canary-reason-{other}" in others) is (other != seat)
        assert (f"canary-judge-{other}" in others) is (other != seat)
    assert not {token for token in ISSUES | SUGGESTIONS | IMPROVEMENTS if token in own + others}


def test_a_judge_that_could_not_be_read_is_in_no_prompt():
    brief = brief_of(rubric("simmer", evaluator=False))
    board = (BOARD[0], BoardVerdict(2, None, "canary-problem"), BOARD[2])
    deliberating = deliberation_view(brief, PANEL, board, 1)
    texts = (
        whole(deliberation_prompt(first_prompt(brief, PANEL[0]), deliberating, brief.rubric)),
        whole(merge_prompt(merge_view(brief, PANEL, board, past()))),
    )
    for found in texts:
        assert "canary-judge-3" in found
        assert "canary-judge-2" not in found
        assert "canary-problem" not in found


@pytest.mark.parametrize("rules", [frozenset(), frozenset(Information)], ids=["nothing", "everything"])
@pytest.mark.parametrize("seat", SEATS)
def test_a_lens_adds_nothing_but_itself(rules, seat):
    given = replace(rubric("simmer", evaluator=True), context=ContextRules(rules, rules))
    alone, on_board = (first_prompt(brief_of(given), lens).messages for lens in (None, PANEL[seat - 1]))
    assert on_board[0] == alone[0]
    added = on_board[1].content.removesuffix(CLOSING).removeprefix(alone[1].content.removesuffix(CLOSING))
    assert f"canary-judge-{seat}" in added
    assert {token for token in PLANTED if token in added} == {f"canary-judge-{seat}", f"canary-lens-{seat}"}


def test_the_first_board_has_no_summary_to_merge_with():
    brief = brief_of(rubric("simmer", evaluator=False))
    first = History((Round(1, text(1), board=BOARD, summary=summary(1)),), panel=PANEL)
    assert "SUMMARY" not in whole(merge_prompt(merge_view(brief, PANEL, BOARD, first)))


def test_reflect_needs_no_text_of_any_round():
    given, history = rubric("simmer", evaluator=True), past()
    found = reflect(given, history)
    blank = tuple(replace(entry, candidate="", summary=None, board=()) for entry in history.rounds)
    assert reflect(given, replace(history, rounds=blank)) == found
    assert found.wins == ((2, "canary-change-2"),)
    allowed = CHANGES | {"larger engine", "colder kitchen"}
    assert {token for token in PLANTED if token in repr(found)} - allowed == set()


def test_a_change_that_the_clerk_could_not_name_is_not_replaced_by_a_suggestion():
    given, history = rubric("simmer", evaluator=False), past()
    unnamed = tuple(replace(entry, key_change="") for entry in history.rounds[:-1])
    step = revise(given, replace(history, rounds=unnamed), unnamed[-1], assessment(3))
    found = whole(producer_prompt(producer_view(brief_of(given), History(unnamed), step)))
    assert "canary-asi-3" in found
    assert not {token for token in ("canary-asi-1", "canary-asi-2", *CHANGES) if token in found}
