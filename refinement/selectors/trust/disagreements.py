"""Where a judge and people disagree: texts with what both said about them.

A report names them as `label:ID` for a text of a label set and `round:ID` for a round of a run. Texts of
runs that the reader is scoring blind are left out.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Left

from refinement.charts.intervals import number_text
from refinement.judging.quotations import quotations
from refinement.models import HumanScore, JudgeRecord, Label, LabelItem, Round
from refinement.selectors.reviews.blindness import hidden_runs, without_hidden
from refinement.selectors.trust.reasons import Said, judge_said

ITEM = re.compile(r"(label|round)[:-]([1-9][0-9]{0,17})")
SEARCHED_CHARS = 20_000  # of a text, for the passages that are quoted
TITLE_CHARS = 140
UNLABELLED = "unlabelled"


@dataclass(frozen=True, slots=True)
class Opinion:
    """A person's score of a criterion."""

    name: str
    score: float | None
    reason: str
    label: int = 0  # of a label set; 0 for a score of a round
    wrong: bool = False
    author: int | None = None
    human_score: int = 0  # of a round; 0 for a label


@dataclass(slots=True)
class Case:
    """A text on which the judge and people disagree about a criterion."""

    item: str  # as reports name it
    criterion: str
    name: str  # of the criterion
    judge: float | None
    people: float | None
    judgements: int = 1  # that the judge's score is the mean of
    title: str = ""
    quoted: bool = False  # the title is a passage of the text
    has_text: bool = True
    task: str = ""
    task_type: str = ""
    label_set: str = ""
    label_set_pk: int = 0
    raters_wanted: int = 0  # by the label set, if it is not archived
    key: str = ""
    run: int | None = None
    round: int | None = None
    said: str = ""
    opinions: list[Opinion] = field(default_factory=list)
    text: str = ""

    @property
    def place(self) -> str:
        """As addresses name it."""
        return self.item.replace(":", "-")

    @property
    def reason(self) -> str:
        """The first reason that a person gave."""
        return next((each.reason for each in self.opinions if each.reason and not each.wrong), "")

    @property
    def counted(self) -> int:
        """How many people's scores count."""
        return sum(1 for each in self.opinions if each.score is not None and not each.wrong)

    def is_open_to(self, user: int) -> bool:
        """Whether the user may still be asked to label this text, and should not see its scores before."""
        return len(self.opinions) < self.raters_wanted and user not in [each.author for each in self.opinions]

    @property
    def gap(self) -> float:
        return abs((self.judge or 0) - (self.people or 0))

    @property
    def row(self) -> int:
        return int(self.item.partition(":")[2])


def item_named(text: str) -> str:
    """`label-12` or `label:12` as reports write it; empty if it is neither."""
    found = ITEM.fullmatch(text)
    return f"{found[1]}:{found[2]}" if found else ""


def cases_of(
    record: JudgeRecord,
    entries: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    *,
    whole: bool = False,
) -> list[Case]:
    """The disagreements with their texts and reasons, in order; a fixed number of queries."""
    rubric = record.rubric_version.rubric_id
    items = _items(entries, rubric)
    rounds = _rounds([number for kind, number in _parts(entries) if kind == "round"], rubric)
    labels = _labels(items)
    scores = _human_scores(rounds)
    said = judge_said(record, list(items), _round_ids(items, rounds))
    found = []
    for entry in entries:
        kind, _, number = entry["item"].partition(":")
        case = _started(entry, names)
        row = items.get(int(number)) if kind == "label" else rounds.get(int(number))
        if row is None:
            continue
        if isinstance(row, LabelItem):
            _of_label(case, row, labels.get(row.pk, []))
        else:
            _of_round(case, row, scores.get(row.pk, []))
        _with_judge(case, said.get(case.item))
        _titled(case, row.start, row.title if isinstance(row, LabelItem) else "")  # type: ignore[union-attr]
        if whole:
            case.text = row.text if isinstance(row, LabelItem) else row.candidate
        found.append(case)
    return found


def case_of(
    record: JudgeRecord, item: str, criterion: str, names: Mapping[str, str], entries: Iterable[Any] = ()
) -> Case | None:
    """One text and criterion; its scores as the report has them, or as they are now."""
    known = next((e for e in entries if e["item"] == item and e["criterion"] == criterion), None)
    entry = known or {"item": item, "criterion": criterion, "judge": None, "people": None}
    found = cases_of(record, [entry], names, whole=True)
    return found[0] if found else None


def case_in_report(
    record: JudgeRecord, item: str, criterion: str, report: Mapping[str, Any] | None
) -> Case | None:
    """The text that an address names, if it is one of the judge's rubric; None for any other."""
    named, names = item_named(item), criteria_names(record, report)
    if not named or criterion not in names:
        return None
    return case_of(record, named, criterion, names, report["disagreements"]["top"] if report else ())


def criteria_names(record: JudgeRecord, report: Mapping[str, Any] | None) -> dict[str, str]:
    """The names of the criteria, as the report has them or as the rubric version does."""
    if report:
        return {entry["key"]: entry["name"] for entry in report["criteria"]}
    return dict(record.rubric_version.criteria.values_list("key", "name"))


def calibration_query(case: Case) -> str:
    """What the calibration page needs to offer this text with people's scores; empty without a text."""
    if not case.text:
        return ""
    if case.item.startswith("label:"):
        return f"label={case.row}"
    scores = [each.human_score for each in case.opinions if each.human_score]
    return f"score={scores[0]}" if scores else ""


