"""Ended runs with invented issues."""

from collections.abc import Sequence

from django.utils import timezone

from benchmarks.issues import made
from refinement.execution.reports import report_advance, report_request
from refinement.models import Project, Report, ReportKind, Round, Run, Verdict
from tests.views.runs.listed import runs_of

CRITERIA = ("depth", "relevance", "completeness", "grounded", "specificity", "structure")


def criticised(
    project: Project, issues: Sequence[Sequence[str]], *, scores: Sequence[int] = (6, 8), **fields: object
) -> Run:
    """A run with a round for each list of issues; depth has one point less than the others."""
    [run] = runs_of(project, best_round=len(issues), rounds_judged=len(issues), **fields)
    for number, said in enumerate(issues, start=1):
        score = scores[min(number, len(scores)) - 1]
        values = {key: str(score - (key == "depth")) for key in CRITERIA}
        row = Round.objects.create(
            run=run,
            number=number,
            origin="draft" if number == 1 else "revision",
            base_round=number - 1 or None,
            candidate="A text.",
            candidate_chars=7,
            judged_at=timezone.now(),
            composite=score,
            scores=values,
            feedback=None if number == 1 else {"from_round": number - 1},
        )
        Verdict.objects.create(
            round=row,
            judge="gemma3:27b",
            issues=list(said),
            scores=[
                {"key": key, "score": value, "reasoning": "", "improvement": ""}
                for key, value in values.items()
            ],
        )
    return run


def many_criticised(project: Project, count: int, *, seed: int = 1) -> list[Run]:
    """Runs of two rounds: three made-up issues in the first, one in the second."""
    items = [item.text for item in made(4 * count, seed)]
    return [
        criticised(project, [items[4 * n : 4 * n + 3], items[4 * n + 3 : 4 * n + 4]]) for n in range(count)
    ]


def brought_up_to_date(project: Project) -> Report:
    """Reads the project's runs and places their issues, as a worker does."""
    report = report_request(project=project, kind=ReportKind.FAILURES, subject=project.pk)
    Report.objects.filter(pk=report.pk).update(next_try_at=None)
    assert report_advance(report.pk)
    report.refresh_from_db()
    assert report.status == "done", report.error
    return report
