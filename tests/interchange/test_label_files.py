"""Ratings and texts as files: every problem has its line, and an export can be imported unchanged."""

import csv
from decimal import Decimal

import pytest

from refinement.engine.types import Scale
from refinement.interchange.labels import types
from refinement.interchange.labels.reading import judge_raters_read, label_files_read
from refinement.interchange.labels.tables import kind_of
from refinement.interchange.labels.types import BadLabels, ItemText, Rating
from refinement.interchange.labels.writing import (
    items_to_csv,
    items_to_jsonl,
    ratings_to_csv,
    ratings_to_jsonl,
)
from refinement.models import Label, LabelItem, LabelRater, LabelSet

SCALE = Scale(Decimal(1), Decimal(5), Decimal(1))
HEAD = "item,criterion,rater,score\n"


def read(ratings="", items="", **options):
    given = {"scale": SCALE, "criteria": ("clarity", "depth"), **options}
    return label_files_read(ratings=ratings, items=items, **given)


def problems(ratings="", items="", **options):
    with pytest.raises(BadLabels) as caught:
        read(ratings, items, **options)
    return [str(problem) for problem in caught.value.problems]


def test_csv_and_json_lines_read_the_same():
    expected = [Rating(2, "a", "clarity", "Ada", Decimal(4)), Rating(3, "a/1", "depth", "Ada B", Decimal(5))]
    assert read(HEAD + "a,clarity,Ada,4\n a/1 ,depth,Ada  B,5.0\n\n").ratings == expected
    lines = '\n{"item": "a", "criterion": "clarity", "rater": "Ada", "score": 4}\n'
    lines += '{"item": "a/1", "criterion": "depth", "rater": "Ada B", "score": "5"}\n'
    assert read(lines).ratings == expected
    semicolons = "\ufeffID;Dimension;Annotator;Rating;Mood\r\na;clarity;Ada;4;good\r\na/1;depth;Ada B;5;\r\n"
    found = read(semicolons)
    assert found.ratings == expected
    assert found.notes == ("The column 'Mood' is not used.",)


def test_everything_wrong_is_reported_at_once_with_its_line():
    source = HEAD + (
        "a,clarity,Ada,6\na,clarity,Ada,2.5\na,clarity,Ada,good\na,clarity,Ada,\na,tone,Ada,3\n"
        ",clarity,,3\nb,clarity,Ada,3\nb,clarity,Ada,4\nb,clarity,Ben,3,4,5\n"
    )
    assert problems(
        source, '{"item": "a", "text": " "}\n{"item": "a", "text": "x"}\n{"item": 1}\n[]\nnope'
    ) == [
        "Line 1: Items: The text is empty.",
        "Line 2: Items: The item 'a' is already on line 1.",
        "Line 2: The score 6 is not on the rubric's scale: whole numbers from 1 to 5.",
        "Line 3: Items: Keys are missing: text.",
        "Line 3: The score 2.5 is not on the rubric's scale: whole numbers from 1 to 5.",
        "Line 4: Items: This line is not a JSON object with the keys item, text.",
        "Line 4: The score must be a number, not 'good'.",
        "Line 5: Items: This line is not a JSON object: Expecting value.",
        "Line 5: The score is missing. Remove the line if the rater gave none.",
        "Line 6: The rubric has no criterion 'tone'. Its criteria: clarity, depth.",
        "Line 7: The item is missing.",
        "Line 7: The rater is missing.",
        "Line 9: 'Ada' has rated clarity of item 'b' already on line 8. Remove one of the lines.",
        "Line 10: This row has more cells than there are columns. Is a quote missing?",
    ]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "The file is empty."),
        (HEAD, "no rows below"),
        ("item,score\na,1\n", "2 columns are missing: criterion, rater."),
        ("item,item,criterion,rater,score\n", "Two columns are item"),
        (HEAD + 'a,"clarity,Ada,4\n', "not valid CSV"),
        (HEAD + f"{'k' * 201},clarity,Ada,4\n", "201 characters; 200 are allowed"),
        (HEAD + "a,clarity,Ada,1e3\n", "must be a number"),
        ("item,criterion,rater,score,wrong\na,clarity,Ada,4,perhaps\n", "wrong must be yes or empty"),
        (
            '{"item": {}, "criterion": "clarity", "rater": "A", "score": 1}',
            "item has to be a text or a number",
        ),
    ],
)
def test_a_bad_file_says_what_is_wrong(source, words):
    assert words in problems(source)[0]


