"""The audit log page: permissions, filters, pages and export."""

import csv
import io
import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.models import AuditEntry, FailureCategory, LabelSet, User
from refinement.selectors.people.audit import PAGE_SIZE
from refinement.selectors.people.audit_words import ACTIONS, action_label, value_text
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.audit import audit_record
from refinement.services.rubrics.editing import version_create
from tests.services.experiments.given import an_experiment
from tests.views.runs.listed import a_version, runs_of

pytestmark = pytest.mark.django_db


def record(project, user=None, action="run.cancel", object_type="run", object_id=1, **values):
    audit_record(
        action=action, object_type=object_type, object_id=object_id, project=project, user=user, **values
    )


@pytest.fixture
def log(project) -> str:
    return f"/p/{project.slug}/audit/"


@pytest.fixture
def as_boss(db, client):
    client.force_login(User.objects.create_superuser("berta@example.org", None, name="Berta Boss"))
    return client


def shown(answer) -> list[str]:
    return [line.entry.object_id for line in answer.context["page"].lines]


def test_it_says_who_did_what_before_and_after(as_owner, project, editor, log):
    record(project, editor, "member.role", "member", 7, before={"role": "viewer"}, after={"role": "editor"})

    page = as_owner.get(log).content.decode()

    assert "<bdi>Edgar Editor</bdi></strong> changed the role of " in page
    assert "<bdi>member 7</bdi></a> from viewer to editor" in page


def test_a_changed_pass_mark_is_a_sentence_with_a_link(as_owner, project, owner, log):
    rubric = a_version(project).rubric
    rubric.refresh_from_db()
    definition = definition_of(rubric.versions.get())
    stricter = replace(definition, policy=replace(definition.policy, pass_threshold=Decimal("9.500")))
    version_create(rubric=rubric, definition=stricter, user=owner, note="Stricter.")

    line = as_owner.get(log).context["page"].lines[0]
    was = definition.policy.pass_threshold

    assert line.lead == "changed the pass mark of "
    assert (line.object, line.href) == (rubric.name, f"/p/alpha/rubrics/{rubric.slug}/")
    assert line.tail == f" from {was.normalize():f} to 9.5"
    assert [(change.name, change.after) for change in line.changes] == [("note", "Stricter.")]


def test_objects_that_exist_are_links_and_others_their_number(as_owner, project, owner, log):
    run = runs_of(project, title="Upload service")[0]
    record(project, owner, "comment.create", "comment", 5, after={"run": run.pk, "thread": 3})
    record(project, owner, "run.cancel", "run", run.pk)
    record(project, owner, "run.cancel", "run", 999_999)

    gone, cancelled, commented = as_owner.get(log).context["page"].lines[:3]

    for line in (cancelled, commented):
        assert (line.object, line.href) == ("Upload service", f"/p/alpha/runs/{run.pk}/")
    assert (commented.lead, commented.changes) == ("commented on ", [])
    assert (gone.object, gone.href) == ("run 999999", "")


def test_label_sets_experiments_and_categories_are_links(as_owner, project, owner, log):
    version = a_version(project)
    about = {"project": project, "rubric": version.rubric, "rubric_version": version}
    labels = LabelSet.objects.create(name="Release notes", **about)
    category = FailureCategory.objects.create(
        project=project, criterion="depth", automatic_name="No rollback"
    )
    experiment = an_experiment(project, user=owner)
    record(project, owner, "labels.import", "label_set", labels.pk, after={"ratings": 2340})
    record(project, owner, "failures.merge", "failure category", category.pk)
    record(project, owner, "experiment.pause", "experiment", experiment.pk)
    record(project, owner, "labels.archive", "label_set", 999_999)

    gone, paused, merged, imported = as_owner.get(log).context["page"].lines[:4]

    assert (paused.object, paused.href) == (experiment.name, f"/p/alpha/experiments/{experiment.pk}/")
    assert (merged.object, merged.href) == ("No rollback", f"/p/alpha/failures/categories/{category.pk}/")
    assert (imported.object, imported.href) == ("Release notes", f"/p/alpha/labels/{labels.pk}/")
    assert [(change.name, change.after) for change in imported.changes] == [("ratings", "2,340")]
    assert (gone.lead + gone.object, gone.href) == ("archived the label set 999999", "")


def test_an_administrator_has_links_only_where_they_are_a_member(as_boss, project):
    record(project, None, "project.settings", "project", project.pk)

    (line,) = as_boss.get("/administration/audit/").context["page"].lines

    assert (line.object, line.href) == ("Alpha", "")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("8.300000", "8.3"), (0.1 + 0.2, "0.3"), ("9.000", "9"), (True, "yes"), ("", "nothing"),
        (["run.finished", "run.waiting"], "Run finished, Run waits for a model server"),
        ("max_rounds", "max rounds"), ({"clarity": "8.00", "depth": 7}, "clarity 8, depth 7"),
    ],
)  # fmt: skip
def test_values_are_words_not_codes(value, words):
    assert value_text(value) == words


def test_every_recorded_action_has_words():
    found = set()
    for path in (settings.BASE_DIR / "refinement").rglob("*.py"):
        begins = r"(?:action=|_record\(|record_change\(|\baudit(?:ed)?\()\s*([^\n]*)"
        calls = re.findall(begins, path.read_text())
        found |= {name for call in calls for name in re.findall(r'"([a-z_]+\.[a-z_]+)"', call)}

    assert len(found) > 50
    assert found - set(ACTIONS) == set()


def test_the_address_of_a_request_is_kept(as_owner, project, viewer):
    as_owner.post(f"/p/{project.slug}/members/{viewer.pk}/role/", {"role": "editor"}, REMOTE_ADDR="192.0.2.7")
    record(project)

    assert list(AuditEntry.objects.order_by("pk").values_list("address", flat=True)) == ["192.0.2.7", ""]


