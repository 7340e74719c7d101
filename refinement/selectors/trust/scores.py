"""The scores that a judge and people gave to the same texts, gathered for a worker's statistics.

A judge's scores come from its measurements, from verdicts in runs, and from raters of label sets that are
marked as this judge. People's come from label sets and from their scores of rounds, for every version of the
rubric with the same scale. Each place is one query, whatever the number of texts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from refinement.engine.scoring import composite
from refinement.engine.types import Rubric
from refinement.models import HumanScore, JudgeRecord, Label, LabelItem, LabelSet
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.judgements import Judgement, family_of_round, judgements_of, round_composites

MOST_LABELS = 200_000  # of people and recorded judges; the newest count
COMPOSITE = "composite"
RECORDED = "recorded"  # the prompt of a judge that was recorded elsewhere
CHARS_A_WORD = 6  # lengths are stored as characters


class Text(NamedTuple):
    """A text that somebody scored."""

    key: str  # "label:ID", "round:ID" or "pasted:PROMPT"
    chars: int
    family: str  # of the model that wrote it; empty if unknown

    @property
    def words(self) -> float:
        return self.chars / CHARS_A_WORD


class Given(NamedTuple):
    """One rater's scores of one text by criterion, with the composite if no criterion is missing."""

    text: int  # its place in `texts`
    rater: int  # a person's place in `people`; a judge's number of the repeat
    scores: dict[str, float]
    prompt: str = ""  # judgements of one text by the same prompt are repeats; empty: never
    whole: float | None = None  # the composite with checks, where the judge's measurement has one


@dataclass(slots=True)
class Scores:
    """What is known about one judge. Lists, because the web process has no numpy."""

    rubric: Rubric
    texts: list[Text] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    by_people: list[Given] = field(default_factory=list)
    by_judge: list[Given] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)  # composites of all rounds that it judged
    wrong: int = 0  # scores that people marked as wrong

    @property
    def keys(self) -> list[str]:
        return [criterion.key for criterion in self.rubric.criteria]


def scores_of(record: JudgeRecord, *, label_set: LabelSet | None = None) -> Scores:
    """Everything that people and the judge scored, or only the texts of one label set."""
    gathering = Gathering(record)
    gathering.add_labels(label_sets_of(record, label_set))
    if label_set is None:
        gathering.add_human_scores()
    gathering.add_judgements(judgements_of(record, gathering.rounds, label_set))
    if label_set is None:
        gathering.found.rounds = round_composites(record)
    return gathering.found


def label_sets_of(record: JudgeRecord, only: LabelSet | None) -> dict[int, int]:
    """The label sets whose scores are on the version's scale, with their versions."""
    version = record.rubric_version
    sets = LabelSet.objects.filter(
        rubric_id=version.rubric_id,
        rubric_version__scale_minimum=version.scale_minimum,
        rubric_version__scale_maximum=version.scale_maximum,
    )
    sets = sets.filter(archived_at__isnull=True) if only is None else sets.filter(pk=only.pk)
    return dict(sets.values_list("pk", "rubric_version_id"))


