"""The editor's advanced topics: their current value in one line, and what differs from the profile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from refinement.engine.artifacts import ARTIFACT_TYPES
from refinement.engine.evaluating import command_line
from refinement.engine.profiles import preset_rules, rubric_for, simmer_rubric
from refinement.engine.types import Rubric
from refinement.forms.rubrics import words
from refinement.judging.templating import TEMPLATE_NAMES
from refinement.selectors.rubrics.context_tables import CLASS_LABELS, context_table
from refinement.selectors.rubrics.idle import idle_judges, idle_scoring, idle_stopping
from refinement.selectors.rubrics.judge_words import RUNS_MODEL
from refinement.selectors.rubrics.words import budget_words, penalty_description, rule_name, scale_words


@dataclass(frozen=True, slots=True)
class Topic:
    """A folded row of the editor."""

    key: str
    title: str
    summary: str
    changed: int
    notes: list[str]
    open: bool


@dataclass(frozen=True, slots=True)
class Kind:
    """A topic's title, its settings as attributes of a definition, its form fields, and its summary."""

    title: str
    paths: tuple[str, ...]
    starts: tuple[str, ...]  # of the names of its form fields
    summary: Callable[[Rubric], str]
    notes: Callable[[Rubric], list[str]] = lambda _: []


def default_for(rubric: Rubric) -> Rubric:
    """The rubric that its profile and kind of work start with."""
    artifact = ARTIFACT_TYPES.get(rubric.artifact_type)
    return simmer_rubric(artifact) if rubric.profile == "simmer" else rubric_for(rubric.profile)


def topics(rubric: Rubric, errors: Mapping[str, Any]) -> dict[str, Topic]:
    """The topics of a definition, by key. Those with errors are open."""
    default = default_for(rubric)
    return {
        key: Topic(
            key=key,
            title=kind.title,
            summary=kind.summary(rubric),
            changed=_seen_changes(rubric) if key == "context" else _changes(kind, rubric, default),
            notes=kind.notes(rubric),
            open=any(name.startswith(kind.starts) for name in errors),
        )
        for key, kind in TOPICS.items()
    }


def _changes(kind: Kind, rubric: Rubric, default: Rubric) -> int:
    return sum(attrgetter(path)(rubric) != attrgetter(path)(default) for path in kind.paths)


def _seen_changes(rubric: Rubric) -> int:
    preset = preset_rules(rubric)
    return len(rubric.context.judge ^ preset.judge) + len(rubric.context.producer ^ preset.producer)


def _paths(of: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{of}.{name}" for name in names)


def _kind(rubric: Rubric) -> str:
    artifact = ARTIFACT_TYPES.get(rubric.artifact_type)
    name = artifact.name if artifact else rubric.artifact_type or "work"
    return f"{name[:1].upper()}{name[1:]}. {CLASS_LABELS[rubric.problem_class]}"


def _scoring(rubric: Rubric) -> str:
    return f"{scale_words(rubric.scale)}; {words.COMPOSITES[rubric.policy.composite].lower()}"


def _stopping(rubric: Rubric) -> str:
    rules = [rule_name(rule).lower() for rule in rubric.policy.stop_rules]
    return f"When {', or '.join(rules)}" if rules else "Only the round limit and the budget"


def _writer(rubric: Rubric) -> str:
    policy = rubric.policy
    return f"{words.FEEDBACK_STYLES[policy.feedback]}; from {_lower(words.NEXT_BASES[policy.next_base])}"


def _lower(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def _board(rubric: Rubric) -> str:
    answer = "Judges answer each other once" if rubric.judges.deliberation else "Judges score alone"
    return f"{answer}; clerk: {rubric.judges.clerk or _lower(RUNS_MODEL)}"


def _texts(rubric: Rubric) -> str:
    texts = {
        "background": rubric.background,
        "required form": rubric.output_contract,
        "schema": rubric.output_schema,
        "pattern": rubric.output_pattern,
        "options to try": rubric.search_space,
    }
    given = [name for name, text in texts.items() if text]
    return ", ".join(given).capitalize() or "Empty"


def _calibration(rubric: Rubric) -> str:
    if not rubric.calibration_text:
        return "None"
    scores = len(rubric.calibration_scores)
    return f"{len(rubric.calibration_text):,} characters, {scores} score{'' if scores == 1 else 's'}"


def _evaluator(rubric: Rubric) -> str:
    if not rubric.runs_a_command:
        return "None: the judge reads the text, nothing is run"
    return command_line(rubric.evaluator.command)


def _context(rubric: Rubric) -> str:
    departures = context_table(rubric).departures
    if not departures:
        return "As usual for this profile"
    return departures[0] if len(departures) == 1 else f"{len(departures)} changes to the usual rules"


def _limits(rubric: Rubric) -> str:
    policy = rubric.policy
    budget = ", ".join(budget_words(policy.budget)) or "No budget"
    return f"{budget}; the judge reads {policy.judge_limit_chars:,} characters"


def _templates(rubric: Rubric) -> str:
    own = [name for name in TEMPLATE_NAMES if name in rubric.templates]
    return f"Changed: {', '.join(own)}" if own else "The defaults"


TOPICS: Mapping[str, Kind] = {
    "kind": Kind("Kind of work", ("problem_class",), ("artifact_type", "problem_class"), _kind),
    "scoring": Kind(
        "Scale and score",
        (
            "scale",
            *_paths("policy", "composite", "perfect_score", "composite_decimals", "checks_in_composite"),
            "policy.primary_first",
        ),
        ("scale-", "policy-composite", "policy-perfect", "policy-checks", "policy-primary"),
        _scoring,
        idle_scoring,
    ),
    "stopping": Kind(
        "Stopping",
        _paths("policy", "stop_rules", "minimum_gain", "plateau_rounds", "plateau_window", "on_plateau"),
        ("policy-minimum", "policy-plateau", "policy-on_plateau"),
        _stopping,
        idle_stopping,
    ),
    "writer": Kind(
        "What the writer gets",
        _paths("policy", "feedback", "next_base"),
        ("policy-feedback", "policy-next_base"),
        _writer,
    ),
    "board": Kind(
        "Deliberation and clerk",
        _paths("judges", "deliberation", "clerk"),
        ("judges-deliberation", "judges-clerk"),
        _board,
        idle_judges,
    ),
    "texts": Kind(
        "Background and required form",
        ("background", "output_contract", "output_schema", "output_pattern", "search_space"),
        ("background", "output_", "search_space"),
        _texts,
    ),
    "calibration": Kind("Calibration example", ("calibration_text",), ("calibration",), _calibration),
    "evaluation": Kind(
        "Evaluator command",
        ("evaluation_mode", "evaluator"),
        ("evaluation_mode", "evaluator-", "metric"),
        _evaluator,
    ),
    "context": Kind("Who sees what", (), ("context-",), _context),
    "safeguards": Kind(
        "Invented names",
        _paths("policy.penalties", "criterion", "points", "cap", "allowed_objects"),
        ("docked", "policy-penalties"),
        penalty_description,
    ),
    "limits": Kind(
        "Limits and budget",
        _paths("policy", "judge_limit_chars", "source_limit_chars", "producer_tokens", "producer_temperature")
        + _paths("policy.budget", "tokens", "seconds", "calls"),
        ("policy-judge_limit", "policy-source_limit", "policy-producer", "policy-budget"),
        _limits,
    ),
    "templates": Kind("Prompt templates", ("templates",), ("template-",), _templates),
}
