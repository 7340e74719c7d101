"""Imports ratings and texts into a label set, in a fixed number of queries for each batch of rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils import timezone

from refinement.interchange.imports.fields import brief
from refinement.interchange.labels.reading import label_files_read
from refinement.interchange.labels.types import (
    MOST_ITEMS,
    BadLabels,
    ItemText,
    LabelFiles,
    Rating,
    name_cleaned,
)
from refinement.interchange.rubrics.yaml_reading import Problem
from refinement.judging.schema import plain
from refinement.models import Label, LabelItem, LabelRater, LabelSet, Project, RubricVersion, User
from refinement.selectors.rubrics.definitions import definition_of, version_named
from refinement.services.trust.judges import judge_ensure, trust_refresh_rubric
from refinement.services.trust.label_items import item_row
from refinement.services.trust.labels import label_set_create, labels_audited

BATCH = 1_000


class WrongSet(ValueError):
    """The label set cannot take the import, such as a set of another rubric."""


@dataclass(frozen=True, slots=True)
class LabelImport:
    """What an import did, or would do. `notes` are for people."""

    dry_run: bool
    name: str
    label_set: int | None  # null for a dry run of a new set
    new_set: bool
    rubric: str
    version: int
    items_new: int
    items_filled: int  # got the text that was missing
    items_known: int
    items_without_text: int
    raters: tuple[tuple[str, str, int], ...]  # name, a judge's model, texts it rated in the file
    labels_new: int
    labels_changed: int
    labels_unchanged: int
    scores: int  # in the file
    scores_by_criterion: dict[str, int]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        raters = [{"name": name, "judge": judge, "items": items} for name, judge, items in self.raters]
        return {**asdict(self), "raters": raters, "notes": list(self.notes)}


@dataclass(slots=True)
class Given:
    """One rater's scores of one item in the file."""

    line: int
    scores: dict[str, str]
    reasons: dict[str, str]
    wrong: list[str]


@dataclass(frozen=True, slots=True)
class FileText:
    """An uploaded file. Its name tells CSV from JSON Lines; without one, its first character does."""

    text: str = ""
    name: str = ""


def label_files_import(
    *,
    project: Project,
    rubric: str,
    name: str,
    ratings: FileText,
    items: FileText | None = None,
    judges: Mapping[str, str] | None = None,
    user: User | None = None,
    dry_run: bool = False,
    raters_wanted: int = 2,
) -> LabelImport:
    """Read the files and import them. `rubric` is a slug or slug@version; a set keeps its own version.

    `judges` has the models of raters that are judges. Raises RubricNotFound, BadLabels, WrongSet and
    ValidationError.
    """
    items = items or FileText()
    version = import_version(project, rubric, name)
    definition = definition_of(version)
    files = label_files_read(
        scale=definition.scale,
        criteria=[criterion.key for criterion in definition.criteria],
        ratings=ratings.text,
        ratings_name=ratings.name,
        items=items.text,
        items_name=items.name,
        judges=judges,
    )
    return label_import(
        project=project,
        version=version,
        name=name,
        files=files,
        user=user,
        dry_run=dry_run,
        raters_wanted=raters_wanted,
    )


def import_version(project: Project, reference: str, name: str) -> RubricVersion:
    """The version whose criteria and scale count. Raises RubricNotFound and WrongSet."""
    version = version_named(project, reference)
    found = LabelSet.objects.filter(
        project=project, name=name_cleaned(name), rubric=version.rubric_id
    ).first()
    if found is None or found.rubric_version_id == version.pk:
        return version
    own = found.rubric_version
    if "@" in reference:
        raise WrongSet(
            f"The label set {found.name!r} is for version {own.number} of {version.rubric.slug}. "
            "Choose another name for the set, or leave the version out."
        )
    return own


def label_import(
    *,
    project: Project,
    version: RubricVersion,
    name: str,
    files: LabelFiles,
    user: User | None = None,
    dry_run: bool = False,
    raters_wanted: int = 2,
) -> LabelImport:
    """Import into the project's set of this name, created if there is none. A dry run saves nothing.

    Raises BadLabels with all conflicts by line, WrongSet, and ValidationError.
    """
    with transaction.atomic():
        result = _imported(project, version, name, files, user, raters_wanted, dry_run=dry_run)
        if dry_run:
            transaction.set_rollback(True)
    return result


