"""Real ratings, imported as usual, give their published values to four decimals."""

import pytest

from refinement.execution.trust.computing import compute_trust
from refinement.services.trust.judges import judge_ensure
from tests.services.trust.given import a_rubric, imported
from tests.statistics.ratings import EXPECTED, SCALES, criteria, raters, ratings

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def expected():
    return {(entry.name, entry.criterion): entry for entry in EXPECTED}


def report_of(project, name: str, judges: dict[str, str]):
    least, most = SCALES[name]
    version = a_rubric(project, *criteria(name), least=least, most=most, step=None)
    imported(project, ratings(name), judges=judges)
    return compute_trust(judge_ensure(project=project, version=version, model="recorded").pk)


@pytest.mark.parametrize("name", SCALES)
def test_how_much_people_agree(project, expected, name):
    """All raters as people."""
    report = report_of(project, name, {})
    for entry in report["criteria"]:
        wanted = expected[name, entry["key"]]
        assert entry["alpha_n"] == wanted.items
        assert entry["alpha"]["value"] == pytest.approx(wanted.interval, abs=5e-5)
        assert entry["alpha_ordinal"]["value"] == pytest.approx(wanted.ordinal, abs=5e-5)
        assert entry["alpha"]["low"] < wanted.interval < entry["alpha"]["high"]


@pytest.mark.parametrize("name", SCALES)
def test_how_much_a_judge_differs_from_itself(project, expected, name):
    """All raters as repeats of one judge."""
    report = report_of(project, name, dict.fromkeys(raters(name), "recorded"))
    for entry in report["criteria"]:
        wanted = expected[name, entry["key"]]
        assert entry["retest_items"] == wanted.items
        assert entry["retest_sd"]["value"] == pytest.approx(wanted.deviation, abs=5e-5)
        assert entry["smallest_difference"]["value"] == pytest.approx(
            wanted.deviation * 1.96 * 2**0.5, abs=2e-4
        )


def test_people_who_do_not_agree_cannot_measure_a_judge(project):
    """Newsroom's fluency: one crowd worker as the judge of the two others."""
    report = report_of(project, "newsroom", {"crowd-3": "recorded"})
    standings = {entry["key"]: entry["standing"] for entry in report["criteria"]}
    assert standings["fluency"] == standings["coherence"] == "not_measurable"
    assert standings["informativeness"] == "as_people"
    worse = {entry["key"]: entry["worse_than_people"] for entry in report["criteria"]}
    assert worse["fluency"] is worse["coherence"] is None
    assert worse["informativeness"] is False
    assert report["evidence"] == "compares"
