"""Judged rounds for a rubric's calibration example and for prompt previews."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet
from django.db.models.functions import Left

from refinement.judging.length import shorten
from refinement.models import HumanScore, LabelItem, Project, Round, Rubric, RubricVersion, Run
from refinement.selectors.reviews.blindness import hidden_runs, shown_runs, without_hidden
from refinement.selectors.score_words import composite_text

LISTED_RUNS = 20
LISTED_ROUNDS = 100
TASK_CHARS = 60
OPENING_CHARS = 200  # tasks can be long; a list shows only the start


@dataclass(frozen=True, slots=True)
class RunChoice:
    """A run as a form choice."""

    pk: int
    label: str


@dataclass(frozen=True, slots=True)
class RoundChoice:
    """A judged round as a form choice; `value` identifies it."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A text with its scores: a person's, or the judge's before penalties. Of a round, or of a label set."""

    run: int
    number: int
    text: str
    scores: dict[str, Decimal]
    scored_by: str = ""  # empty: the judge
    label_set: str = ""  # then there is no run

    @property
    def place(self) -> str:
        return f"label set {self.label_set}" if self.label_set else f"round {self.number} of run {self.run}"


def runs_with_rounds(project: Project, also: Run | None = None) -> list[RunChoice]:
    """The project's newest runs with a text, newest first, plus `also` if it is older."""
    rows = shown_runs(project).filter(rounds__number=1).order_by("-id")
    listed = list(_described(rows)[:LISTED_RUNS])
    if also is not None and also.pk not in {row[0] for row in listed}:
        listed += _described(shown_runs(project).filter(pk=also.pk))
    return [
        RunChoice(pk, f"Run {pk}: {shorten(opening, TASK_CHARS)} ({name}, version {number}; {judged} judged)")
        for pk, opening, judged, name, number in listed
    ]


def _described(rows: QuerySet[Run]) -> QuerySet[Run, tuple[int, str, int, str, int]]:
    opened = rows.annotate(opening=Left("task", OPENING_CHARS))
    return opened.values_list(
        "pk", "opening", "rounds_judged", "rubric_version__name", "rubric_version__number"
    )


def judged_rounds(rubric: Rubric) -> list[tuple[str, list[RoundChoice]]]:
    """Judged rounds of the newest runs with this rubric, grouped by run."""
    runs = shown_runs(rubric.project).filter(rubric_version__rubric=rubric).order_by("-id")
    openings = runs.annotate(opening=Left("task", OPENING_CHARS)).values_list("pk", "opening")
    named = dict(openings[:LISTED_RUNS])
    rows = (
        Round.objects.filter(run__in=list(named), judged_at__isnull=False)
        .order_by("-run_id", "number")
        .values_list("run_id", "number", "composite", "run__rubric_version__policy__composite_decimals")
    )[:LISTED_ROUNDS]
    grouped: dict[int, list[RoundChoice]] = {}
    for run, number, composite, decimals in rows:
        label = f"Run {run}, round {number}, score {composite_text(composite or Decimal(0), decimals)}"
        grouped.setdefault(run, []).append(RoundChoice(f"{run}-{number}", label))
    return [(f"Run {run}: {shorten(named[run], TASK_CHARS)}", choices) for run, choices in grouped.items()]


def judged_text(rubric: Rubric, value: str) -> JudgedText | None:
    """The round that a form value names, if it is a judged round of this rubric."""
    run, _, number = value.partition("-")
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in (run, number)):
        return None
    rows: QuerySet[Round] = Round.objects.filter(
        run_id=int(run),
        number=int(number),
        run__project=rubric.project,
        run__rubric_version__rubric=rubric,
        judged_at__isnull=False,
    ).prefetch_related("verdicts")
    row = without_hidden(rows, "run").first()
    return None if row is None else JudgedText(int(run), int(number), row.candidate, said_scores(row))


def scored_text(rubric: Rubric, value: str) -> JudgedText | None:
    """The round of a person's score with this id, if it belongs to a run of this rubric."""
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        return None
    rows = HumanScore.objects.filter(
        pk=int(value), run__project=rubric.project, run__rubric_version__rubric=rubric
    ).select_related("round")
    score = without_hidden(rows, "run").first()
    if score is None:
        return None
    scores = {entry["key"]: Decimal(entry["score"]) for entry in score.scores}
    row = score.round
    return JudgedText(score.run_id, row.number, row.candidate, scores, score.author_name)


def labelled_text(rubric: Rubric, value: str) -> JudgedText | None:
    """The text of a label set with this id, with the mean of people's scores on the rubric's scale."""
    if not (value.isascii() and value.isdigit() and len(value) < 18):
        return None
    rows = LabelItem.objects.filter(pk=int(value), label_set__rubric=rubric, text_chars__gt=0)
    if hidden_runs():
        rows = rows.exclude(round__run__in=hidden_runs())
    row = rows.select_related("label_set__rubric_version").first()
    if row is None:
        return None
    given: dict[str, list[Decimal]] = {}
    for label in row.labels.filter(rater__judge_model=""):
        for key, score in label.scores.items():
            if key not in label.wrong:
                given.setdefault(key, []).append(Decimal(str(score)))
    version = row.label_set.rubric_version
    scores = {key: on_scale(sum(values, Decimal(0)) / len(values), version) for key, values in given.items()}
    people = max((len(values) for values in given.values()), default=0)
    by = f"{people} people" if people > 1 else "a person"
    return JudgedText(0, 0, row.text, scores, by, row.label_set.name)


def on_scale(value: Decimal, version: RubricVersion) -> Decimal:
    """The nearest score that the version's scale has."""
    step = version.scale_step or Decimal("0.1")
    steps = ((value - version.scale_minimum) / step).to_integral_value()
    return version.scale_minimum + steps * step


def said_scores(row: Round) -> dict[str, Decimal]:
    """The single judge's scores before penalties; with several judges, their combined scores."""
    verdicts = list(row.verdicts.all())
    if len(verdicts) == 1:
        return {entry["key"]: Decimal(entry["score"]) for entry in verdicts[0].scores}
    return {key: Decimal(score) for key, score in (row.scores or {}).items()}
