"""The three built-in profiles as data. A profile is a preset: every field can be changed."""

from dataclasses import replace
from decimal import Decimal

from refinement.engine.artifacts import ARTIFACT_TYPES, FAILURE_PATTERNS, ArtifactType
from refinement.engine.safeguards import WELL_KNOWN_OBJECTS
from refinement.engine.types import (
    Check,
    Composite,
    ContextRules,
    Criterion,
    Evaluator,
    FeedbackStyle,
    Information,
    NextBase,
    OnPlateau,
    Penalties,
    Policy,
    ProblemClass,
    Rubric,
    Scale,
    Severity,
    StopReason,
)

PROFILES = ("wiggum", "ralph", "simmer")

_JUDGE_ALWAYS = frozenset(
    {
        Information.TASK,
        Information.CRITERIA,
        Information.ROUND_NUMBER,
        Information.CANDIDATE,
        Information.OUTPUT_CONTRACT,
        Information.SOURCES,
        Information.CALIBRATION,
        Information.CALIBRATION_SCORES,
    }
)
_JUDGE_OF_SIMMER = frozenset({Information.SEED, Information.SEED_SCORES})
_JUDGE_WITH_EVALUATOR = frozenset(
    {
        Information.EVALUATOR_OUTPUT,
        Information.PREVIOUS_ASI,
        Information.HISTORY,
        Information.SEARCH_SPACE,
        Information.PANEL_SUMMARY,
    }
)
_PRODUCER = frozenset(
    {
        Information.TASK,
        Information.CRITERIA,
        Information.CANDIDATE,
        Information.BACKGROUND,
        Information.OUTPUT_CONTRACT,
        Information.SOURCES,
        Information.FEEDBACK,
        Information.SEARCH_SPACE,
        Information.PANEL_SUMMARY,
    }
)


def context_rules_for(profile: str, *, evaluator: bool = False) -> ContextRules:
    """The preset of a profile's context rules, without or with an evaluator command.

    A judge without an evaluator gets no history, because earlier scores would bias it. With an evaluator
    there is evidence to read the history against. Only Simmer shows the run's first version and its scores.
    """
    judge = _JUDGE_ALWAYS
    if profile == "simmer":
        judge |= _JUDGE_OF_SIMMER
    if evaluator:
        judge |= _JUDGE_WITH_EVALUATOR
    return ContextRules(judge=judge, producer=_PRODUCER)


def preset_rules(rubric: Rubric) -> ContextRules:
    """The preset that applies to this rubric."""
    return context_rules_for(rubric.profile, evaluator=rubric.runs_a_command)


def with_followed_preset(before: Rubric, after: Rubric) -> Rubric:
    """The edited rubric, with context rules that follow an added or removed evaluator.

    Rules that were not the preset before, or that the edit itself changed, were set by hand and stay.
    """
    if not before.context == after.context == preset_rules(before):
        return after
    return replace(after, context=preset_rules(after))


WIGGUM_SCALE = Scale(Decimal(0), Decimal(10))
RALPH_SCALE = Scale(Decimal(0), Decimal(1))
SIMMER_SCALE = Scale(Decimal(1), Decimal(10), step=Decimal(1))

WIGGUM_POLICY = Policy(
    max_rounds=3,
    stop_rules=(StopReason.PASSED, StopReason.MAX_ROUNDS, StopReason.CYCLING),
    composite=Composite.WEIGHTED_MEAN,
    next_base=NextBase.PREVIOUS,
    feedback=FeedbackStyle.ISSUES,
    pass_threshold=Decimal("9.0"),
    penalties=Penalties(criterion="depth", allowed_objects=WELL_KNOWN_OBJECTS),
    judge_limit_chars=6_000,
)
RALPH_POLICY = Policy(
    max_rounds=3,
    stop_rules=(
        StopReason.PERFECT_SCORE,
        StopReason.QUALITY_THRESHOLD_MET,
        StopReason.SCORE_REGRESSION,
        StopReason.NO_IMPROVEMENT,
        StopReason.MAX_ITERATIONS_REACHED,
    ),
    composite=Composite.WEIGHTED_MEAN,
    next_base=NextBase.ORIGINAL,
    feedback=FeedbackStyle.FAILURES,
    pass_threshold=Decimal("0.8"),
    perfect_score=Decimal(1),
    minimum_gain=Decimal("0.05"),
    checks_in_composite=True,
)
SIMMER_POLICY = Policy(
    max_rounds=4,
    stop_rules=(StopReason.PLATEAU, StopReason.MAX_ROUNDS),
    composite=Composite.PLAIN_MEAN,
    next_base=NextBase.LATEST_OR_BEST,
    feedback=FeedbackStyle.ASI,
    primary_first=True,
    on_plateau=OnPlateau.BOARD,
    composite_decimals=1,
)

