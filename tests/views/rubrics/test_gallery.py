"""New rubrics from the gallery."""

import pytest
from django.urls import reverse

from refinement.engine.artifacts import ARTIFACT_TYPES
from refinement.engine.profiles import PROFILES, context_rules_for
from refinement.models import AuditEntry, Rubric
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.gallery import ARTIFACT_TEXTS, PROFILE_TEXTS, preset_rubric
from refinement.services.rubrics.editing import RESERVED_SLUGS

pytestmark = pytest.mark.django_db
CHOICE = {"name": "Release notes", "profile": "simmer", "artifact": "message"}


@pytest.fixture
def address(project):
    return reverse("rubric_gallery", args=[project.slug])


def test_every_start_is_explained_with_its_defaults(as_editor, address):
    page = as_editor.get(address).content.decode()
    for words in (
        "0 to 10, decimals allowed",
        "9 or more of 10",
        "At most 4 rounds",
        "Depth 25 %",
        "The scores level off.",
        "<strong>Reach a pass mark</strong>",
        "Simmer profile",
    ):
        assert words in page
    assert set(PROFILE_TEXTS) == set(PROFILES)
    assert set(ARTIFACT_TEXTS) == set(ARTIFACT_TYPES)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("artifact", ARTIFACT_TYPES)
def test_every_choice_is_a_rubric_with_its_profiles_rules(profile, artifact):
    rubric = preset_rubric(profile, artifact, "Mine")
    kind = ARTIFACT_TYPES[artifact]
    assert (rubric.name, rubric.profile, rubric.artifact_type) == ("Mine", profile, artifact)
    assert rubric.context == context_rules_for(profile)
    assert rubric.problem_class is kind.problem_class


def test_a_post_makes_an_ordinary_rubric(as_editor, editor, address, project):
    answer = as_editor.post(address, CHOICE)

    rubric = Rubric.objects.get()
    assert answer.status_code == 302
    assert f"/p/{project.slug}/rubrics/release-notes/" in answer.headers["Location"]
    assert (rubric.slug, rubric.created_by, rubric.project) == ("release-notes", editor, project)
    assert definition_of(rubric.versions.get()) == preset_rubric("simmer", "message", "Release notes")
    assert AuditEntry.objects.get().action == "rubric.create"


@pytest.mark.parametrize("name", [*sorted(RESERVED_SLUGS), "New", "Import!", "☃", "Release notes"])
def test_no_name_takes_an_address_that_a_page_needs(as_editor, address, project, name):
    for _ in range(2):
        assert as_editor.post(address, {**CHOICE, "name": name}).status_code == 302
    slugs = set(Rubric.objects.values_list("slug", flat=True))
    assert len(slugs) == 2
    assert not slugs & RESERVED_SLUGS
    for slug in slugs:
        assert as_editor.get(reverse("rubric_page", args=[project.slug, slug])).context["rubric"].name == name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "Enter a name."),
        ({"name": "x" * 161}, "at most 160 characters"),
        ({"profile": ""}, "Choose a profile."),
        ({"profile": "chief"}, "Unknown profile."),
        ({"artifact": "poem"}, "Unknown kind of work."),
        ({"name": "a\x00b"}, "Null characters are not allowed."),
    ],
)
def test_what_is_wrong_is_said_beside_it_and_the_rest_is_kept(as_editor, address, change, said):
    answer = as_editor.post(address, {**CHOICE, **change})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    if "name" not in change:
        assert 'value="Release notes"' in page
    if "artifact" not in change:
        assert 'value="message" checked' in page
    assert not Rubric.objects.exists()


def test_viewers_and_outsiders_make_none(as_viewer, as_outsider, address):
    assert as_viewer.post(address, CHOICE).status_code == 403
    assert as_outsider.post(address, CHOICE).status_code == 404
    assert not Rubric.objects.exists()


def test_other_methods_are_refused(as_editor, address):
    assert as_editor.delete(address).status_code == 405
