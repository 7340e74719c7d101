"""A rubric in three facts: what it looks at, when it ends a run, and how far it is from people."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, Count, DecimalField, ExpressionWrapper, F
from django.db.models.functions import Abs

from refinement.engine.types import Rubric
from refinement.models import HumanScore
from refinement.models import Rubric as RubricRow
from refinement.selectors.reviews.blindness import without_hidden
from refinement.selectors.rubrics.definitions import plain

MOST_NAMED = 2


@dataclass(frozen=True, slots=True)
class Fact:
    title: str
    words: str


def launch_facts(row: RubricRow, used: Rubric) -> list[Fact]:
    """`used` is the rubric with the changes of the launch, so that each value is shown once."""
    return [looks_at(used), ends_when(used), people_distance(row)]


def looks_at(rubric: Rubric) -> Fact:
    criteria, checks = len(rubric.criteria), len(rubric.checks)
    parts = [f"{criteria} criteri{'on' if criteria == 1 else 'a'}"] if criteria else []
    parts += [f"{checks} check{'' if checks == 1 else 's'}"] if checks else []
    return Fact(", ".join(parts), weighs_most(rubric))


def weighs_most(rubric: Rubric) -> str:
    """The criteria that count most, if there are only a few of them."""
    if rubric.primary is not None:
        return f"{rubric.primary.name} decides first"
    heaviest = max((entry.weight for entry in rubric.criteria), default=None)
    names = [entry.name for entry in rubric.criteria if entry.weight == heaviest]
    if not names:
        return "No judge is called"
    if len(names) == len(rubric.criteria):
        return "All criteria count the same"
    if len(names) > MOST_NAMED:
        return f"{len(names)} criteria count most"
    return f"{' and '.join(names)} count{'s' if len(names) == 1 else ''} most"


def ends_when(rubric: Rubric) -> Fact:
    policy = rubric.policy
    rounds = f"{policy.max_rounds} round{'' if policy.max_rounds == 1 else 's'}"
    if policy.pass_threshold is None and rubric.gates is not None:
        return Fact("Passes if all holds", f"or stops after {rounds}")
    if policy.pass_threshold is None:
        return Fact("No pass mark", f"stops after {rounds}")
    mark = f"{plain(policy.pass_threshold)} of {plain(rubric.scale.maximum)}"
    return Fact(f"Passes at {mark}", f"or stops after {rounds}")


def people_distance(row: RubricRow) -> Fact:
    """How far people's scores are from the judge's on average, over this rubric's runs. One query."""
    scores = HumanScore.objects.filter(run__rubric=row, round__composite__isnull=False).order_by()
    gap = ExpressionWrapper(Abs(F("composite") - F("round__composite")), output_field=DecimalField())
    found = without_hidden(scores, "run").aggregate(gap=Avg(gap), runs=Count("run", distinct=True))
    if found["gap"] is None:
        return Fact("Not compared with people", "nobody has scored its runs yet")
    runs = found["runs"]
    distance = Decimal(str(found["gap"])).quantize(Decimal("0.1"))
    if not distance:
        return Fact("Judge agrees with people", f"in {runs} scored run{'' if runs == 1 else 's'}")
    return Fact(
        f"Judge and people differ by {distance}", f"on average, {runs} scored run{'' if runs == 1 else 's'}"
    )