WIGGUM_CRITERIA = (
    Criterion(
        "depth",
        "Depth",
        "How far the text goes beyond naming things: steps to carry out, worked examples, real settings.",
        "A reader could do the job from this text alone: every step is there, with examples that work.",
        Decimal("0.25"),
    ),
    Criterion(
        "relevance",
        "Relevance",
        "Whether the text answers the task that was set, and nothing else.",
        "Every paragraph serves the task; nothing strays.",
        Decimal("0.20"),
    ),
    Criterion(
        "completeness",
        "Completeness",
        "Whether each part the task asks for is covered.",
        "Nothing that was asked for is missing or only touched on.",
        Decimal("0.20"),
    ),
    Criterion(
        "grounded",
        "Grounded",
        "Whether claims rest on the task and its material instead of being made up.",
        "Every claim can be traced to the material or is common knowledge; nothing is invented.",
        Decimal("0.15"),
    ),
    Criterion(
        "specificity",
        "Specificity",
        "Whether tools, versions, commands and figures are named instead of alluded to.",
        "Names, versions, commands and numbers wherever a reader would need them.",
        Decimal("0.10"),
    ),
    Criterion(
        "structure",
        "Structure",
        "Whether headings and order help a reader to find things.",
        "Clear headings in a sensible order; one idea to a section.",
        Decimal("0.10"),
    ),
)
WIGGUM_CHECKS = (
    Check(
        "starts-with-heading",
        "regex",
        {"pattern": r"\A\s*#{1,6}[ \t]+\S"},
        Severity.ERROR,
        suggestion="Start with a Markdown heading, such as “# Title”, and nothing before it.",
    ),
)
RALPH_CHECKS = (
    Check(
        "not-empty",
        "length",
        {"minimum": 200, "unit": "characters"},
        Severity.ERROR,
        suggestion="Write the whole text that the task asks for.",
    ),
    Check(
        "no-placeholders",
        "no-placeholders",
        {},
        Severity.ERROR,
        suggestion="Replace every placeholder with the real content.",
    ),
    Check(
        "has-headings",
        "heading-count",
        {"minimum": 2},
        Severity.WARNING,
        suggestion="Divide the text under at least two Markdown headings.",
    ),
)


def wiggum_rubric() -> Rubric:
    return Rubric(
        name="Wiggum six dimensions",
        profile="wiggum",
        purpose="Technical writing, scored on six criteria. Passes at 9.0 of 10.",
        scale=WIGGUM_SCALE,
        policy=WIGGUM_POLICY,
        context=context_rules_for("wiggum"),
        criteria=WIGGUM_CRITERIA,
        checks=WIGGUM_CHECKS,
        artifact_type="document",
        output_contract="Markdown that starts with a # heading.",
    )


def ralph_rubric() -> Rubric:
    return Rubric(
        name="Ralph checks",
        profile="ralph",
        purpose="Checks decide, without a judge. Failures go back to the writer until 80 % hold.",
        scale=RALPH_SCALE,
        policy=RALPH_POLICY,
        context=context_rules_for("ralph"),
        checks=RALPH_CHECKS,
        artifact_type="document",
    )


def simmer_rubric(artifact: ArtifactType | None = None) -> Rubric:
    """The Simmer rubric for an artifact type, by default a document."""
    chosen = artifact or ARTIFACT_TYPES["document"]
    return Rubric(
        name="Simmer judge" if artifact is None else f"Simmer: {chosen.name}",
        profile="simmer",
        purpose=chosen.purpose,
        scale=SIMMER_SCALE,
        policy=SIMMER_POLICY,
        context=context_rules_for("simmer"),
        criteria=chosen.criteria,
        problem_class=chosen.problem_class,
        artifact_type=chosen.key,
        evaluator=_evaluator(chosen),
    )


def _evaluator(artifact: ArtifactType) -> Evaluator:
    """An evaluator that waits for its command. For what can be run, it knows when nothing worked."""
    runnable = artifact.problem_class is not ProblemClass.TEXT
    return Evaluator(failure_patterns=FAILURE_PATTERNS if runnable else ())


def rubric_for(profile: str) -> Rubric:
    """The default rubric of a profile: wiggum, ralph or simmer."""
    factories = {"wiggum": wiggum_rubric, "ralph": ralph_rubric, "simmer": simmer_rubric}
    return factories[profile]()


def shipped_rubrics() -> dict[str, Rubric]:
    """Every rubric that the gallery can start from unchanged, by slug."""
    rubrics = {profile: rubric_for(profile) for profile in PROFILES}
    for key, artifact in ARTIFACT_TYPES.items():
        rubrics[f"simmer-{key}"] = simmer_rubric(artifact)
    return rubrics


# What a new project starts with: slug, name, and what it is for. The gallery has the rest.
DEFAULTS = {
    "simmer": (
        "Document",
        "Any text that someone reads to understand or to act. Keeps the best of four rounds; no pass mark.",
    ),
    "wiggum": (
        "Technical guide",
        "How-to guides, runbooks and reports. Six weighted criteria; passes at 9.0 of 10.",
    ),
    "simmer-code": (
        "Code",
        "Programs and functions that must work. Add a command that tests them to judge by results.",
    ),
    "ralph": (
        "Format checks",
        "Length, headings and leftover placeholders, checked by code. No judge model is called.",
    ),
}


def default_rubrics() -> dict[str, Rubric]:
    """The rubrics that a new project starts with, by slug."""
    shipped = shipped_rubrics()
    return {
        slug: replace(shipped[slug], name=name, purpose=purpose) for slug, (name, purpose) in DEFAULTS.items()
    }
