"""How long the rubric editor takes to load and to save a rubric, by its size: `python -m benchmarks.editor`.

Prints a table in milliseconds: the request from the middleware to the last byte, without a network, on
SQLite. For loading: the best, the median and the 95th percentile of wall time, and the median of CPU time,
which depends less on other load. The budget is 60 ms for a page with 30 criteria and 50 checks.
"""

import os
import statistics
import tempfile
import time
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

SIZES = ((3, 0), (6, 10), (30, 50), (100, 200))
REPEATS = 40
BUDGET_MS = 60


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.environ |= {"WIGGUM_DATA_DIR": directory, "DJANGO_SETTINGS_MODULE": "wiggum_site.settings"}
        os.environ.setdefault("WIGGUM_ALLOWED_HOSTS", "testserver,localhost")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        client, project = signed_in()
        print(
            f"{'criteria':>8} {'checks':>7} {'best':>7} {'show':>7} {'p95':>7} {'cpu':>7} "
            f"{'save':>7} {'KB':>6} {'queries':>8}"
        )
        for criteria, checks in SIZES:
            print(measure_editor(client, project, criteria, checks))


def signed_in() -> tuple[Any, Any]:
    from django.test import Client

    from refinement.models import User
    from refinement.services.people.accounts import project_create

    user = User.objects.create_user("bench@example.org", "a long enough password")
    project = project_create(owner=user, name="Bench")
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return client, project


def a_definition(criteria: int, checks: int) -> Any:
    from refinement.engine.profiles import rubric_for
    from refinement.engine.types import Check, Criterion

    kinds = (
        ("contains", {"text": "summary"}),
        ("regex", {"pattern": r"\b\d{4}-\d{2}-\d{2}\b"}),
        ("length", {"minimum": 200, "unit": "words"}),
        ("no-placeholders", {}),
        ("json-schema", {"schema": {"type": "object", "required": ["title"]}}),
    )
    words = "How far the text goes beyond naming things, with steps and worked examples. " * 3
    return replace(
        rubric_for("simmer"),
        name=f"{criteria} criteria, {checks} checks",
        criteria=tuple(Criterion(f"c{n}", f"Criterion {n}", words, words) for n in range(criteria)),
        checks=tuple(Check(f"k{n}", *kinds[n % len(kinds)], suggestion=words[:80]) for n in range(checks)),
    )


def measure_editor(client: Any, project: Any, criteria: int, checks: int) -> str:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    from refinement.services.rubrics.editing import rubric_create

    slug = f"bench-{criteria}-{checks}"
    version = rubric_create(project=project, slug=slug, definition=a_definition(criteria, checks))
    address = reverse("rubric_edit", args=[project.slug, slug])
    client.get(address)
    times = [timed(lambda: client.get(address), 200) for _ in range(REPEATS)]
    shown, busy = sorted(wall for wall, _ in times), statistics.median(cpu for _, cpu in times)
    saved = [timed(save(client, address, version.rubric, number), 302)[0] for number in range(5)]
    with CaptureQueriesContext(connection) as queries:
        size = len(client.get(address).content)
    middle, slow = statistics.median(shown), shown[int(len(shown) * 0.95)]
    late = "  over budget" if (criteria, checks) == (30, 50) and slow > BUDGET_MS else ""
    return (
        f"{criteria:>8} {checks:>7} {shown[0]:>7.1f} {middle:>7.1f} {slow:>7.1f} {busy:>7.1f} "
        f"{statistics.median(saved):>7.1f} {size // 1024:>6} {len(queries):>8}{late}"
    )


def save(client: Any, address: str, rubric: Any, number: int) -> Any:
    """A function that saves the rubric with a change."""
    from refinement.engine.codec import rubric_to_json
    from refinement.forms.rubrics.initial import form_fields
    from refinement.selectors.rubrics.definitions import definition_of

    version = rubric.versions.first()
    fields = form_fields(rubric_to_json(definition_of(version)))
    fields |= {"edited_from": str(version.number), "purpose": f"Change {number}."}
    body = urlencode(fields)
    return lambda: client.post(address, body, content_type="application/x-www-form-urlencoded")


def timed(ask: Any, status: int) -> tuple[float, float]:
    """Milliseconds of wall time and of CPU time."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = ask()
    took = (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
    assert answer.status_code == status, answer.status_code
    return took


if __name__ == "__main__":
    main()
