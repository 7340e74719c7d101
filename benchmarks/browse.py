"""How long pages and the API take about runs, by how many there are: `python -m benchmarks.browse`.

For each database and each number of runs, a project is filled (4 rounds a run, candidates of 6 KB) and every
page is asked for many times, in process, from the middleware to the last byte. Printed are medians and 95th
percentiles in milliseconds, and how the largest size compares with the smallest. The bars: 60 ms at the 95th
percentile (200 for all 500 comments of a run at once), and 1.3 times the median of the smallest size.

On a machine that others use as well, `--processor` counts the processor time of this process and of
PostgreSQL's in place of the time that passed.
"""

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.crowd import talked_about
from benchmarks.filling import RARE_WORD, filled
from benchmarks.instance import ROOT, Instance, instance

SIZES = (1_000, 10_000, 100_000)
CHARS = 6_000
REPEATS = 25
WARM_UPS = 3
BAR_MS, BAR_RATIO = 60, 1.3
PART = "part"  # of a page that is open, asked for by htmx
ALL_THREADS = "all its 50 threads"  # asked for on purpose: its bar is another one
BARS_MS = {ALL_THREADS: 200}
COMMON_WORD = "restart"
LINE = b'<th scope="row">'
Measured = dict[str, dict[str, Any]]  # by page: milliseconds of each request, sorted, and lines of its list
NOWHERE = "http://127.0.0.1:9"


def main() -> None:
    options = arguments()
    if options.measure:
        print(json.dumps(measured(options.measure, options.chars, processor=options.processor)))
        return
    for database in options.databases:
        results = {}
        for size in options.sizes:
            with instance(database, NOWHERE) as made:
                results[size] = asked(made, size, options)
        show(database, results)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgres"])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--chars", type=int, default=CHARS)
    parser.add_argument("--processor", action="store_true", help="count processor time")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def asked(made: Instance, size: int, options: argparse.Namespace) -> Measured:
    """What a process of its own measured on this instance."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.browse",
        "--measure",
        str(size),
        "--chars",
        str(options.chars),
    ]
    command += ["--processor"] if options.processor else []
    done = subprocess.run(
        command, cwd=ROOT, env=made.environment, check=True, stdout=subprocess.PIPE, text=True
    )
    found: Measured = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(size: int, chars: int, *, processor: bool) -> Measured:
    os.environ["DJANGO_SETTINGS_MODULE"] = "wiggum_site.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.urls import get_resolver

    call_command("collectstatic", interactive=False, verbosity=0)
    start = time.monotonic()
    client, project = filled(size, chars)
    print(f"{size:,} runs made in {time.monotonic() - start:.0f} s", file=sys.stderr)
    get_resolver().url_patterns  # noqa: B018  as wiggum_site/asgi.py does
    gc.collect()
    gc.freeze()
    clock = processor_seconds if processor else time.perf_counter
    script = token_client(project)
    return {
        **{
            name: timed(client, address, clock, part=name.startswith(PART))
            for name, address in pages(project)
        },
        **{name: timed(script, address, clock) for name, address in operations(project)},
    }


def pages(project: Any) -> Iterator[tuple[str, str]]:
    """Every page and its address; those that this version does not have are left out."""
    from django.urls import NoReverseMatch, reverse
    from django.utils import timezone

    from refinement.models import Run

    numbers = list(Run.objects.filter(project=project).order_by("pk").values_list("pk", flat=True))
    middle = numbers[len(numbers) // 2]
    for name, query in filters(middle, timezone.now().date()):
        yield name, f"{reverse('run_list', args=[project.slug])}?{urlencode(query)}"
    talked = numbers[len(numbers) // 3]
    best = talked_about(project, Run.objects.get(pk=talked))
    wanted = (
        ("home", "project_home", [project.slug], ""),
        ("run page", "run_page", [project.slug, middle], ""),
        ("run with 500 comments", "run_page", [project.slug, talked], ""),
        (ALL_THREADS, "run_page", [project.slug, talked], "?all=1"),
        ("a round", "run_round", [project.slug, middle, 2], ""),
        ("a difference", "run_diff", [project.slug, middle], "?a=1&b=3"),
        ("calls", "run_calls", [project.slug, middle], ""),
        ("compare two", "run_compare", [project.slug], f"?run={middle}&run={numbers[-1]}"),
        ("rubrics", "rubric_list", [project.slug], ""),
        (f"{PART}: six threads", "run_threads", [project.slug, talked], f"?round={best}"),
        (f"{PART}: 20 people's scores", "run_people", [project.slug, talked, best], ""),
    )
    for name, view, values, query_text in wanted:
        try:
            yield name, f"{reverse(view, args=values)}{query_text}"
        except NoReverseMatch:
            continue


def token_client(project: Any) -> Any:
    """A script with a token of the project's owner."""
    from django.test import Client

    from refinement.models import User
    from refinement.services.tokens import token_make

    owner = User.objects.get(email="bench@example.org")
    _, token = token_make(project=project, by=owner, name="Bench", role="owner", days=7)
    return Client(headers={"host": "localhost", "authorization": f"Bearer {token}"})


