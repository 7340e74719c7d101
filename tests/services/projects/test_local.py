"""The project of the command line, when two commands start at once."""

from refinement.models import Project
from refinement.services.projects.local import LOCAL, local_project


def test_local_is_taken_as_it_is_where_it_exists(db):
    made = Project.objects.create(name="Ours", slug=LOCAL)
    assert local_project() == made
    assert Project.objects.count() == 1
    assert made.rubrics.count() == 0  # its owner may have taken them out