def _imported(
    project: Project,
    version: RubricVersion,
    name: str,
    files: LabelFiles,
    user: User | None,
    raters_wanted: int,
    *,
    dry_run: bool,
) -> LabelImport:
    found, is_new = _set_named(project, version, name, user, raters_wanted)
    work = Import(found, files, version)
    work.check()
    if not dry_run:
        work.save()
        work.judges_saved()
        counts = {"texts": len(work.new_items), "labels": len(work.new), "changed": len(work.changed)}
        labels_audited("labels.import", found, user, after={**counts, "ratings": len(files.ratings)})
        trust_refresh_rubric(found.rubric)
    return work.result(is_new=is_new, dry_run=dry_run)


def _set_named(
    project: Project, version: RubricVersion, name: str, user: User | None, raters_wanted: int
) -> tuple[LabelSet, bool]:
    found = LabelSet.objects.select_for_update().filter(project=project, name=name_cleaned(name)).first()
    if found is None:
        made = label_set_create(
            project=project, version=version, name=name, raters_wanted=raters_wanted, user=user
        )
        return made, True
    if found.rubric_id != version.rubric_id:
        raise WrongSet(
            f"The label set {found.name!r} belongs to the rubric {found.rubric.slug}, not to "
            f"{version.rubric.slug}. Choose another name."
        )
    if found.archived_at is not None:
        raise WrongSet(f"The label set {found.name!r} is archived. Unarchive it, or choose another name.")
    return found, False


class Import:
    """The rows that an import adds and changes."""

    def __init__(self, label_set: LabelSet, files: LabelFiles, version: RubricVersion) -> None:
        self.label_set, self.files, self.version = label_set, files, version
        known = label_set.items.defer("text", "task")
        self.items = {row.key: row for row in known}
        self.raters = {row.name: row for row in label_set.raters.all()}
        self.given = given_by(files.ratings)
        self.new_items: list[LabelItem] = []
        self.filled: list[LabelItem] = []
        self.new: list[Label] = []
        self.changed: list[Label] = []
        self.unchanged = 0
        self.wrong_ratings: list[Problem] = []
        self.wrong_items: list[Problem] = []

    def check(self) -> None:
        """Plan all rows. Raises BadLabels with all conflicts."""
        self._plan_items()
        self._plan_raters()
        self._plan_labels()
        if self.wrong_ratings or self.wrong_items:
            raise BadLabels(self.wrong_ratings, self.wrong_items)

    def _plan_items(self) -> None:
        texts = {item.item: item for item in self.files.items}
        wanted = dict.fromkeys(rating.item for rating in self.files.ratings) | dict.fromkeys(texts)
        position = max((row.position for row in self.items.values()), default=0)
        for key in wanted:
            text = texts.get(key) or ItemText(0, key, "")
            row = self.items.get(key)
            if row is None:
                position += 1
                self.items[key] = row = item_row(self.label_set, position, text)
                self.new_items.append(row)
            elif text.text:
                self._fill(row, text)
        if len(self.items) > MOST_ITEMS:
            self.wrong_ratings.append(
                Problem(1, f"The set would have {len(self.items):,} items; {MOST_ITEMS:,} are allowed.")
            )

    def _fill(self, row: LabelItem, text: ItemText) -> None:
        made = item_row(self.label_set, row.position, text)
        if row.text_sha256 == made.text_sha256:
            return
        if row.text_sha256:
            message = f"The set has another text for the item {brief(row.key)}. Give this one another name."
            self.wrong_items.append(Problem(text.line, message))
            return
        made.pk, made.round_id = row.pk, row.round_id
        self.items[row.key] = made
        self.filled.append(made)

    def _plan_raters(self) -> None:
        first: dict[str, Rating] = {}
        for rating in self.files.ratings:
            before = first.setdefault(rating.rater, rating)
            if before.judge != rating.judge:
                message = f"{brief(rating.rater)} is {judge_words(before.judge)} on line {before.line}."
                self.wrong_ratings.append(Problem(rating.line, message))
        for name, rating in first.items():
            row = self.raters.get(name)
            if row is None:
                self.raters[name] = LabelRater(label_set=self.label_set, name=name, judge_model=rating.judge)
            elif row.judge_model != rating.judge:
                message = f"In this set, {brief(name)} is {judge_words(row.judge_model)}."
                self.wrong_ratings.append(Problem(rating.line, message))

    def _plan_labels(self) -> None:
        existing = self._existing()
        now = timezone.now()
        for (key, name), given in self.given.items():
            item, rater = self.items[key], self.raters[name]
            row = existing.get((item.pk, rater.pk)) if item.pk and rater.pk else None
            if row is None:
                if rater.user_id is not None:
                    self._refuse_member(given.line, name)
                    continue
                self.new.append(
                    Label(
                        item=item, rater=rater, scores=given.scores, reasons=given.reasons, wrong=given.wrong
                    )
                )
            elif merged(row, given):
                if rater.user_id is not None:
                    self._refuse_member(given.line, name)
                row.pk, row.version, row.changed_at = None, row.version + 1, now
                self.changed.append(row)
            else:
                self.unchanged += 1

    def _refuse_member(self, line: int, name: str) -> None:
        message = f"{brief(name)} is a member who labels here, so only they can change their labels."
        self.wrong_ratings.append(Problem(line, message))

    def _existing(self) -> dict[tuple[int, int], Label]:
        raters = {row.pk for name, row in self.raters.items() if row.pk is not None}
        if not raters or not self.given:
            return {}
        rows = Label.objects.filter(rater__in=raters)
        return {(row.item_id, row.rater_id): row for row in rows.iterator(BATCH)}

    def save(self) -> None:
        """Write the planned rows."""
        LabelItem.objects.bulk_create(self.new_items, batch_size=BATCH)
        texts = ["title", "task", "task_type", "text", "text_chars", "text_sha256"]
        LabelItem.objects.bulk_update(self.filled, texts, batch_size=100)
        LabelRater.objects.bulk_create([row for row in self.raters.values() if row.pk is None])
        Label.objects.bulk_create(self.new, batch_size=BATCH)
        # An upsert: for many rows, it is far faster than an update with a case for each.
        Label.objects.bulk_create(
            self.changed,
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=["item", "rater"],
            update_fields=["scores", "reasons", "wrong", "version", "changed_at"],
        )

    def judges_saved(self) -> None:
        """Have a record of each judge, so that it has a trust page."""
        models = {rating.judge for rating in self.files.ratings if rating.judge}
        for model in sorted(models):
            judge_ensure(project=self.label_set.project, version=self.version, model=model)

    def result(self, *, is_new: bool, dry_run: bool) -> LabelImport:
        rated: dict[str, int] = {}
        for _, name in self.given:
            rated[name] = rated.get(name, 0) + 1
        by_criterion: dict[str, int] = {}
        for rating in self.files.ratings:
            by_criterion[rating.criterion] = by_criterion.get(rating.criterion, 0) + 1
        order = [criterion.key for criterion in definition_of(self.version).criteria]
        without_text = sum(not row.text_sha256 for row in self.items.values())
        return LabelImport(
            dry_run=dry_run,
            name=self.label_set.name,
            label_set=None if dry_run and is_new else self.label_set.pk,
            new_set=is_new,
            rubric=self.version.rubric.slug,
            version=self.version.number,
            items_new=len(self.new_items),
            items_filled=len(self.filled),
            items_known=len(self.items) - len(self.new_items),
            items_without_text=without_text,
            raters=tuple((name, self.raters[name].judge_model, count) for name, count in rated.items()),
            labels_new=len(self.new),
            labels_changed=len(self.changed),
            labels_unchanged=self.unchanged,
            scores=len(self.files.ratings),
            scores_by_criterion={key: by_criterion[key] for key in order if key in by_criterion},
            notes=(*self.files.notes, *text_notes(without_text)),
        )


