"""Who sees what, as a table for people: roles against kinds of information, departures marked."""

from collections.abc import Mapping
from dataclasses import dataclass

from refinement.engine.kinds import Information, ProblemClass, Role
from refinement.engine.profiles import context_rules_for
from refinement.engine.types import ContextRules, Rubric
from refinement.judging.context import OFFERED

ROLE_LABELS: Mapping[Role, str] = {
    Role.JUDGE: "Judge",
    Role.PRODUCER: "Producer",
    Role.REFLECT: "Reflection",
}
CLASS_LABELS: Mapping[ProblemClass, str] = {
    ProblemClass.TEXT: "Text and creative work",
    ProblemClass.CODE: "Code that can be tested",
    ProblemClass.PIPELINE: "Pipelines and engineering",
}
CLASS_REASONS: Mapping[ProblemClass, str] = {
    ProblemClass.TEXT: (
        "A judge of prose gets no history and no earlier advice: each round is scored on its own words."
    ),
    ProblemClass.CODE: (
        "A judge of code gets what was measured and tried before, so that its advice rests on evidence."
    ),
    ProblemClass.PIPELINE: (
        "A judge of a pipeline gets what was measured and tried before, so that its advice rests on evidence."
    ),
}
# Each kind's name, and what it is.
KIND_WORDS: Mapping[Information, tuple[str, str]] = {
    Information.TASK: ("Task", "What the run was asked for."),
    Information.CRITERIA: ("Criteria", "What is scored, and what the top of the scale looks like."),
    Information.ROUND_NUMBER: ("Round number", "Which round it is, and which is the last."),
    Information.CANDIDATE: ("Candidate", "The text under judgement, or the one to revise."),
    Information.BACKGROUND: ("Background", "The rubric's facts about readers, product or sources."),
    Information.OUTPUT_CONTRACT: ("Output contract", "What form the result must have."),
    Information.SEED: ("Seed text", "The first version, or the calibration text, from round 2 on."),
    Information.SEED_SCORES: ("Seed scores", "What that text was scored, from round 2 on."),
    Information.EVALUATOR_OUTPUT: ("Evaluator output", "What a command said when it ran the candidate."),
    Information.FEEDBACK: ("Feedback", "What the last judgement asks to be changed, without its scores."),
    Information.PREVIOUS_ASI: ("Previous advice", "The one direction given after the round before."),
    Information.HISTORY: ("History", "Earlier rounds in a line each: scores and what changed."),
    Information.SEARCH_SPACE: ("Search space", "What may be tried."),
    Information.EXPLORATION: ("Exploration status", "What was tried already, and what was not."),
    Information.SCORES: ("Scores", "The scores of all rounds."),
    Information.VERDICTS: ("Verdicts", "What the judges wrote."),
    Information.PRODUCER_REPORT: ("Producer's report", "What the producer says it changed."),
}
# What follows when a rubric shows a role something its class withholds, or the other way round.
ADDED: Mapping[Information, str] = {
    Information.BACKGROUND: "It can check facts against it, and may score the background with the text.",
    Information.EVALUATOR_OUTPUT: "Its scores will follow what the command said.",
    Information.PREVIOUS_ASI: "It can tell whether its advice was followed, and may reward just that.",
    Information.HISTORY: "It can see a trend, and its scores tend to stay near the earlier ones.",
    Information.SEARCH_SPACE: "Its advice can name what is untried.",
    Information.EXPLORATION: "Its advice can avoid what was tried before.",
}
REMOVED: Mapping[Information, str] = {
    Information.TASK: "It no longer knows what was asked for.",
    Information.CRITERIA: "It no longer knows what is scored.",
    Information.ROUND_NUMBER: "It no longer knows how many rounds are left.",
    Information.CANDIDATE: "It no longer sees the text itself.",
    Information.BACKGROUND: "It has only the task to go by.",
    Information.OUTPUT_CONTRACT: "It no longer knows what form the result must have.",
    Information.SEED: "It has no text to measure later rounds against.",
    Information.SEED_SCORES: "It has no known scores to hold its own against.",
    Information.EVALUATOR_OUTPUT: "It judges without what was measured.",
    Information.FEEDBACK: "It revises without knowing what to change.",
    Information.PREVIOUS_ASI: "It may give the same advice again.",
    Information.HISTORY: "It cannot see a trend.",
    Information.SEARCH_SPACE: "It does not know what may be tried.",
    Information.EXPLORATION: "It does not know what was tried before.",
}