def operations(project: Any) -> Iterator[tuple[str, str]]:
    """The API's lists and reads of runs, as a script asks for them."""
    from django.urls import reverse

    from refinement.models import Run

    numbers = list(Run.objects.filter(project=project).order_by("pk").values_list("pk", flat=True))
    runs, middle = reverse("api:run_list", args=[project.slug]), numbers[len(numbers) // 2]
    for name, query in (
        ("list", {}),
        ("list of 100", {"limit": 100}),
        ("list of 100, some fields", {"limit": 100, "fields": "id,status,best"}),
        ("list, filtered", {"outcome": "FAIL", "tag": "docs"}),
        ("list, sorted", {"sort": "-best"}),
        ("list, search", {"q": COMMON_WORD}),
    ):
        yield f"API: {name}", f"{runs}?{urlencode(query)}"
    for name, rest in (("run", ""), ("rounds", "/rounds"), ("a round", "/rounds/2"), ("events", "/events")):
        yield f"API: {name}", f"{runs}/{middle}{rest}"


def filters(middle: int, today: Any) -> Iterator[tuple[str, dict[str, object]]]:
    from refinement.models import User
    from refinement.selectors.run_orders import ORDERS

    person = User.objects.get(email="mina.okafor@demo.example").pk
    week = {"since": today - timedelta(days=60), "until": today - timedelta(days=53)}
    yield from {
        "list": {},
        "a page in the middle": {"after": middle},
        "outcome, common": {"outcome": "PASS"},
        "outcome, rare": {"outcome": "DONE"},
        "reason": {"reason": "judge_failed"},
        "status, rare": {"status": "paused"},
        "status, none": {"status": "running"},
        "rubric": {"rubric": "answers"},
        "producer": {"producer": "qwen3:4b"},
        "judge": {"judge": "llama3.3:70b"},
        "person": {"person": person},
        "tag, common": {"tag": "docs"},
        "tag, rare": {"tag": "rare"},
        "tag, none": {"tag": "nowhere"},
        "kinship": {"kinship": "same_model"},
        "mark: signal": {"mark": "signal"},
        "mark: penalty": {"mark": "penalty"},
        "mark: cut": {"mark": "cut"},
        "dates": week,
        "best, common": {"best_min": 7},
        "best, none": {"best_min": 9.9},
        "first round, some": {"r1_min": 6.2},
        "archived": {"archived": "on"},
        "three filters": {"outcome": "FAIL", "producer": "qwen3:4b", "tag": "docs"},
        "search, rare": {"q": RARE_WORD},
        "search, common": {"q": COMMON_WORD},
        "search, none": {"q": "quagga"},
        "search, phrase": {"q": '"stop the old instance"'},
        "search, words apart": {"q": '"instance old the stop"'},
        "search and filter": {"q": COMMON_WORD, "outcome": "DONE"},
        "search, sorted": {"q": COMMON_WORD, "sort": "best"},
    }.items()
    for order in ORDERS:
        yield f"order: {order}", {"sort": order}
        yield f"order: {order}, up", {"sort": f"-{order}"}


def processor_seconds() -> float:
    """What this process and, where there is one, the database's own have used of a processor."""
    from django.db import connection

    used = time.process_time()
    if connection.vendor == "postgresql":
        connection.ensure_connection()
        backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
        used += int(backend.read_text().split()[0]) / 1e9
    return used


def timed(client: Any, address: str, clock: Callable[[], float], *, part: bool = False) -> dict[str, Any]:
    took, headers = [], {"HX-Request": "true"} if part else {}
    for _ in range(WARM_UPS + REPEATS):
        start = clock()
        answer = client.get(address, headers=headers)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        took.append((clock() - start) * 1000)
        assert answer.status_code == 200, (address, answer.status_code)
        assert body
    return {"took": sorted(took[WARM_UPS:]), "lines": body.count(LINE)}


def show(database: str, results: dict[int, Measured]) -> None:
    """The table of one database: for each size median and 95th percentile, and the ratio of the ends.

    Where a list is longer at the largest size, its lines are told: they count in the ratio as well.
    """
    sizes = list(results)
    heads = "".join(f"{f'{size:,}':>16}" for size in sizes)
    print(f"\n{database}: median and 95th percentile in ms\n{'':30}{heads}{'ratio':>9}")
    for name in results[sizes[0]]:
        rows = [results[size][name]["took"] for size in sizes]
        middles, slow = [statistics.median(row) for row in rows], [row[int(len(row) * 0.95)] for row in rows]
        cells = "".join(f"{middle:>8.1f}{late:>8.1f}" for middle, late in zip(middles, slow, strict=True))
        ratio = middles[-1] / middles[0]
        over = " over" if max(slow) > BARS_MS.get(name, BAR_MS) or ratio > BAR_RATIO else ""
        few, many = results[sizes[0]][name]["lines"], results[sizes[-1]][name]["lines"]
        lines = f"  ({few} and {many} lines)" if few != many else ""
        print(f"{name:30}{cells}{ratio:>9.2f}{over}{lines}")


if __name__ == "__main__":
    main()
