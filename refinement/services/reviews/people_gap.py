"""How far people's scores of a run are from its judge's, stored with the run for lists."""

from refinement.models import Run
from refinement.selectors.reviews.blindness import hiding
from refinement.selectors.reviews.people_gap import is_far, people_gaps


def people_gap_store(*runs: Run) -> None:
    """Copy the gap to each run's row, after a score, a decision or another best round."""
    with hiding({}):  # stored for all readers, also while a person scores the run blind
        gaps = people_gaps([run.pk for run in runs])
    changed = [run for run in runs if run.pk in gaps or run.people_gap is not None]
    for run in changed:
        found = gaps.get(run.pk)
        run.people_gap = round(found.gap, 6) if found else None
        run.far_people = found.people if found and is_far(found.gap, run.rubric_version) else 0
    if changed:
        Run.objects.bulk_update(changed, ["people_gap", "far_people"], batch_size=500)