def score_words(value: float | None) -> str:
    """A score with at most one decimal, more only on small scales."""
    if value is None:
        return "–"
    return number_text(value, 1 if abs(value) >= 2 or value == 0 else 2, short=True)


def _started(entry: Mapping[str, Any], names: Mapping[str, str]) -> Case:
    key = entry["criterion"]
    repeats = entry.get("judgements", 1)
    return Case(entry["item"], key, names.get(key, key), entry["judge"], entry["people"], repeats)


def _parts(entries: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return [(kind, int(number)) for kind, _, number in (e["item"].partition(":") for e in entries)]


def _items(entries: Iterable[Mapping[str, Any]], rubric: int) -> dict[int, LabelItem]:
    numbers = [number for kind, number in _parts(entries) if kind == "label"]
    rows = LabelItem.objects.filter(pk__in=numbers, label_set__rubric=rubric).select_related(
        "label_set", "round"
    )
    if hidden_runs():
        rows = rows.exclude(round__run__in=hidden_runs())
    rows = rows.annotate(start=Left("text", SEARCHED_CHARS)).defer("text", "round__candidate")
    return {row.pk: row for row in rows}


def _rounds(numbers: Sequence[int], rubric: int) -> dict[int, Round]:
    rows: QuerySet[Round] = Round.objects.filter(pk__in=numbers, run__rubric=rubric)
    rows = without_hidden(rows, "run").select_related("run")
    rows = rows.annotate(start=Left("candidate", SEARCHED_CHARS))
    rows = rows.defer("candidate", "run__task", "run__seed", "run__snapshot", "run__calibration")
    return {row.pk: row for row in rows}


def _round_ids(items: Mapping[int, LabelItem], rounds: Mapping[int, Round]) -> dict[int, str]:
    """The rounds whose verdicts may say why, with the name of their text."""
    own = {row.round_id: f"label:{row.pk}" for row in items.values() if row.round_id}
    return own | {number: f"round:{number}" for number in rounds}


def _labels(items: Mapping[int, LabelItem]) -> dict[int, list[Label]]:
    rows = Label.objects.filter(item__in=list(items), rater__judge_model="").select_related("rater")
    found: dict[int, list[Label]] = {}
    for row in rows.order_by("rater__name"):
        found.setdefault(row.item_id, []).append(row)
    return found


def _human_scores(rounds: Mapping[int, Round]) -> dict[int, list[HumanScore]]:
    found: dict[int, list[HumanScore]] = {}
    for row in HumanScore.objects.filter(round__in=list(rounds)):
        found.setdefault(row.round_id, []).append(row)
    return found


def _of_label(case: Case, row: LabelItem, labels: Sequence[Label]) -> None:
    case.task, case.task_type, case.key = row.task, row.task_type, row.key
    case.label_set, case.label_set_pk = row.label_set.name, row.label_set_id
    case.raters_wanted = 0 if row.label_set.archived_at else row.label_set.raters_wanted
    if row.round is not None:
        case.run, case.round = row.round.run_id, row.round.number
    for label in labels:
        if case.criterion in label.scores:
            score, reason = number_of(label.scores[case.criterion]), label.reasons.get(case.criterion, "")
            wrong = case.criterion in label.wrong
            case.opinions.append(
                Opinion(label.rater.name, score, reason or label.note, label.pk, wrong, label.rater.user_id)
            )
    _with_people(case)


def _of_round(case: Case, row: Round, scores: Sequence[HumanScore]) -> None:
    case.run, case.round, case.task_type = row.run_id, row.number, row.run.task_type
    case.key = row.run.title
    for score in scores:
        for entry in score.scores:
            if entry["key"] == case.criterion:
                value = number_of(entry["score"])
                reason = entry.get("reason", "") or score.note
                case.opinions.append(
                    Opinion(score.author_name, value, reason, author=score.author_id, human_score=score.pk)
                )
    _with_people(case)


def _with_people(case: Case) -> None:
    values = [each.score for each in case.opinions if each.score is not None and not each.wrong]
    if case.people is None and values:
        case.people = sum(values) / len(values)


def _with_judge(case: Case, said: Mapping[str, Said] | None) -> None:
    found = (said or {}).get(case.criterion)
    if found is None:
        return
    case.said = found.reasoning
    if case.judge is None:
        case.judge = found.score


def _titled(case: Case, start: str, title: str) -> None:
    """A passage that the judge or a person quotes, or how the text begins."""
    case.has_text = bool(start.strip())
    for passage in quotations(f"{case.said} {case.reason}"):
        if " ".join(passage.split()) in " ".join(start.split()):
            case.title, case.quoted = shortened(passage), True
            return
    lines = (line.strip().lstrip("#").strip() for line in start.splitlines())
    case.title = shortened(title or next((line for line in lines if line), "") or case.key)


def shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= TITLE_CHARS else f"{text[: TITLE_CHARS - 1].rstrip()}…"


def number_of(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def by_task_type(cases: Iterable[Case]) -> list[tuple[str, int]]:
    """How many disagreements each task type has, the most first; nothing if none has a type."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.task_type] = counts.get(case.task_type, 0) + 1
    if not any(counts):
        return []
    ordered = sorted(counts.items(), key=lambda entry: -entry[1])
    return [(name or UNLABELLED, count) for name, count in ordered]