def test_only_owners_read_it(as_editor, as_viewer, as_outsider, anonymous, log):
    for client, status in ((as_editor, 403), (as_viewer, 403), (as_outsider, 404), (anonymous, 302)):
        assert client.get(log).status_code == status
        assert client.get(f"{log}export/").status_code == status


def test_another_projects_entries_are_not_in_it(as_owner, project, other_project, log):
    record(project, object_id=1)
    record(other_project, object_id=2)
    record(None, object_id=3)

    assert shown(as_owner.get(log)) == ["1"]
    assert shown(as_owner.get(f"{log}?project=beta")) == ["1"]


def test_filters_narrow(as_owner, owner, editor, project, log):
    record(project, owner, "run.cancel", "run", 1)
    record(project, editor, "run.pause", "run", 2)
    record(project, None, "rubric.save", "rubric", 3)
    today = timezone.localdate()

    for query, found in {
        f"person={owner.pk}": ["1"],
        "person=none": ["3"],
        "action=run.pause": ["2"],
        "object_type=run": ["2", "1"],
        "object_type=run&object_id=2": ["2"],
        f"since={today}&until={today}": ["3", "2", "1"],
        f"since={today + timedelta(days=1)}": [],
        f"until={today - timedelta(days=1)}": [],
        "action=no.such": [],
        "person=999999999999": [],
    }.items():
        answer = as_owner.get(f"{log}?{query}")
        assert (answer.status_code, shown(answer)) == (200, found), query


@pytest.mark.parametrize(
    "query", ["since=yesterday", "person=olivia", "since=2026-03-02&until=2026-03-01", "person=" + "9" * 40]
)
def test_what_cannot_be_read_is_said_and_narrows_nothing(as_owner, project, log, query):
    record(project)

    answer = as_owner.get(f"{log}?{query}")

    assert answer.status_code == 422
    assert "Some filters were ignored" in answer.content.decode()
    assert as_owner.get(f"{log}export/?{query}").status_code == 302


def test_htmx_gets_the_results_alone(as_owner, project, log):
    record(project)
    partial = as_owner.get(f"{log}?action=run.cancel", headers={"HX-Request": "true"})
    boosted = as_owner.get(log, headers={"HX-Request": "true", "HX-Boosted": "true"})

    assert "<html" not in partial.content.decode()
    assert partial.headers["HX-Push-Url"] == f"{log}?action=run.cancel"
    assert "<html" in boosted.content.decode()


def test_pages_follow_each_other_without_gaps(as_owner, project, log):
    for number in range(PAGE_SIZE * 2 + 5):
        record(project, object_id=number)
    answer, seen = as_owner.get(log), []
    while True:
        seen += shown(answer)
        if not answer.context["older"]:
            break
        answer = as_owner.get(f"{log}?{answer.context['older']}")

    assert seen == [str(number) for number in reversed(range(PAGE_SIZE * 2 + 5))]
    back = as_owner.get(f"{log}?{answer.context['newer']}")
    assert shown(back) == seen[PAGE_SIZE : PAGE_SIZE * 2]
    assert as_owner.get(f"{log}?before=x&after=-1").status_code == 200
    assert as_owner.get(f"{log}?before={'9' * 18}").status_code == 200


def test_the_number_of_queries_does_not_grow(as_owner, owner, project, log):
    record(project, owner)
    as_owner.get(log)
    with CaptureQueriesContext(connection) as few:
        as_owner.get(log)
    for number in range(80):
        record(project, owner, action=f"run.act{number}", object_id=number, after={"number": number})
    with CaptureQueriesContext(connection) as many:
        as_owner.get(log)
    assert len(many) == len(few)


def test_hostile_values_are_text(as_owner, project, log):
    record(
        project,
        action="<b>.x",
        object_type="<i>",
        object_id="'><img src=x>",
        after={"<script>": "<script>alert(1)</script>", "long": "x" * 10_000, "list": [1, {"a": None}]},
    )

    page = as_owner.get(log).content.decode()

    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "x" * 1000 not in page


def exported(answer) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))


def test_it_is_exported_with_its_filters_and_without_formulas(as_owner, owner, project, log):
    owner.name = "=HYPERLINK(1)"
    record(project, owner, "run.cancel", "run", 1, after={"a": 1})
    record(project, owner, "run.pause", "run", "@2")

    answer = as_owner.get(f"{log}export/?action=run.cancel")
    (line,) = exported(answer)
    everything = exported(as_owner.get(f"{log}export/"))

    assert answer.headers["Content-Disposition"] == 'attachment; filename="audit-alpha.csv"'
    assert (line["who"], line["email"], line["after"]) == (
        "'=HYPERLINK(1)", "olivia@example.org", '{"a": 1}',
    )  # fmt: skip
    assert [entry["number"] for entry in everything] == ["'@2", "1"]


def test_administrators_read_the_whole_instance(as_boss, project, other_project):
    record(project, object_id=1)
    record(other_project, object_id=2)
    record(None, object_id=3)

    assert shown(as_boss.get("/administration/audit/")) == ["3", "2", "1"]
    assert shown(as_boss.get("/administration/audit/?project=beta")) == ["2"]
    assert len(exported(as_boss.get("/administration/audit/export/"))) == 3


def test_nobody_else_reads_the_whole_instance(as_owner, anonymous):
    for path in ("/administration/audit/", "/administration/audit/export/"):
        assert as_owner.get(path).status_code == 403
        assert anonymous.get(path).status_code == 302


def test_a_kind_of_action_names_its_object_once():
    assert action_label("view.save") == "saved a view"
    assert action_label("token.revoke") == "revoked an API token"
    assert action_label("run.example") == "added a run as the prepared example"
