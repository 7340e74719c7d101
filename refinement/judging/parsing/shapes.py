"""Collects scores and feedback from the different shapes of a reply.

Supported are criteria as an object keyed by criterion or as a list of named entries (under "criteria",
"scores" and similar keys), criterion keys at the top level with objects or bare numbers, and any of these
inside wrapping objects. Totals and verdicts computed by the model are ignored.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from refinement.engine.types import Criterion, Rubric
from refinement.judging.parsing.cleaning import clean, same_name, shown
from refinement.judging.parsing.scores import MISSING, states_number

MAX_WRAPPING = 3
MAX_TEXT = 4_000
MAX_ISSUE = 600
MAX_ISSUES = 30
MAX_DROPPED = 20


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


CONTAINERS = _words("criteria scores ratings criterionscores criteriascores dimensions scorecard results")
NAMES = _words("key name criterion id dimension criteria title aspect category")
SCORES = _words("score rating value points mark grade")
REASONINGS = _words(
    "reasoning reason reasons rationale justification explanation comment comments analysis feedback"
)
IMPROVEMENTS = _words(
    "improvement improvements specificimprovement suggestedimprovement suggestion suggestions howtoimprove",
    "fix recommendation",
)
ISSUES = _words("issues problems issuelist weaknesses concerns")
ISSUE_TEXTS = _words("description issue text problem message detail")
ASIS = _words("asi actionablesideinformation suggestion nextstep highestleveragedirection actionableinsight")
CONTRACT_FLAGS = _words("contractviolated outputcontractviolated violatescontract")
CONTRACT_REASONS = _words("contractreason contractviolation contractviolationreason")
OWN_TOTALS = _words(
    "composite compositescore total totalscore overall overallscore average averagescore mean weightedscore",
    "weightedmean finalscore score verdict pass passed confidence round iteration threshold weight weights",
    "maxscore scale summary",
)


@dataclass(slots=True)
class Statement:
    """The last values in the reply for one criterion."""

    score: object = MISSING
    reasoning: str = ""
    improvement: str = ""


@dataclass(slots=True)
class Gathered:
    """Everything read from one loaded value, not yet validated."""

    statements: dict[str, Statement] = field(default_factory=dict)
    issues: tuple[str, ...] = ()
    asi: str = ""
    contract_violated: bool = False
    contract_reason: str = ""
    dropped: list[str] = field(default_factory=list)

    def drop(self, name: str) -> None:
        if shown(name) and shown(name) not in self.dropped and len(self.dropped) < MAX_DROPPED:
            self.dropped.append(shown(name))


def criterion_names(criteria: Iterable[Criterion]) -> dict[str, str]:
    """Maps normalised keys and names to criterion keys. Keys take precedence over names."""
    listed = tuple(criteria)
    by_name = {same_name(criterion.name): criterion.key for criterion in reversed(listed)}
    by_key = {same_name(criterion.key): criterion.key for criterion in reversed(listed)}
    # A key without letters and digits would match every label without them.
    return {name: key for name, key in {**by_name, **by_key}.items() if name}


def gather(loaded: object, rubric: Rubric) -> Gathered:
    """The values for the rubric's criteria. For repeated criteria, the last value wins."""
    names = criterion_names(rubric.criteria)
    gathered = Gathered()
    level = [loaded]
    for _ in range(MAX_WRAPPING):
        for value in level:
            _gather_level(value, names, gathered)
            if gathered.statements:
                return gathered
        level = [child for value in level for child in _children(value)]
    return gathered


def _children(value: object) -> list[object]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [child for child in inner if isinstance(child, (dict, list))]


def _gather_level(value: object, names: dict[str, str], gathered: Gathered) -> None:
    if isinstance(value, list):
        _gather_entries(value, names, gathered)
    elif isinstance(value, dict):
        _gather_entries([value], names, gathered)


def _gather_members(members: dict[object, object], names: dict[str, str], gathered: Gathered) -> None:
    for label, value in members.items():
        name = same_name(str(label))
        if name in CONTAINERS and isinstance(value, dict):
            _gather_criteria(value, names, gathered)
        elif name in CONTAINERS and isinstance(value, list):
            _gather_entries(value, names, gathered)
        elif name in names:
            _state(gathered, names[name], value)
        elif name in ISSUES:
            gathered.issues = _issues(value)
        elif name in ASIS:
            gathered.asi = _text(value)
        elif name in CONTRACT_FLAGS:
            gathered.contract_violated = _is_true(value)
        elif name in CONTRACT_REASONS:
            gathered.contract_reason = _text(value)
        elif name not in OWN_TOTALS and _scored(value):
            gathered.drop(str(label))


def _gather_criteria(members: dict[object, object], names: dict[str, str], gathered: Gathered) -> None:
    for label, value in members.items():
        name = same_name(str(label))
        if name in names:
            _state(gathered, names[name], value)
        elif name in ISSUES:  # inside the criteria if a brace is misplaced
            gathered.issues = _issues(value)
        elif name in ASIS:
            gathered.asi = _text(value)
        elif name not in OWN_TOTALS:
            gathered.drop(str(label))


def _gather_entries(entries: list[object], names: dict[str, str], gathered: Gathered) -> None:
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        label = next((entry[key] for key in entry if same_name(str(key)) in NAMES), None)
        if isinstance(label, str) and same_name(label) in names:
            _state(gathered, names[same_name(label)], entry)
        elif isinstance(label, str):
            if _scored(entry) and same_name(label) not in OWN_TOTALS:
                gathered.drop(label)
        else:
            _gather_members(entry, names, gathered)


def _state(gathered: Gathered, key: str, value: object) -> None:
    statement = gathered.statements.setdefault(key, Statement())
    if isinstance(value, dict):
        _state_members(statement, value)
    elif isinstance(value, list):
        labels = ("score", "reasoning", "improvement")
        _state_members(statement, dict(zip(labels, value, strict=False)))
    else:
        _state_score(statement, value)


def _state_members(statement: Statement, members: dict[object, object]) -> None:
    for label, value in members.items():
        name = same_name(str(label))
        if name in SCORES:
            _state_score(statement, _unwrapped(value))
        elif name in REASONINGS:
            statement.reasoning = _text(value)
        elif name in IMPROVEMENTS:
            statement.improvement = _text(value)


def _state_score(statement: Statement, value: object) -> None:
    """The last number wins. Text without a number does not replace a number."""
    if states_number(value) or not states_number(statement.score):
        statement.score = value


def _unwrapped(value: object) -> object:
    if not isinstance(value, dict):
        return value
    return next((inner for key, inner in value.items() if same_name(str(key)) in SCORES), value)


def _scored(value: object) -> bool:
    if isinstance(value, dict):
        return any(same_name(str(key)) in SCORES for key in value)
    return not isinstance(value, (str, list)) and states_number(value)


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "yes"))


def _text(value: object) -> str:
    if isinstance(value, str):
        return clean(value, MAX_TEXT)
    if isinstance(value, list):
        return clean(" ".join(part for part in value if isinstance(part, str)), MAX_TEXT)
    if isinstance(value, dict):
        return next((_text(inner) for key, inner in value.items() if same_name(str(key)) in ISSUE_TEXTS), "")
    return ""


def _issues(value: object) -> tuple[str, ...]:
    entries = value if isinstance(value, list) else [value]
    texts = (clean(_text(entry), MAX_ISSUE) for entry in entries[: MAX_ISSUES * 4])
    return tuple(text for text in texts if text)[:MAX_ISSUES]
