"""What a round's writer was asked for, and what its judge suggested without the writer getting it."""

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from refinement.diffing import Request
from refinement.engine.types import Rubric
from refinement.models import Round, Run, Verdict
from refinement.selectors.runs.words import capital_round_name

MOST_ROUNDS_BETWEEN = 20
UNSENT = "suggested by the judge, not sent to the writer"


def requests_between(run: Run, rubric: Rubric, a: int, b: int, *, named: bool = True) -> tuple[Request, ...]:
    """What the writer was asked for between round a and round b. Without `named`, names are left out."""
    rows = Round.objects.filter(run=run, number__gt=a, number__lte=b).order_by("-number")
    found = dict(list(rows.values_list("number", "feedback")[:MOST_ROUNDS_BETWEEN])[::-1])
    requests = requests_by_round(run, rubric, found, several=len(found) > 1, named=named)
    return tuple(request for number in found for request in requests[number])


def requests_by_round(
    run: Run, rubric: Rubric, feedback: Mapping[int, Any], *, several: bool, named: bool = True
) -> dict[int, tuple[Request, ...]]:
    """The requests behind each round, given each round's feedback. One query."""
    judged = {number: found.get("from_round") or 0 for number, found in feedback.items() if found}
    said = _suggestions(run, judged.values())
    requests = {
        number: requests_of(rubric, found, several=several, named=named) for number, found in feedback.items()
    }
    return {
        number: (*sent, *_unsent(sent, said.get(judged.get(number, 0), ())))
        for number, sent in requests.items()
    }


def requests_of(rubric: Rubric, feedback: Any, *, several: bool, named: bool = True) -> list[Request]:
    if not feedback:
        return []
    of = f" of {capital_round_name(feedback['from_round']).lower()}" if several else ""
    found = [
        Request(f"instruction by {said['author']}" if named else "instruction", str(said["text"]))
        for said in feedback.get("instructions", ())
    ]
    found += [Request(f"suggested change{of}", feedback["asi"])] if feedback.get("asi") else []
    found += [
        Request(f"issue {number}{of}", str(issue))
        for number, issue in enumerate(feedback.get("issues", ()), 1)
    ]
    checks = {check.key: check for check in rubric.checks}
    for key, text in zip_longest(
        feedback.get("failures", ()), feedback.get("failure_texts", ()), fillvalue=""
    ):
        # Checks are matched by key and suggestion only: their messages quote the text that they found.
        wanted = f"{key} {checks[key].suggestion}" if key in checks else text
        found.append(Request(f"{'check' if key in checks else 'failure'} {key}{of}", wanted))
    return found


def _suggestions(run: Run, numbers: Iterable[int]) -> dict[int, list[str]]:
    """All that the judges of these rounds asked for: suggested changes, issues and improvements."""
    verdicts = Verdict.objects.filter(round__run=run, round__number__in=set(numbers)).order_by("pk")
    found: dict[int, list[str]] = {}
    for number, asi, issues, scores in verdicts.values_list("round__number", "asi", "issues", "scores"):
        improvements = [str(entry.get("improvement") or "") for entry in scores]
        found.setdefault(number, []).extend(filter(None, (asi, *map(str, issues), *improvements)))
    return found


def _unsent(sent: Iterable[Request], suggestions: Iterable[str]) -> list[Request]:
    texts = [request.text for request in sent]
    return [
        Request(UNSENT, suggestion, sent=False)
        for suggestion in suggestions
        if not any(suggestion in text for text in texts)
    ]