class Gathering:
    """Collects scores by text. A round that is also a text of a label set is one text."""

    def __init__(self, record: JudgeRecord) -> None:
        self.record = record
        self.found = Scores(definition_of(record.rubric_version))
        self.keys = set(self.found.keys)
        self.label_items: dict[int, int] = {}  # primary keys to places in `texts`
        self.rounds: dict[int, int] = {}
        self.pasted: dict[str, int] = {}  # their prompts to places in `texts`
        self.people: dict[str, int] = {}
        self.repeats: dict[int, int] = {}  # places of texts to the number of judgements
        self.by_user: set[tuple[int, int]] = set()  # who labelled which text

    def add_labels(self, sets: dict[int, int]) -> None:
        rows = LabelItem.objects.filter(label_set__in=sets).order_by("pk")
        for pk, round_id, chars, family in rows.values_list("pk", "round", "text_chars", "producer_family"):
            place = self.rounds.get(round_id) if round_id else None
            self.label_items[pk] = self.place(f"label:{pk}", chars, family) if place is None else place
            if round_id:
                self.rounds[round_id] = self.label_items[pk]
        labels = Label.objects.filter(item__label_set__in=sets).select_related("rater").order_by("-pk")
        recorded = [] if self.record.is_board else self.recorded_sets(sets)
        for label in labels.only("item", "scores", "wrong", "rater")[:MOST_LABELS].iterator(2_000):
            rater, place = label.rater, self.label_items[label.item_id]
            scores = self.kept(label.scores, label.wrong)
            if not rater.is_judge:
                self.found.wrong += len(label.wrong)
                self.add_person(place, rater.user_id, rater.name, scores)
            elif rater.judge_model == self.record.model and rater.label_set_id in recorded:
                self.add_judgement(place, scores, RECORDED)

    def recorded_sets(self, sets: dict[int, int]) -> list[int]:
        """The sets whose recorded judges saw this version."""
        return [pk for pk, version in sets.items() if version == self.record.rubric_version_id]

    def add_human_scores(self) -> None:
        """People's scores of rounds, in runs of any version with the same scale."""
        version = self.record.rubric_version
        rows = HumanScore.objects.filter(
            run__rubric=version.rubric_id,
            run__rubric_version__scale_minimum=version.scale_minimum,
            run__rubric_version__scale_maximum=version.scale_maximum,
        ).order_by("-pk")
        columns = ("round", "author", "author_name", "scores", "round__candidate_chars")
        writer = ("round__origin", "run__producer_model", "run__producer_family")
        for round_id, user, name, given, chars, *wrote in rows.values_list(*columns, *writer)[:MOST_LABELS]:
            if round_id not in self.rounds:
                self.rounds[round_id] = self.place(f"round:{round_id}", chars, family_of_round(*wrote))
            scores = self.kept({entry["key"]: entry["score"] for entry in given}, ())
            self.add_person(self.rounds[round_id], user, name, scores)

    def add_person(self, place: int, user: int | None, name: str, scores: dict[str, float]) -> None:
        """A member's scores of the same text in a label set and in a run count once."""
        if not scores or (user is not None and (place, user) in self.by_user):
            return
        if user is not None:
            self.by_user.add((place, user))
        who = f"user:{user}" if user is not None else f"name:{name}"
        if who not in self.people:
            self.people[who] = len(self.found.people)
            self.found.people.append(name)
        self.found.by_people.append(Given(place, self.people[who], scores))

    def add_judgements(self, judgements: Iterable[Judgement]) -> None:
        for entry in judgements:
            place = self.label_items.get(entry.label_item or 0)
            if place is None and entry.round:
                if entry.round not in self.rounds:
                    self.rounds[entry.round] = self.place(f"round:{entry.round}", entry.chars, entry.family)
                place = self.rounds[entry.round]
            elif place is None and entry.label_item is None:
                # Nobody labels pasted texts; they show the judge's noise.
                if entry.prompt not in self.pasted:
                    self.pasted[entry.prompt] = self.place(f"pasted:{entry.prompt}", entry.chars, "")
                place = self.pasted[entry.prompt]
            if place is not None:
                self.add_judgement(place, self.kept(entry.scores, ()), entry.prompt, entry.composite)

    def add_judgement(
        self, place: int, scores: dict[str, float], prompt: str, whole: float | None = None
    ) -> None:
        if scores:
            number = self.repeats.get(place, 0)
            self.repeats[place] = number + 1
            self.found.by_judge.append(Given(place, number, scores, prompt, whole))

    def place(self, key: str, chars: int, family: str) -> int:
        self.found.texts.append(Text(key, chars, family))
        return len(self.found.texts) - 1

    def kept(self, given: Mapping[str, Any], wrong: Iterable[str]) -> dict[str, float]:
        """The scores of this version's criteria, with the composite if there is one for each."""
        exact = {key: number(given[key]) for key in given if key in self.keys and key not in set(wrong)}
        known = {key: score for key, score in exact.items() if score is not None}
        scores = {key: float(score) for key, score in known.items()}
        if self.keys and len(known) == len(self.keys):
            scores[COMPOSITE] = float(composite(self.found.rubric, known, ()))
        return scores


def number(value: Any) -> Decimal | None:
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None
