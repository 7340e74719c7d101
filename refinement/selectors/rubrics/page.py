"""A rubric version's settings, arranged for its page."""

from dataclasses import dataclass

from refinement.engine.artifacts import ARTIFACT_TYPES
from refinement.engine.types import Check, Criterion, Rubric
from refinement.judging.templating import TEMPLATE_NAMES
from refinement.selectors.rubrics.context_tables import CLASS_LABELS, ContextTable, context_table
from refinement.selectors.rubrics.definitions import plain
from refinement.selectors.rubrics.judge_words import JudgeFacts, judge_facts
from refinement.selectors.rubrics.words import (
    COMPOSITES,
    EVALUATION_MODES,
    FEEDBACK_STYLES,
    NEXT_BASES,
    SEVERITIES,
    TEMPLATE_LABELS,
    StopRuleLabel,
    WeighedCriterion,
    budget_words,
    check_label,
    check_name,
    evaluator_labels,
    parameter_labels,
    pass_mark_label,
    penalty_description,
    rounds_words,
    scale_words,
    schema_words,
    stop_rule_labels,
    weighed_criteria,
)


@dataclass(frozen=True, slots=True)
class CheckFacts:
    check: Check
    name: str
    label: str
    severity: str
    weight: str
    parameters: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class CalibrationScore:
    criterion: Criterion
    score: str


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """A definition, formatted in page order."""

    definition: Rubric
    artifact: str
    passes_at: str
    rounds: str
    scoring: list[tuple[str, str]]
    judges: JudgeFacts
    loop: list[tuple[str, str]]
    evaluation: list[tuple[str, str]]
    limits: list[tuple[str, str]]
    stop_rules: list[StopRuleLabel]
    criteria: list[WeighedCriterion]
    checks: list[CheckFacts]
    penalties: str
    context: ContextTable
    texts: list[tuple[str, str, str]]  # title, purpose, text or empty
    templates: list[tuple[str, str]]  # title, the rubric's own text or empty
    calibration_scores: list[CalibrationScore]


def version_facts(definition: Rubric) -> VersionFacts:
    artifact = ARTIFACT_TYPES.get(definition.artifact_type)
    return VersionFacts(
        definition=definition,
        artifact=artifact.name if artifact else definition.artifact_type,
        passes_at=_passes_at(definition),
        rounds=rounds_words(definition.policy),
        scoring=_scoring(definition),
        judges=judge_facts(definition),
        loop=_loop(definition),
        evaluation=_evaluation(definition),
        limits=_limits(definition),
        stop_rules=stop_rule_labels(definition),
        criteria=weighed_criteria(definition),
        checks=[_check(entry) for entry in definition.checks],
        penalties=penalty_description(definition),
        context=context_table(definition),
        texts=_texts(definition),
        templates=[
            (TEMPLATE_LABELS.get(name, name), definition.templates.get(name, "")) for name in TEMPLATE_NAMES
        ],
        calibration_scores=[
            CalibrationScore(entry, plain(definition.calibration_scores[entry.key]))
            for entry in definition.criteria
            if entry.key in definition.calibration_scores
        ],
    )


def _passes_at(definition: Rubric) -> str:
    mark = definition.policy.pass_threshold
    return "No pass mark" if mark is None else f"{plain(mark)} of {plain(definition.scale.maximum)}"


def _scoring(definition: Rubric) -> list[tuple[str, str]]:
    policy = definition.policy
    facts = [
        ("Scale", scale_words(definition.scale)),
        ("Score", COMPOSITES[policy.composite]),
        ("Pass mark", pass_mark_label(definition)),
    ]
    if policy.perfect_score is not None:
        facts.append(("Perfect score", plain(policy.perfect_score)))
    if definition.checks:
        counted = (
            "Yes, along with the criteria." if policy.checks_in_composite else "No, they are only reported."
        )
        facts.append(("Checks count", counted))
    result = (
        "The best round; the primary criterion decides first." if policy.primary_first else "The best round."
    )
    return [*facts, ("Result", result)]


def _loop(definition: Rubric) -> list[tuple[str, str]]:
    policy = definition.policy
    return [
        ("Rounds", rounds_words(policy)),
        ("Feedback", FEEDBACK_STYLES[policy.feedback]),
        ("Revision starts from", NEXT_BASES[policy.next_base]),
        ("Problem class", CLASS_LABELS[definition.problem_class]),
    ]


def _evaluation(definition: Rubric) -> list[tuple[str, str]]:
    mode, meaning = EVALUATION_MODES[definition.evaluation_mode]
    return [("Evaluation", f"{mode}. {meaning}"), *evaluator_labels(definition)]


def _limits(definition: Rubric) -> list[tuple[str, str]]:
    policy = definition.policy
    return [
        ("Budget", ", ".join(budget_words(policy.budget)) or "None. Only the stop rules end a run."),
        ("Judge's limit", f"{policy.judge_limit_chars:,} characters per text"),
        ("Sources in a prompt", f"{policy.source_limit_chars:,} characters in total"),
        ("Writer's limit", f"{policy.producer_tokens:,} tokens"),
        ("Writer temperature", plain(policy.producer_temperature)),
    ]


def _check(entry: Check) -> CheckFacts:
    severity = SEVERITIES[entry.severity]
    name = check_name(entry.key)
    return CheckFacts(entry, name, check_label(entry), severity, plain(entry.weight), parameter_labels(entry))


def _texts(definition: Rubric) -> list[tuple[str, str, str]]:
    return [
        ("Required form", "Of the result.", definition.output_contract),
        ("JSON schema", "The result must follow it.", schema_words(definition.output_schema)),
        ("Required pattern", "The result must match it.", definition.output_pattern),
        ("Background", "What the writer should know beyond the task.", definition.background),
        ("Options to try", "For code and pipelines.", definition.search_space),
    ]
