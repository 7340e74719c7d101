"""Files of an experiment's results, for its page and the API."""

import json
from collections.abc import Iterator

from django.http import Http404

from refinement.interchange.experiments.leaderboard import EXPORTS, leaderboard_csv
from refinement.interchange.experiments.rows import cells_csv
from refinement.interchange.experiments.summary import results_markdown
from refinement.models import Experiment
from refinement.selectors.experiments.reports.exports import cell_rows
from refinement.selectors.trust.gate import figures_with_standings
from refinement.services.experiments.reporting import results_wanted

ENDINGS = {"leaderboard": "csv", "runs": "csv", "json": "json", "md": "md"}


def export_name(experiment: Experiment, form: str) -> tuple[str, str]:
    """The file's name and its ending. Raises Http404 for an unknown form."""
    if form not in EXPORTS:
        raise Http404(f"An experiment cannot be exported as {form[:20]!r}.")
    more = "-runs" if form == "runs" else ""
    return f"experiment-{experiment.pk}{more}", ENDINGS[form]


def export_pieces(experiment: Experiment, form: str, *, address: str = "") -> Iterator[str]:
    """The file: leaderboard, runs, json or md. `address` is the experiment's page, for links.

    Raises Http404 for figures that are not computed yet.
    """
    if form == "runs":
        return cells_csv(cell_rows(experiment))
    figures = results_wanted(experiment).result
    if figures is None:
        raise Http404("The results are not computed yet. Try again in a moment.")
    figures = figures_with_standings(experiment, figures)
    if form == "leaderboard":
        return iter((leaderboard_csv(figures),))
    if form == "json":
        return iter((json.dumps(figures, ensure_ascii=False, indent=2),))
    return iter((results_markdown(figures, address=address),))
