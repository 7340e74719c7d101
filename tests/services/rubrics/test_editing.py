"""Rubrics: every save is a new version, and a version is returned exactly as saved."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError

from refinement.engine.profiles import default_rubrics, rubric_for
from refinement.models import AuditEntry, Rubric, RubricVersion
from refinement.selectors.rubrics.definitions import RubricNotFound, definition_of, version_named
from refinement.services.rubrics.editing import (
    NewerVersion,
    default_rubrics_install,
    rubric_create,
    version_create,
)


@pytest.mark.parametrize("slug", default_rubrics())
def test_a_default_rubric_comes_back_exactly(project, slug):
    definition = default_rubrics()[slug]
    version = rubric_create(project=project, slug=slug, definition=definition)
    assert definition_of(RubricVersion.objects.get(pk=version.pk)) == definition


def test_the_installed_rubrics_say_what_was_published(project, owner):
    default_rubrics_install(project=project, user=owner)
    kept = {rubric.slug: rubric.versions.get() for rubric in project.rubrics.all()}
    assert {slug: definition_of(version) for slug, version in kept.items()} == default_rubrics()
    assert {(version.number, version.created_by, version.note) for version in kept.values()} == {
        (1, owner, "Created with the project.")
    }


def test_odd_numbers_and_texts_come_back_exactly(project):
    base = rubric_for("wiggum")
    criteria = (replace(base.criteria[0], weight=Decimal("0.3333")), *base.criteria[1:])
    policy = replace(base.policy, pass_threshold=Decimal("8.125"), minimum_gain=Decimal("0.0001"))
    odd = replace(
        base,
        criteria=criteria,
        policy=policy,
        background="Zeile\nzwei — größer",
        templates={"judge": "{{ scale }}"},
    )
    version = rubric_create(project=project, slug="odd", definition=odd)
    assert definition_of(RubricVersion.objects.get(pk=version.pk)) == odd


def test_every_save_is_the_next_version_and_leaves_the_one_before(project, owner):
    first = rubric_create(project=project, slug="own", definition=rubric_for("wiggum"), user=owner)
    changed = replace(rubric_for("wiggum"), name="Stricter")
    second = version_create(rubric=first.rubric, definition=changed, user=owner, note="Stricter.")
    third = version_create(rubric=first.rubric, definition=rubric_for("simmer"))
    assert [version.number for version in (first, second, third)] == [1, 2, 3]
    assert definition_of(RubricVersion.objects.get(pk=first.pk)) == rubric_for("wiggum")
    assert definition_of(RubricVersion.objects.get(pk=second.pk)) == changed
    assert (second.created_by, second.note, third.created_by) == (owner, "Stricter.", None)


def test_an_edit_of_an_older_version_is_refused_and_changes_nothing(project, owner):
    first = rubric_create(project=project, slug="own", definition=rubric_for("wiggum"), user=owner)
    version_create(rubric=first.rubric, definition=rubric_for("simmer"), edited_from=1)
    with pytest.raises(NewerVersion, match="Version 2 was saved in the meantime") as told:
        version_create(rubric=first.rubric, definition=rubric_for("ralph"), edited_from=1)
    assert told.value.newest == 2
    assert first.rubric.versions.count() == 2


def test_a_save_renames_the_rubric_and_is_in_the_audit_log(project, owner):
    first = rubric_create(project=project, slug="own", definition=rubric_for("wiggum"), user=owner)
    renamed = replace(rubric_for("wiggum"), name="Stricter")
    version_create(rubric=first.rubric, definition=renamed, user=owner, note="Why.")
    assert Rubric.objects.get(pk=first.rubric.pk).name == "Stricter"
    entries = AuditEntry.objects.filter(object_type="rubric", project=project).order_by("id")
    assert [(entry.action, entry.user, entry.after["version"]) for entry in entries] == [
        ("rubric.create", owner, 1),
        ("rubric.save", owner, 2),
    ]


def test_a_rubric_needs_a_proper_slug_of_its_own(project):
    rubric_create(project=project, slug="own", definition=rubric_for("wiggum"))
    for slug in ("own", "not a slug", ""):
        with pytest.raises(ValidationError):
            rubric_create(project=project, slug=slug, definition=rubric_for("wiggum"))
    assert Rubric.objects.count() == RubricVersion.objects.count() == 1


def test_versions_by_name(project, other_project):
    first = rubric_create(project=project, slug="own", definition=rubric_for("wiggum"))
    second = version_create(rubric=first.rubric, definition=rubric_for("wiggum"))
    rubric_create(project=other_project, slug="theirs", definition=rubric_for("wiggum"))
    assert version_named(project, "own") == version_named(project, "own@2") == second
    assert version_named(project, "own@1") == version_named(project, "own@v1") == first
    with pytest.raises(RubricNotFound, match="there is no rubric 'theirs' in project alpha; available: own"):
        version_named(project, "theirs")
    with pytest.raises(RubricNotFound, match="has no version '3'; the newest is 2"):
        version_named(project, "own@3")
    for odd in ("²", "0", "-1", "9" * 30):
        with pytest.raises(RubricNotFound, match=f"has no version '{odd}'"):
            version_named(project, f"own@{odd}")