@dataclass(frozen=True, slots=True)
class ContextCell:
    """Whether one role sees one kind of information, and whether its class would have it so."""

    role: Role
    kind: Information
    offered: bool  # whether the role can be given this kind at all
    allowed: bool
    preset: bool
    explanation: str = ""  # where it departs from the preset, what follows

    @property
    def departs(self) -> bool:
        return self.offered and self.allowed is not self.preset

    @property
    def name(self) -> str:
        """The name of a form's field for this cell, such as `judge-history`."""
        return f"{self.role}-{self.kind}"

    @property
    def words(self) -> str:
        if not self.offered:
            return "never"
        return "seen" if self.allowed else "withheld"


@dataclass(frozen=True, slots=True)
class ContextRow:
    kind: Information
    label: str
    description: str
    cells: tuple[ContextCell, ...]  # in the order of the table's roles


@dataclass(frozen=True, slots=True)
class ContextTable:
    """Rows of kinds, columns of roles; what departs from the class's preset is listed with its sense."""

    problem_class: ProblemClass
    class_label: str
    class_reason: str
    roles: tuple[str, ...]
    rows: tuple[ContextRow, ...]

    @property
    def departures(self) -> list[str]:
        """One sentence for each departure from the preset."""
        return [cell.explanation for row in self.rows for cell in row.cells if cell.departs]


def context_table(definition: Rubric) -> ContextTable:
    """The rubric's rules as people read them."""
    return context_rules_table(definition.context, definition.problem_class)


def context_rules_table(rules: ContextRules, problem_class: ProblemClass) -> ContextTable:
    """The same from the rules alone, for a form that has no whole rubric yet."""
    preset = context_rules_for(problem_class)
    return ContextTable(
        problem_class=problem_class,
        class_label=CLASS_LABELS[problem_class],
        class_reason=CLASS_REASONS[problem_class],
        roles=tuple(ROLE_LABELS.values()),
        rows=tuple(_row(kind, rules, preset) for kind in Information),
    )


def _row(kind: Information, rules: ContextRules, preset: ContextRules) -> ContextRow:
    label, description = KIND_WORDS[kind]
    cells = tuple(_cell(role, kind, rules, preset) for role in ROLE_LABELS)
    return ContextRow(kind, label, description, cells)


def _cell(role: Role, kind: Information, rules: ContextRules, preset: ContextRules) -> ContextCell:
    offered = kind in OFFERED[role]
    allowed, usual = offered and kind in rules.allowed(role), offered and kind in preset.allowed(role)
    return ContextCell(role, kind, offered, allowed, usual, _explanation(role, kind, allowed, usual))


def _explanation(role: Role, kind: Information, allowed: bool, usual: bool) -> str:
    return "" if allowed is usual else departure_words(role, kind, allowed)


def departure_words(role: Role, kind: Information, allowed: bool) -> str:
    """What a departure from the preset is, and what follows from it."""
    what = KIND_WORDS[kind][0].lower()
    does, usually = ("sees", "withholds") if allowed else ("does not see", "shows")
    follows = (ADDED if allowed else REMOVED).get(kind, "")
    if allowed and role is not Role.JUDGE:
        follows = ""  # the consequences are those for a judge
    return f"The {ROLE_LABELS[role].lower()} {does} the {what}, which its class {usually}. {follows}".strip()
