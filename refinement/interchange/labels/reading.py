"""Reads ratings and texts, and checks them against a rubric's criteria and scale.

All problems of both files are reported at once, each with its line.
"""

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

from refinement.engine.types import Scale
from refinement.interchange.imports.fields import NUMBER, brief
from refinement.interchange.labels.tables import Row, Table, kind_of, table_read
from refinement.interchange.labels.types import (
    ITEM_FIELDS,
    KEY_CHARS,
    MODEL_CHARS,
    MOST_CHARS_TOGETHER,
    MOST_ITEMS,
    MOST_RATERS,
    MOST_RATINGS,
    MOST_TEXT_CHARS,
    NAME_CHARS,
    RATING_EXTRAS,
    RATING_FIELDS,
    REASON_CHARS,
    TASK_TYPE_CHARS,
    BadLabels,
    ItemText,
    LabelFiles,
    Rating,
    name_cleaned,
    text_cleaned,
)
from refinement.judging.schema import plain, scale_in_words
from refinement.texts import label

RATING_ALIASES = {
    "id": "item",
    "item_id": "item",
    "dimension": "criterion",
    "annotator": "rater",
    "worker": "rater",
    "rating": "score",
    "value": "score",
    "judge_model": "judge",
}
ITEM_ALIASES = {"id": "item", "item_id": "item", "output": "text", "prompt": "task", "type": "task_type"}
YES, NO = ("yes", "true", "1"), ("", "no", "false", "0")


def label_files_read(
    *,
    scale: Scale,
    criteria: Collection[str],
    ratings: str = "",
    ratings_name: str = "",
    items: str = "",
    items_name: str = "",
    judges: Mapping[str, str] | None = None,
) -> LabelFiles:
    """The content of the files, either of which may be empty.

    `judges` has the models of raters that are judges. Raises BadLabels with all problems of both files.
    """
    rated, texts = RatingReader(scale, criteria, judges or {}), ItemReader()
    if ratings.strip() or not items.strip():
        rated.read(ratings, kind_of(ratings, ratings_name))
    if items.strip():
        texts.read(items, kind_of(items, items_name))
    if rated.table.problems or texts.table.problems:
        raise BadLabels(rated.table.problems, texts.table.problems)
    return LabelFiles(rated.found, texts.found, (*rated.table.unused, *texts.table.unused))


class RatingReader:
    """Reads a ratings file."""

    def __init__(self, scale: Scale, criteria: Collection[str], judges: Mapping[str, str]) -> None:
        self.table, self.scale, self.judges = Table(), scale, judges
        self.criteria = tuple(criteria)
        self.found: list[Rating] = []
        self.lines: dict[tuple[str, str, str], int] = {}  # of each item, criterion and rater
        self.names: dict[tuple[str, str], str] = {}  # cleaned names, of which most are repeated
        self.scores: dict[str, Decimal | str] = {}  # by the file's words; a text says what is wrong

    def read(self, source: str, kind: str) -> None:
        known = (*RATING_FIELDS, *RATING_EXTRAS)
        self.table = table_read(source, kind, RATING_FIELDS, known, RATING_ALIASES)
        for row in self.table.rows:
            self._row(row)
        line = self.table.rows[-1][0] if self.table.rows else 1
        self._limits(line)

    def _limits(self, line: int) -> None:
        for count, most, what in (
            (len(self.table.rows), MOST_RATINGS, "ratings"),
            (len({rating.item for rating in self.found}), MOST_ITEMS, "items"),
            (len({rating.rater for rating in self.found}), MOST_RATERS, "raters"),
        ):
            if count > most:
                self.table.add(line, f"The file has {count:,} {what}; {most:,} are allowed. Split it.")
        raters = {rating.rater for rating in self.found}
        if self.table.rows and (unknown := [name for name in self.judges if name not in raters]):
            shown = ", ".join(brief(name) for name in sorted(raters)[:20])
            for name in unknown:
                self.table.add(1, f"The judge rater {brief(name)} is not in the file. Raters: {shown}.")

    def _row(self, row: Row) -> None:
        line, cells = row
        before = len(self.table.problems)
        item = self._name(line, cells, "item", KEY_CHARS)
        criterion = self._criterion(line, cells)
        rater = self._name(line, cells, "rater", NAME_CHARS)
        score = self._score(line, cells)
        reason = text_cleaned(cells.get("reason", "")).strip()
        if len(reason) > REASON_CHARS:
            self.table.add(line, f"A reason can have at most {REASON_CHARS:,} characters.")
        judge = self._judge(line, cells, rater)
        wrong = self._flag(line, cells)
        if len(self.table.problems) > before:
            return
        place = (item, criterion, rater)
        if place in self.lines:
            self.table.add(
                line,
                f"{brief(rater)} has rated {criterion} of item {brief(item)} already on line "
                f"{self.lines[place]}. Remove one of the lines.",
            )
            return
        self.lines[place] = line
        self.found.append(Rating(line, item, criterion, rater, score, reason, judge, wrong))

    def _name(self, line: int, cells: Mapping[str, str], field: str, most: int) -> str:
        given = cells.get(field, "")
        key = (field, given)
        if key not in self.names:
            self.names[key] = name_cleaned(given)
        name = self.names[key]
        if not name:
            self.table.add(line, f"The {field} is missing.")
        elif len(name) > most:
            self.table.add(line, f"The {field} has {len(name):,} characters; {most} are allowed.")
        return name

    def _criterion(self, line: int, cells: Mapping[str, str]) -> str:
        name = self._name(line, cells, "criterion", KEY_CHARS)
        if name and name not in self.criteria:
            self.table.add(
                line,
                f"The rubric has no criterion {brief(name)}. Its criteria: {', '.join(self.criteria)}.",
            )
        return name

    def _score(self, line: int, cells: Mapping[str, str]) -> Decimal:
        given = cells.get("score", "").strip()
        if given not in self.scores:
            self.scores[given] = self._score_read(given)
        score = self.scores[given]
        if isinstance(score, str):
            self.table.add(line, score)
            return Decimal(0)
        return score

    def _score_read(self, given: str) -> Decimal | str:
        if not given:
            return "The score is missing. Remove the line if the rater gave none."
        if not NUMBER.match(given):
            return f"The score must be a number, not {brief(given)}."
        score = Decimal(given)
        if not self.scale.admits(score):
            return f"The score {plain(score)} is not on the rubric's scale: {scale_in_words(self.scale)}."
        return score

    def _judge(self, line: int, cells: Mapping[str, str], rater: str) -> str:
        stated = name_cleaned(cells.get("judge", ""))
        named = self.judges.get(rater, "")
        if stated and named and stated != named:
            self.table.add(line, f"{brief(rater)} is the judge {brief(stated)} here, not {brief(named)}.")
        if len(stated) > MODEL_CHARS:
            self.table.add(line, f"A judge's model can have at most {MODEL_CHARS} characters.")
        return named or stated

    def _flag(self, line: int, cells: Mapping[str, str]) -> bool:
        given = cells.get("wrong", "").strip().lower()
        if given not in (*YES, *NO):
            self.table.add(line, f"wrong must be yes or empty, not {brief(given)}.")
        return given in YES