def given_by(ratings: Sequence[Rating]) -> Mapping[tuple[str, str], Given]:
    """The file's scores by item and rater."""
    found: dict[tuple[str, str], Given] = {}
    for rating in ratings:
        given = found.get((rating.item, rating.rater))
        if given is None:
            given = found[rating.item, rating.rater] = Given(rating.line, {}, {}, [])
        given.scores[rating.criterion] = plain(rating.score)
        if rating.reason:
            given.reasons[rating.criterion] = rating.reason
        if rating.wrong:
            given.wrong.append(rating.criterion)
    return found


def merged(row: Label, given: Given) -> bool:
    """Take the file's scores over into the label. False if it has them already."""
    scores, reasons = {**row.scores, **given.scores}, {**row.reasons, **given.reasons}
    # A file cannot take back that a label was wrong, unless its score is another one.
    kept = [key for key in row.wrong if scores[key] == row.scores.get(key)]
    wrong = [*kept, *(key for key in given.wrong if key not in kept)]
    if (scores, reasons, wrong) == (row.scores, row.reasons, row.wrong):
        return False
    row.scores, row.reasons, row.wrong = scores, reasons, wrong
    return True


def judge_words(model: str) -> str:
    return f"the judge {model}" if model else "a person"


def text_notes(without_text: int) -> list[str]:
    if not without_text:
        return []
    what = "1 item has" if without_text == 1 else f"{without_text:,} items have"
    return [f"{what} no text. They count for agreement, but nobody can label or judge them again."]
