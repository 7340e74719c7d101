"""The trajectory as a file."""

from xml.etree import ElementTree as ET

import pytest

from refinement.charts import DARK, LIGHT
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


def address(run, rest=""):
    return f"/p/{run.project.slug}/runs/{run.pk}/trajectory.svg{rest}"


def test_it_is_a_picture_with_its_own_colours(as_viewer, project):
    run = finished_run(project)
    answer = as_viewer.get(address(run))
    assert answer.headers["Content-Type"] == "image/svg+xml"
    assert f'filename="run-{run.pk}-trajectory.svg"' in answer.headers["Content-Disposition"]
    text = answer.content.decode()
    assert ET.fromstring(text).tag.endswith("svg")
    assert LIGHT.paper in text
    assert ">Score</text>" in text
    assert "href=" not in text
    assert DARK.paper in as_viewer.get(address(run, "?theme=dark")).content.decode()


def test_the_wrong_person_and_the_wrong_method(as_outsider, as_owner, project):
    run = finished_run(project)
    assert as_outsider.get(address(run)).status_code == 404
    assert as_owner.post(address(run)).status_code == 405