def test_many_problems_are_shortened():
    found = problems(HEAD + "a,clarity,Ada,9\n" * 500)
    assert len(found) == types.MOST_PROBLEMS + 1
    assert found[-1].endswith("300 more problems follow. Fix these first.")


@pytest.mark.parametrize("limit", ["MOST_RATINGS", "MOST_ITEMS", "MOST_RATERS"])
def test_limits(monkeypatch, limit):
    monkeypatch.setattr(f"refinement.interchange.labels.reading.{limit}", 1)
    assert "1 are allowed" in problems(HEAD + "a,clarity,Ada,4\nb,clarity,Ben,4\n")[0]


def test_a_file_beyond_the_limit_is_refused(monkeypatch):
    monkeypatch.setattr("refinement.interchange.labels.tables.MAX_BYTES", 10)
    assert "larger than the limit of 10 bytes" in problems(HEAD)[0]


def test_judge_raters_have_to_be_in_the_file():
    found = read(HEAD + "a,clarity,gpt#1,4\na,clarity,Ada,4\n", judges={"gpt#1": "gpt-4"})
    assert [rating.judge for rating in found.ratings] == ["gpt-4", ""]
    [problem] = problems(HEAD + "a,clarity,Ada,4\n", judges={"gpt#1": "gpt-4"})
    assert problem == "Line 1: The judge rater 'gpt#1' is not in the file. Raters: 'Ada'."


def test_judge_rater_options():
    assert judge_raters_read(["gpt=4#1=gpt-4", "b=c"]) == {"gpt=4#1": "gpt-4", "b": "c"}
    for wrong in (["gpt"], ["=a"], ["a="], ["a=b", "a=c"]):
        with pytest.raises(ValueError, match=r"RATER=MODEL|twice"):
            judge_raters_read(wrong)


def test_an_export_reads_the_same_and_has_no_formulas():
    scale = Scale(Decimal(-5), Decimal(5))
    rating = Rating(2, "=1+1", "clarity", "@ada", Decimal("-2.5"), "+more", "gpt", wrong=True)
    options = {"scale": scale, "criteria": ("clarity",)}
    for write in (ratings_to_csv, ratings_to_jsonl):
        assert label_files_read(ratings="".join(write([rating])), **options).ratings[0].score == rating.score
    text = "".join(ratings_to_csv([rating]))
    assert next(csv.reader(text.splitlines()[1:]))[0] == "'=1+1"
    assert label_files_read(ratings=text, **options).ratings == [rating]
    item = ItemText(2, "=1", '- a list\n\nand "more"', "Do it", "how-to")
    assert label_files_read(items="".join(items_to_csv([item])), **options).items == [item]
    [again] = label_files_read(items="".join(items_to_jsonl([item])), **options).items
    assert (again.text, again.task, again.task_type) == (item.text, item.task, item.task_type)


def test_the_kind_of_a_file():
    assert [kind_of("a", "x.JSONL"), kind_of("{", "x.csv"), kind_of(" {}"), kind_of("item")] == [
        "jsonl",
        "csv",
        "jsonl",
        "csv",
    ]


def test_limits_are_those_of_the_columns():
    columns = {
        types.KEY_CHARS: LabelItem._meta.get_field("key"),
        types.TITLE_CHARS: LabelItem._meta.get_field("title"),
        types.TASK_TYPE_CHARS: LabelItem._meta.get_field("task_type"),
        types.NAME_CHARS: LabelRater._meta.get_field("name"),
        types.MODEL_CHARS: LabelRater._meta.get_field("judge_model"),
    }
    assert all(field.max_length == limit for limit, field in columns.items() if limit != 200)
    assert LabelItem._meta.get_field("key").max_length == types.KEY_CHARS
    assert LabelSet._meta.get_field("name").max_length == types.NAME_CHARS
    assert Label._meta.pk is not None
