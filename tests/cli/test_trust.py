"""`wiggum trust`: what a judge's scores are worth, locally and on a server."""

import pytest
from sklearn.metrics import cohen_kappa_score

from refinement.cli.instances import remote_trust
from refinement.execution.reports import report_advance
from refinement.models import Label, Report
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import version_create
from refinement.services.trust.judges import trust_refresh_rubric
from tests.cli.conftest import called, told
from tests.services.trust.given import a_rubric, imported
from tests.services.trust.rated import two_judges
from tests.statistics.ratings import EXPECTED, SCALES, criteria, ratings

FIGURES = {
    *("kappa", "kappa_baseline", "alpha", "alpha_ordinal", "bias", "mae", "tau_b"),
    *("retest_sd", "smallest_difference", "flip_rate"),
}


@pytest.fixture(autouse=True)
def worker(monkeypatch):
    """Computes what is asked for while the command waits for a server."""

    def work(seconds: float) -> None:
        assert seconds == remote_trust.LOOK_SECONDS
        assert [report_advance(report.pk) for report in Report.objects.exclude(status="done")]

    monkeypatch.setattr(remote_trust.time, "sleep", work)


@pytest.fixture
def judged(project):
    two_judges(project)
    return project


def test_every_criterion_and_the_composite_have_figures_with_intervals(wiggum, judged):
    found = told(wiggum("trust", "summaries", "--judge", "kind", "--json"))
    assert (found["rubric"], found["judge"], found["set"], found["labels"]) == (
        "summaries@1",
        "kind",
        None,
        40,
    )
    assert list(found["criteria"]) == ["clarity", "depth"]
    for entry in (*found["criteria"].values(), found["composite"]):
        assert (entry["n"], entry["raters"]) == (40, 2)
        assert set(entry) >= FIGURES
        assert all(set(entry[name]) == {"value", "low", "high"} for name in FIGURES)
        assert entry["bias"]["low"] < 0.3 < entry["bias"]["high"]
        assert entry["kappa_baseline"]["value"] == 0
        assert entry["retest_sd"]["value"] is None


def test_kappa_is_the_mean_over_people(wiggum, project):
    a_rubric(project, "clarity")
    rows = [(at % 5 + 1, (at * at) % 5 + 1, (at + at // 7) % 5 + 1) for at in range(60)]
    lines = [
        f"i{at},clarity,{who},{score}"
        for at, row in enumerate(rows)
        for who, score in zip("abj", row, strict=True)
    ]
    imported(project, "item,criterion,rater,score\n" + "\n".join(lines) + "\n", judges={"j": "judge"})
    found = told(wiggum("trust", "summaries@1", "--judge", "judge", "--json"))["criteria"]["clarity"]
    ada, ben, judge = zip(*rows, strict=True)
    kappas = [cohen_kappa_score(person, judge, weights="quadratic") for person in (ada, ben)]
    assert found["kappa"]["value"] == pytest.approx(sum(kappas) / 2)


@pytest.mark.parametrize("name", ["squality", "newsroom"])
def test_a_judge_without_a_score_still_shows_how_much_people_agree(project, name):
    least, most = SCALES[name]
    a_rubric(project, *criteria(name), least=least, most=most, step=None)
    imported(project, ratings(name))
    result = called("trust", "summaries", "--judge", "nobody:1b", "--json")
    found = told(result)
    assert "no score by nobody:1b" in result.stderr
    for entry in EXPECTED:
        if entry.name == name:
            assert found["criteria"][entry.criterion]["alpha"]["value"] == pytest.approx(
                entry.interval, abs=5e-5
            )


def test_a_table_for_people(wiggum, judged):
    result = wiggum("trust", "summaries", "--judge", "wild")
    assert "40 texts" in result.stderr
    assert "2 people" in result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()] == [
        "CRITERION", "Clarity", "Depth", "Composite",
    ]  # fmt: skip
    assert "below people" in result.stdout or "not usable yet" in result.stdout


def test_one_label_set_alone(wiggum, judged):
    imported(
        judged, "item,criterion,rater,score\nx,clarity,Ada,4\nx,clarity,k,5\n", name="S", judges={"k": "kind"}
    )
    small = told(wiggum("trust", "summaries", "--judge", "kind", "--set", "S", "--json"))
    assert (small["set"], small["criteria"]["clarity"]["n"]) == ("S", 1)
    assert small["criteria"]["clarity"]["standing"] == "not_enough"
    both = told(wiggum("trust", "summaries", "--judge", "kind", "--json"))
    assert both["criteria"]["clarity"]["n"] == 41


def test_a_score_that_is_marked_as_wrong_does_not_count(wiggum, judged):
    row = Label.objects.filter(rater__name="Ada").first()
    row.wrong = ["clarity"]
    row.save(update_fields=["wrong"])
    trust_refresh_rubric(row.item.label_set.rubric)
    found = told(wiggum("trust", "summaries", "--judge", "kind", "--json"))
    assert (found["criteria"]["clarity"]["pairs_n"], found["criteria"]["depth"]["pairs_n"]) == (79, 80)


def test_a_recorded_judge_counts_for_the_version_it_scored(wiggum, judged):
    version = judged.rubrics.get(slug="summaries").versions.get()
    version_create(rubric=version.rubric, definition=definition_of(version), note="Again")
    assert told(wiggum("trust", "summaries@1", "--judge", "kind", "--json"))["labels"] == 40
    newest = told(called("trust", "summaries", "--judge", "kind", "--server", "", "--json"))
    assert (newest["rubric"], newest["labels"], newest["items_with_two"]) == ("summaries@2", 0, 40)


def test_a_server_refuses_a_judge_without_a_score(judged, served):
    result = called("trust", "summaries", "--judge", "nobody:1b")
    assert result.exit_code == 4
    assert "Judges with scores: wild, kind" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nothing", "--judge", "kind"), 4, "there is no rubric 'nothing'"),
        (("summaries@9", "--judge", "kind"), 4, "9'"),
        (("summaries", "--judge", "kind", "--set", "March"), 4, "there is no label set 'March'"),
        (("summaries",), 2, "--judge"),
        (("summaries", "--judge", " "), 2, "--judge requires a model"),
    ],
)
def test_what_cannot_be_found_is_named(wiggum, judged, arguments, code, words):
    result = wiggum("trust", *arguments)
    assert result.exit_code == code
    assert words in result.stderr
