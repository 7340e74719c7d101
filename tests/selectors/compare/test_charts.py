"""The chart of compared runs: the labels of their best rounds."""

from itertools import combinations

import pytest

from refinement.selectors.compare.charts import trajectories_of
from refinement.selectors.compare.runs import sides_of
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
CHAR, LINE = 6.5, 12.0  # of the labels' font


def box(mark):
    width, x, y = len(mark.text) * CHAR, float(mark.x), float(mark.text_y)
    left = {"middle": x - width / 2, "start": x, "end": x - width}[mark.anchor]
    return left, y - LINE, left + width, y


def apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


@pytest.mark.parametrize(
    "bests",
    [("8.6", "8.6"), ("8.6", "8.65"), ("9.98", "10"), ("8.9", "9.0", "9.05"), ("1", "1", "1", "1.1", "1")],
)
def test_the_labels_of_the_bests_do_not_collide(project, bests):
    """Runs with the same best score in the same round share a label."""
    runs = [finished_run(project, ["0.5", best, "0.5"]) for best in bests]
    drawn = trajectories_of(sides_of(project, [run.pk for run in runs]))
    for chart in (drawn.chart, drawn.narrow):
        boxes = [box(mark) for mark in chart.marks if mark.kind == "best"]
        assert len(boxes) == len(set(bests))
        for one, other in combinations(boxes, 2):
            assert apart(one, other)
