"""`wiggum rubric`: pull and push, without overwriting changes of others."""

from pathlib import Path

import pytest

from refinement.engine.profiles import rubric_for
from refinement.interchange.rubrics.yaml import rubric_to_yaml
from refinement.models import Rubric
from refinement.services.rubrics.editing import rubric_create
from tests.cli.conftest import told


@pytest.fixture
def briefs(project, owner):
    return rubric_create(project=project, slug="briefs", definition=rubric_for("wiggum"), user=owner).rubric


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edited(path: Path, old: str = "max_rounds: 3", new: str = "max_rounds: 5") -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_list(wiggum, briefs):
    (line,) = told(wiggum("rubric", "list", "--json"))["rubrics"]
    assert (line["slug"], line["version"], line["criteria"], line["archived"]) == ("briefs", 1, 6, False)
    assert "briefs" in wiggum("rubric", "list").stdout
    assert "no archived rubrics" in wiggum("rubric", "list", "--archived").stderr


def test_a_file_is_the_version_with_a_first_line_that_says_so(wiggum, briefs, folder):
    pulled = told(wiggum("rubric", "pull", "briefs", "--json"))
    assert pulled == {
        "pulled": [{"rubric": "briefs", "version": 1, "file": "briefs.yaml", "status": "written"}]
    }
    text = (folder / "briefs.yaml").read_text()
    assert text == "# wiggum: briefs@1\n" + rubric_to_yaml(rubric_for("wiggum"))
    assert wiggum("rubric", "pull", "briefs@1", "--out", "-").stdout == text
    assert told(wiggum("rubric", "pull", "briefs", "--json"))["pulled"][0]["status"] == "unchanged"


def test_a_push_makes_a_version_once_and_notes_it_in_the_file(wiggum, briefs, folder):
    wiggum("rubric", "pull", "briefs")
    edited(folder / "briefs.yaml")
    result = wiggum("rubric", "push", "briefs.yaml", "--note", "More rounds", "--json")
    assert told(result)["pushed"] == [
        {"rubric": "briefs", "version": 2, "status": "saved", "file": "briefs.yaml"}
    ]
    assert (folder / "briefs.yaml").read_text().startswith("# wiggum: briefs@2\n")
    again = told(wiggum("rubric", "push", "briefs.yaml", "--json"))["pushed"][0]
    assert (again["status"], again["version"]) == ("unchanged", 2)
    newest = briefs.versions.order_by("-number").first()
    assert (newest.number, newest.note, newest.policy["max_rounds"]) == (2, "More rounds", 5)
    assert "max_rounds: 3" in wiggum("rubric", "pull", "briefs@1", "--out", "-").stdout


def test_a_newer_version_is_overwritten_only_when_told(wiggum, briefs, folder):
    wiggum("rubric", "pull", "briefs")
    edited(folder / "briefs.yaml")
    mine = (folder / "briefs.yaml").read_text()
    wiggum("rubric", "push", "briefs.yaml")
    (folder / "briefs.yaml").write_text(mine.replace("max_rounds: 5", "max_rounds: 7"))
    refused = wiggum("rubric", "push", "briefs.yaml")
    assert refused.exit_code == 4
    assert "briefs is at version 2, but the file was made from version 1" in refused.stderr
    assert briefs.versions.count() == 2
    assert wiggum("rubric", "push", "briefs.yaml", "--force").exit_code == 0
    assert briefs.versions.order_by("-number").first().policy["max_rounds"] == 7


def test_a_file_of_unknown_origin_needs_its_base(wiggum, briefs, folder):
    (folder / "briefs.yaml").write_text(rubric_to_yaml(rubric_for("simmer")))
    refused = wiggum("rubric", "push", "briefs.yaml")
    assert (refused.exit_code, "does not state its base version" in refused.stderr) == (4, True)
    assert wiggum("rubric", "push", "briefs.yaml", "--base", 1).exit_code == 0
    assert briefs.versions.count() == 2


def test_a_new_file_is_a_new_rubric_by_its_name(wiggum, project, folder):
    (folder / "Our Briefs.yaml").write_text(rubric_to_yaml(rubric_for("simmer")))
    pushed = told(wiggum("rubric", "push", "Our Briefs.yaml", "--json"))["pushed"][0]
    assert (pushed["rubric"], pushed["version"], pushed["status"]) == ("our-briefs", 1, "created")
    assert Rubric.objects.get(project=project).slug == "our-briefs"
    assert (folder / "Our Briefs.yaml").read_text().startswith("# wiggum: our-briefs@1\n")


def test_a_broken_file_is_told_by_line_and_nothing_is_saved(wiggum, project, folder):
    (folder / "good.yaml").write_text(rubric_to_yaml(rubric_for("simmer")))
    (folder / "bad.yaml").write_text(
        rubric_to_yaml(rubric_for("simmer")).replace("max_rounds: 4", "max_rounds: many")
    )
    result = wiggum("rubric", "push", "good.yaml", "bad.yaml")
    assert result.exit_code == 2
    assert "bad.yaml:" in result.stderr
    assert "max_rounds" in result.stderr
    assert not Rubric.objects.exists()


def test_a_reserved_name_is_refused(wiggum, project, folder):
    (folder / "gallery.yaml").write_text(rubric_to_yaml(rubric_for("simmer")))
    result = wiggum("rubric", "push", "gallery.yaml")
    assert result.exit_code in (2, 4)
    assert "gallery" in result.stderr
    assert not Rubric.objects.exists()


def test_changes_of_ones_own_are_not_pulled_over(wiggum, briefs, folder):
    wiggum("rubric", "pull", "briefs")
    edited(folder / "briefs.yaml")
    refused = wiggum("rubric", "pull", "briefs")
    assert (refused.exit_code, "has changes that are not saved" in refused.stderr) == (4, True)
    assert "max_rounds: 5" in (folder / "briefs.yaml").read_text()
    assert wiggum("rubric", "pull", "briefs", "--force").exit_code == 0
    assert "max_rounds: 3" in (folder / "briefs.yaml").read_text()


def test_all_rubrics_into_a_folder(wiggum, briefs, project, owner, folder):
    rubric_create(project=project, slug="other", definition=rubric_for("simmer"), user=owner)
    assert wiggum("rubric", "pull", "--all").exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["briefs.yaml", "other.yaml"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("pull", "nothing"), 4, "rubric 'nothing'"),
        (("pull", "briefs@9"), 4, "has no version"),
        (("pull", "briefs@new"), 2, "has no valid version"),
        (("pull", "briefs@99999999999999999999"), 2, "has no valid version"),
        (("pull",), 2, "name at least one rubric"),
        (("push", "missing.yaml"), 4, "cannot read missing.yaml: No such file"),
    ],
)
def test_what_is_not_there_is_said(wiggum, briefs, folder, arguments, code, words):
    result = wiggum("rubric", *arguments)
    assert (result.exit_code, words in result.stderr) == (code, True), result.stderr
