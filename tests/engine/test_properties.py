"""Properties of every run, for any judge."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from refinement.engine.profiles import shipped_rubrics
from refinement.engine.scoring import assess, rank
from refinement.engine.steps import next_step
from refinement.engine.stopping import round_limit
from refinement.engine.types import (
    AskPlateau,
    BoardVerdict,
    Budget,
    CheckResult,
    Compose,
    CriterionScore,
    Deliberate,
    Describe,
    Draft,
    Escalate,
    Finish,
    History,
    Judge,
    JudgeMode,
    Judges,
    Merge,
    NextBase,
    OnPlateau,
    PanelJudge,
    Revise,
    Round,
    Rubric,
    Score,
    Step,
    StopReason,
    Usage,
    Verdict,
)

STOP_RULES = st.permutations(
    [
        StopReason.PASSED,
        StopReason.MAX_ROUNDS,
        StopReason.CYCLING,
        StopReason.SCORE_REGRESSION,
        StopReason.PLATEAU,
    ]
)


@st.composite
def rubrics(draw) -> Rubric:
    of = draw(st.sampled_from(list(shipped_rubrics().values())))
    policy = replace(of.policy, max_rounds=draw(st.integers(1, 9)))
    if draw(st.booleans()):
        rules = draw(STOP_RULES)
        policy = replace(
            policy,
            stop_rules=tuple(rules[: draw(st.integers(0, 5))]),
            next_base=draw(st.sampled_from(list(NextBase))),
        )
    if draw(st.booleans()):
        policy = replace(policy, budget=Budget(calls=draw(st.integers(1, 12))))
    policy = replace(policy, on_plateau=draw(st.sampled_from(list(OnPlateau))))
    judges = Judges(
        draw(st.sampled_from([JudgeMode.SINGLE, JudgeMode.BOARD])), deliberation=draw(st.booleans())
    )
    return replace(of, policy=policy, judges=judges)


@st.composite
def judgements(draw, of: Rubric, count: int):
    """One assessment for each round the run could have."""
    step = of.scale.step or Decimal("0.1")
    places = int((of.scale.maximum - of.scale.minimum) / step)
    score = st.integers(0, places).map(lambda index: of.scale.minimum + index * step)
    found = []
    for _ in range(count):
        verdict = None
        if of.criteria:
            verdict = Verdict(
                tuple(CriterionScore(criterion.key, draw(score)) for criterion in of.criteria),
                issues=tuple(draw(st.lists(st.text(max_size=8), max_size=2))),
                asi=draw(st.text(max_size=8)),
            )
        results = tuple(
            CheckResult(check.key, draw(st.booleans()), weight=check.weight) for check in of.checks
        )
        found.append(assess(of, verdict, results))
    return found


@st.composite
def runs(draw):
    of = draw(rubrics())
    return of, draw(judgements(of, of.policy.max_rounds + 2)), draw(st.booleans())


PANEL = (PanelJudge("Ada", "x"), PanelJudge("Ben", "y"))


def advance(of: Rubric, seen: History, assessments) -> History:
    """Carries out one step the way a run does; a call costs one of the budget."""
    step = next_step(of, seen)
    if isinstance(step, Escalate):
        return replace(seen, escalated_after=step.round)
    if isinstance(step, AskPlateau):
        return replace(seen, plateau_accepted=True)
    usage = replace(seen.usage, calls=seen.usage.calls + 1)
    if isinstance(step, (Draft, Revise)):
        entry = Round(step.round, f"candidate {step.round}")
        return replace(seen, rounds=(*seen.rounds, entry), usage=usage)
    if isinstance(step, Compose):
        return replace(seen, panel=PANEL, usage=usage)
    last = after_judging(step, seen.rounds[-1], assessments)
    return replace(seen, rounds=(*seen.rounds[:-1], last), usage=usage)


def after_judging(step: Step, last: Round, assessments) -> Round:
    """One answer at a time, as they would arrive one by one."""
    if isinstance(step, Score):
        return replace(last, board=(*last.board, BoardVerdict(step.seats[0], Verdict(()))))
    if isinstance(step, Deliberate):
        return replace(
            last,
            board=tuple(
                replace(answer, stances=()) if answer.seat == step.seats[0] else answer
                for answer in last.board
            ),
        )
    if isinstance(step, Describe):
        return replace(last, key_change="a change")
    assert isinstance(step, (Judge, Merge))
    return replace(last, assessment=assessments[step.round - 1])


def play(of: Rubric, assessments, seeded: bool, start: History | None = None):
    """Runs to the end; returns the finish and every history on the way."""
    seen = start or (History((Round(1, "seed"),)) if seeded else History())
    trail = [seen]
    for _ in range(8 * of.policy.max_rounds + 24):
        step = next_step(of, seen)
        if isinstance(step, Finish):
            return step, trail
        seen = advance(of, seen, assessments)
        trail.append(seen)
    raise AssertionError("the run did not end")


@given(runs())
@settings(max_examples=200, deadline=None)
def test_every_run_ends_within_its_round_limit(run):
    of, assessments, seeded = run
    _, trail = play(of, assessments, seeded)
    assert len(trail[-1].rounds) <= max(of.policy.max_rounds, round_limit(of, trail[-1]))


@given(runs())
@settings(max_examples=200, deadline=None)
def test_the_result_is_never_worse_than_any_round_seen(run):
    of, assessments, seeded = run
    finish, trail = play(of, assessments, seeded)
    assessed = trail[-1].assessed
    if not assessed:
        assert finish.best_round is None
        return
    best = next(entry for entry in assessed if entry.number == finish.best_round)
    assert all(rank(of, best.assessment) >= rank(of, entry.assessment) for entry in assessed)
    earlier = [entry for entry in assessed if entry.number < best.number]
    assert all(rank(of, entry.assessment) < rank(of, best.assessment) for entry in earlier)


@given(runs())
@settings(max_examples=100, deadline=None)
def test_the_same_history_gives_the_same_step(run):
    of, assessments, seeded = run
    _, trail = play(of, assessments, seeded)
    for seen in trail:
        assert next_step(of, seen) == next_step(of, seen)


@given(runs(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_history_cut_anywhere_and_continued_gives_the_same_run(run, data):
    of, assessments, seeded = run
    finish, trail = play(of, assessments, seeded)
    cut = data.draw(st.integers(0, len(trail) - 1))
    again, rest = play(of, assessments, seeded, start=trail[cut])
    assert again == finish
    assert rest[-1] == trail[-1]


def guarded(name):
    """Decimal's operation of this name, refusing a float on the other side."""

    def operation(self, other, *rest):
        assert not isinstance(other, float), f"a float in {name}"
        result = getattr(Decimal, name)(self, other, *rest)
        return Tripwire(result) if isinstance(result, Decimal) else result

    return operation


class Tripwire(Decimal):
    """A number that refuses to meet a float, in comparison or in arithmetic."""

    for _name in ("lt", "le", "gt", "ge", "eq", "ne", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv"):
        locals()[f"__{_name}__"] = guarded(f"__{_name}__")
    __hash__ = Decimal.__hash__


@given(runs())
@settings(max_examples=100, deadline=None)
def test_no_float_enters_a_comparison(run):
    of, assessments, seeded = run
    wired = [
        replace(
            entry,
            composite=Tripwire(entry.composite),
            scores={key: Tripwire(value) for key, value in entry.scores.items()},
        )
        for entry in assessments
    ]
    plain, _ = play(of, assessments, seeded)
    assert play(of, wired, seeded)[0] == plain


@given(st.integers(0, 30), st.integers(0, 3))
def test_a_spent_budget_never_allows_another_call(calls, limit):
    of = replace(
        shipped_rubrics()["wiggum"],
        policy=replace(shipped_rubrics()["wiggum"].policy, budget=Budget(calls=limit + 1)),
    )
    step = next_step(of, History((Round(1, "x"),), Usage(calls=calls)))
    assert isinstance(step, Finish) is (calls >= limit + 1)
