"""While a member reads or labels blind, no API response contains scores or reasons of the texts."""

from collections.abc import Iterator

import pytest

from refinement.models import Bench, Comment, JudgeRecord, LabelSet, Measurement, Run, Thread
from refinement.services.reviews.blind_readings import blind_reading_begin
from refinement.services.trust.labelling import queue_open
from tests.api.test_role_matrix import operations
from tests.views.labels.test_blind import row
from tests.views.runs.listed import runs_of
from tests.views.runs.test_blind import answered, run, told_in

__all__ = ["row", "run"]
pytestmark = pytest.mark.django_db
ENDLESS = ("/stream", "/events")  # they answer for as long as the run goes on


def addresses(run: Run, row: LabelSet) -> Iterator[str]:
    """Every address that can be read, with this run, its rubric and its label set wherever one is taken."""
    values = {
        "slug": run.project.slug, "run": run.pk, "number": 2, "rubric": run.rubric.slug, "version": 1,
        "label_set": row.pk, "set": row.pk, "judge": JudgeRecord.objects.order_by("pk").first().pk,
        "measurement": Measurement.objects.get().pk, "round": 2, "what": "ratings", "form": "csv",
        "bench": Bench.objects.get(fingerprint="", measured=None).pk, "comment": Comment.objects.get().pk,
        "thread": Thread.objects.get().pk,
    }  # fmt: skip
    for method, address, details in operations().values():
        if method != "GET" or address.endswith(ENDLESS):
            continue
        for parameter in details.get("parameters", ()):
            if parameter["in"] == "path":
                given = values.get(parameter["name"], 1)
                address = address.replace(f"{{{parameter['name']}}}", str(given))
        yield address


def revealed(client, run: Run, row: LabelSet) -> dict[str, list[str]]:
    found = {
        address: told_in(answered(client, address).decode("utf-8", "replace"))
        for address in addresses(run, row)
    }
    return {address: words for address, words in found.items() if words}


@pytest.mark.parametrize("how", ["labels", "reads"])
def test_no_answer_of_the_api_shows_it(api_viewer, viewer, run, row, project, how):
    runs_of(project, 2)
    if how == "labels":
        queue_open(label_set=row, user=viewer)
    else:
        blind_reading_begin(run=run, number=2, user=viewer)
    assert revealed(api_viewer, run, row) == {}


def test_the_same_addresses_show_it_to_somebody_else(api_owner, run, row, project):
    runs_of(project, 2)
    found = revealed(api_owner, run, row)
    shown = {word for words in found.values() for word in words}
    assert {"Zverdict", "Zreason", "Zscorenote", "Zdecision", "Zcomment", "7.3519", "3.1875"} <= shown
    assert len(found) > 10