class ItemReader:
    """Reads an items file."""

    def __init__(self) -> None:
        self.table = Table()
        self.found: list[ItemText] = []
        self.lines: dict[str, int] = {}

    def read(self, source: str, kind: str) -> None:
        self.table = table_read(source, kind, ITEM_FIELDS[:2], ITEM_FIELDS, ITEM_ALIASES)
        for line, cells in self.table.rows:
            self._row(line, cells)
        last = self.table.rows[-1][0] if self.table.rows else 1
        if len(self.table.rows) > MOST_ITEMS:
            self.table.add(
                last, f"The file has {len(self.table.rows):,} items; {MOST_ITEMS:,} are allowed. Split it."
            )
        total = sum(len(item.text) + len(item.task) for item in self.found)
        if total > MOST_CHARS_TOGETHER:
            self.table.add(
                last,
                f"The texts have {total:,} characters together; {MOST_CHARS_TOGETHER:,} are allowed.",
            )

    def _row(self, line: int, cells: Mapping[str, str]) -> None:
        before = len(self.table.problems)
        key = name_cleaned(cells.get("item", ""))
        text, task = text_cleaned(cells.get("text", "")), text_cleaned(cells.get("task", ""))
        task_type = label(cells.get("task_type", ""))
        if not key:
            self.table.add(line, "The item is missing.")
        elif key in self.lines:
            self.table.add(line, f"The item {brief(key)} is already on line {self.lines[key]}.")
        if not text:
            self.table.add(line, "The text is empty.")
        for name, value, most in (
            ("item", key, KEY_CHARS),
            ("text", text, MOST_TEXT_CHARS),
            ("task", task, MOST_TEXT_CHARS),
            ("task type", task_type, TASK_TYPE_CHARS),
        ):
            if len(value) > most:
                self.table.add(line, f"The {name} has {len(value):,} characters; {most:,} are allowed.")
        self.lines.setdefault(key, line)
        if len(self.table.problems) == before:
            self.found.append(ItemText(line, key, text, task, task_type))


def judge_raters_read(given: Sequence[str]) -> dict[str, str]:
    """Raters and their models from `RATER=MODEL` options. Raises ValueError."""
    judges: dict[str, str] = {}
    for entry in given:
        rater, _, model = entry.rpartition("=")
        rater, model = name_cleaned(rater), name_cleaned(model)
        if not rater or not model:
            raise ValueError(f"{entry!r} is not RATER=MODEL; write it like gpt-4#1=gpt-4.")
        if len(model) > MODEL_CHARS:
            raise ValueError(f"a judge's model can have at most {MODEL_CHARS} characters.")
        if rater in judges:
            raise ValueError(f"the judge rater {rater!r} is given twice.")
        judges[rater] = model
    return judges
