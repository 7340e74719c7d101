"""How a run is said in a line of a list."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from refinement.charts import Sparkline
from refinement.models import Run, RunSource, RunStatus
from refinement.selectors.decisions import badge_of
from refinement.selectors.run_words import duration, reason_words
from refinement.selectors.runs import Listed
from refinement.selectors.score_words import composite_words
from refinement.templatetags.wording import OUTCOME_CLASSES, exact_words

register = template.Library()

STATUS_CLASSES = {RunStatus.RUNNING: "chip-info", RunStatus.WAITING: "chip-warn"}
MARK_WORDS = (
    (
        "signal_rounds",
        "Ralph signal",
        "The candidate changed and the judge's words did not, in {} of its rounds",
    ),
    ("penalty_rounds", "penalty", "Points were docked in {} of its rounds"),
    ("cut_rounds", "cut", "The judge did not see the whole candidate in {} of its rounds"),
)


@register.simple_tag
def run_state(run: Run) -> SafeString:
    """Outcome and reason of a finished run, or what another one is doing."""
    if run.outcome:
        return format_html(
            '<span class="chip {}">{}</span> <span class="soft small reason" title="{}">{}</span>',
            OUTCOME_CLASSES.get(run.outcome, ""),
            run.outcome,
            run.why,
            reason_words(run),
        )
    chip = STATUS_CLASSES.get(RunStatus(run.status), "")
    waits = run.waiting_for if run.status == RunStatus.WAITING else ""
    return format_html(
        '<span class="chip {}">{}</span> <span class="soft small">{}</span>',
        chip,
        RunStatus(run.status).label,
        waits if len(waits) <= 60 else f"{waits[:59]}…",
    )


@register.simple_tag
def run_decision(run: Run) -> SafeString | str:
    """What people decided, where they did."""
    badge = badge_of(run.decision)
    if badge is None:
        return ""
    return format_html(
        ' <span class="chip decided {}" title="Decided by a person">{}</span>', badge[1], badge[0]
    )


@register.simple_tag
def run_source(run: Run) -> SafeString | str:
    """Where an imported run came from."""
    if run.source is None:
        return ""
    return format_html(
        ' <span class="chip" title="Imported from: {}">imported</span>', RunSource(run.source).label
    )


@register.simple_tag
def run_marks(run: Run) -> SafeString | str:
    """What in its rounds ought to be looked at."""
    found = [
        (words, title.format(count)) for name, words, title in MARK_WORDS if (count := getattr(run, name))
    ]
    return format_html_join(" ", '<span class="mark-word" title="{1}">{0}</span>', found)


@register.simple_tag
def run_line(line: Sparkline | None) -> SafeString | str:
    """A run's scores as a line the size of a word; by hand, because a list has many of them."""
    if line is None:
        return ""
    return format_html(
        '<svg class="sparkline" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" '
        'aria-label="Scores by round: {2}"><polyline class="sparkline-line" points="{3}"/>'
        '<circle class="sparkline-best" cx="{4}" cy="{5}" r="2.5"/></svg>',
        line.width,
        line.height,
        line.words,
        line.points,
        line.best_x,
        line.best_y,
    )


@register.simple_tag
def run_tags(address: str, entry: Listed) -> SafeString | str:
    """Each tag as the way to all runs that have it."""
    chips = format_html_join(
        "",
        ' <a class="chip tag" href="{}?{}"><bdi>{}</bdi></a>',
        ((address, urlencode({"tag": name}), name) for name in entry.tags),
    )
    more = format_html(' <span class="faint">+{}</span>', entry.more_tags) if entry.more_tags else ""
    return format_html("{}{}", chips, more)


@register.simple_tag
def comes(moment: datetime) -> SafeString:
    """When something is due: in how long, with the exact time for machines and on pointing at it."""
    left = (moment - timezone.now()).total_seconds()
    words = "due now" if left < 1 else f"in {duration(left)}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact_words(moment), words
    )


@register.simple_tag
def run_score(value: Decimal, run: Run, decimals: Mapping[int, int]) -> str:
    """A composite of a run in a list that knows its rubrics' decimals."""
    return composite_words(value, decimals.get(run.rubric_version_id))


@register.filter
def spent(seconds: Decimal) -> str:
    """The models' time, in its two largest units."""
    return duration(float(seconds)) if seconds else "–"
