"""A disagreement that the rubric editor shows, so that the rubric can be clarified for it."""

import re
from typing import Any

from django.http import Http404

from refinement.access.judges import figures_or_blind, judge_or_404
from refinement.access.projects import ProjectRequest
from refinement.forms.rubrics.reading import NOTE_LIMIT
from refinement.models import Rubric
from refinement.selectors.trust.disagreements import Case, calibration_query, case_in_report, score_words
from refinement.selectors.trust.stored import stored_trust

CASE = re.compile(r"([1-9][0-9]{0,17})-((?:label|round)-[1-9][0-9]{0,17})-([^/]{1,60})")


def case_asked(request: ProjectRequest, rubric: Rubric) -> dict[str, Any]:
    """The disagreement that `?case=JUDGE-label-ITEM-CRITERION` names, and a note about it; often nothing."""
    given = request.GET.get("case", "")
    if not given:
        return {}
    found = CASE.fullmatch(given)
    judge = judge_or_404(request, int(found[1])) if found else None
    if found is None or judge is None or judge.rubric_version.rubric_id != rubric.pk:
        raise Http404("There is no such disagreement about this rubric.")
    figures_or_blind(request, judge)
    case = case_in_report(judge, found[2], found[3], stored_trust(judge).result)
    if case is None:
        raise Http404("There is no such disagreement about this rubric.")
    return {
        "case": case,
        "case_judge": judge,
        "case_note": case_note(case),
        "case_calibration": calibration_query(case),
    }


def case_note(case: Case) -> str:
    scores = f"judge {score_words(case.judge)}, people {score_words(case.people)}"
    return f"Clarified {case.name}: {scores} on “{case.title}”."[:NOTE_LIMIT]
