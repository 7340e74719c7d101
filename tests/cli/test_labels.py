"""`wiggum labels`: import and export, locally and on a server."""

import pytest

from refinement.models import JudgeRecord, Label, LabelSet
from tests.cli.conftest import told
from tests.services.trust.given import ITEMS, RATINGS, a_rubric

TO_MARCH = ("--set", "March", "--rubric", "summaries")


@pytest.fixture
def folder(tmp_path, monkeypatch, project):
    a_rubric(project)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "march.csv").write_text(RATINGS)
    (tmp_path / "march.jsonl").write_text(ITEMS)
    return tmp_path


def test_an_import_can_be_tried_and_repeated(wiggum, folder):
    arguments = ("labels", "import", "march.csv", "--items", "march.jsonl", *TO_MARCH, "--json")
    tried = told(wiggum(*arguments, "--dry-run"))
    assert (tried["dry_run"], tried["labels_new"], tried["items_new"]) == (True, 5, 3)
    assert not LabelSet.objects.exists()
    assert told(wiggum(*arguments)) == tried | {"dry_run": False, "label_set": LabelSet.objects.get().pk}
    again = told(wiggum(*arguments))
    assert (again["labels_new"], again["labels_unchanged"]) == (0, 5)
    words = wiggum("labels", "import", "march.csv", *TO_MARCH)
    assert "Imported 6 scores by 4 raters into March (summaries@1): 0 new, 5 unchanged labels" in words.stderr


def test_recorded_judges_are_named_with_options(wiggum, folder):
    judges = ("--judge-rater", "gpt#1=gpt-4", "--judge-rater", "gpt#2=gpt-4")
    result = told(wiggum("labels", "import", "march.csv", *TO_MARCH, *judges, "--json"))
    assert [rater for rater in result["raters"] if rater["judge"]] == [
        {"name": "gpt#1", "judge": "gpt-4", "items": 1},
        {"name": "gpt#2", "judge": "gpt-4", "items": 1},
    ]
    assert JudgeRecord.objects.get().model == "gpt-4"


def test_everything_wrong_is_listed_by_line(wiggum, folder):
    (folder / "march.csv").write_text(RATINGS.replace("Ada,4", "Ada,7").replace("depth", "tone"))
    (folder / "march.jsonl").write_text('{"item": "a"}\n')
    result = wiggum("labels", "import", "march.csv", "--items", "march.jsonl", *TO_MARCH)
    assert result.exit_code == 2
    for words in (
        "The score 7 is not on the rubric's scale",
        "no criterion 'tone'",
        "Keys are missing: text",
    ):
        assert words in result.stderr
    assert not Label.objects.exists()


def test_a_refused_file_is_named_with_its_line(folder, project):
    from tests.cli.conftest import called

    (folder / "march.csv").write_text(RATINGS.replace("Ada,4", "Ada,7"))
    result = called("labels", "import", "march.csv", *TO_MARCH, "--project", project.slug)
    assert (
        "march.csv:2: The score 7 is not on the rubric's scale: whole numbers from 1 to 5." in result.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nothing.csv", *TO_MARCH), 4, "cannot read nothing.csv"),
        (("march.csv", "--set", "March", "--rubric", "nothing"), 4, "no rubric 'nothing'"),
        (("march.csv", *TO_MARCH, "--judge-rater", "gpt"), 2, "RATER=MODEL"),
        (("march.csv", *TO_MARCH, "--judge-rater", "eve=gpt"), 2, "'eve' is not in the file"),
        (("march.csv", "--rubric", "summaries"), 2, "--set"),
    ],
)
def test_wrong_usage_is_explained(wiggum, folder, arguments, code, words):
    result = wiggum("labels", "import", *arguments)
    assert (result.exit_code, words in result.output) == (code, True), result.output


def test_sets_are_listed_and_exported(wiggum, folder):
    assert "no label sets" in wiggum("labels", "list").stderr
    wiggum("labels", "import", "march.csv", "--items", "march.jsonl", *TO_MARCH)
    (line,) = told(wiggum("labels", "list", "--json"))["label_sets"]
    assert (line["name"], line["rubric"], line["texts"], line["labels"], line["people"]) == (
        "March",
        "summaries@1",
        3,
        5,
        4,
    )
    ratings = wiggum("labels", "export", "March").stdout
    assert ratings.splitlines()[:2] == ["item,criterion,rater,score,reason,judge,wrong", "a,clarity,Ada,4,,,"]
    items = wiggum("labels", "export", "March", "--items", "--format", "jsonl").stdout
    assert '"item": "c"' in items
    (folder / "copy.csv").write_text(ratings)
    copied = told(wiggum("labels", "import", "copy.csv", "--set", "Copy", "--rubric", "summaries", "--json"))
    assert (copied["scores"], copied["labels_new"]) == (6, 5)
    assert wiggum("labels", "export", "Nothing").exit_code == 4
