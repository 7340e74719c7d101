"""Model calls of a run: lists without texts, single calls in full, and who saw what in a round."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Length, Substr

from refinement.engine.types import Information
from refinement.judging.parsing.partial import Entry, partial_verdict
from refinement.models import Call, CallPurpose, PanelJudge, Run
from refinement.selectors.rubrics.context_tables import KIND_LABELS
from refinement.selectors.runs.words import ERROR_LABELS, RUNG_LABELS, capital_round_name, duration

PAGE_SIZE = 20
MOST_OF_ROUND = 50
REPLY_START = 400
ROLE_WORDS: Mapping[str, str] = {"producer": "Writer", "judge": "Judge", "clerk": "Clerk"}
PURPOSE_WORDS: Mapping[str, str] = {
    CallPurpose.DRAFT: "first draft",
    CallPurpose.REVISE: "revision",
    CallPurpose.REPAIR: "repair",
    CallPurpose.COMPOSE: "compose the board",
    CallPurpose.MERGE: "merge",
    CallPurpose.DESCRIBE: "key change",
}
MOST_CHARS = 30_000  # per text on the page; the full text is linked


@dataclass(frozen=True, slots=True)
class CallLine:
    """A call in a list, without its texts."""

    pk: int
    round_name: str
    title: str  # who is asked, and what for
    attempt: int
    model: str
    endpoint: str
    started_at: Any
    seconds: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None
    cost: Decimal | None
    rung: str
    complaint: str
    error: str
    error_message: str
    cut: bool
    reply_start: str
    reply_chars: int
    reading: tuple[Entry, ...]  # the start of a judge's reply, if readable


@dataclass(frozen=True, slots=True)
class CallText:
    """A text of a call, cut to what a page can show."""

    role: str
    text: str
    missing: int


@dataclass(frozen=True, slots=True)
class CallTexts:
    messages: tuple[CallText, ...]
    reply: CallText
    thinking: CallText
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SeenRow:
    name: str
    description: str
    cells: tuple[str, ...]  # seen, withheld or nothing, by column


@dataclass(frozen=True, slots=True)
class SeenTable:
    """Kinds of information by the roles called in a round."""

    columns: tuple[str, ...]
    rows: tuple[SeenRow, ...]


def calls_of(run: Run, round_number: int | None = None) -> QuerySet[Call]:
    """The calls in order, without their long texts."""
    calls = Call.objects.filter(run=run)
    if round_number is not None:
        calls = calls.filter(round_number=round_number)
    return _without_long_texts(calls)


def _without_long_texts(calls: QuerySet[Call]) -> QuerySet[Call]:
    return (
        calls.order_by("id")
        .defer("messages", "options", "reply", "thinking", "timings")
        .annotate(reply_start=Substr("reply", 1, REPLY_START), reply_chars=Length("reply"))
    )


def calls_of_round(run: Run, number: int) -> list[Call]:
    """The first calls about one round."""
    return _of_round(run.pk, number)


def _of_round(run: int, number: int) -> list[Call]:
    return list(_without_long_texts(Call.objects.filter(run=run, round_number=number))[:MOST_OF_ROUND])


def call_lines(calls: Sequence[Call]) -> list[CallLine]:
    """The calls as lines. One query for the names of a board's judges, if there is one."""
    judges = judge_names(calls)
    return [call_line(call, judges) for call in calls]


def judge_names(calls: Iterable[Call]) -> dict[int, str]:
    """The judges of these calls' board by seat."""
    runs = {call.run_id for call in calls if call.seat}
    return dict(PanelJudge.objects.filter(run__in=runs).values_list("seat", "name")) if runs else {}


def call_title(call: Call, judges: Mapping[int, str]) -> str:
    """Who is asked and what for: `Score · Editor`, `Clerk: merge`; a single judge has its role alone."""
    if call.seat:
        word = "Deliberation" if call.purpose == CallPurpose.DELIBERATE else "Score"
        return f"{word} · {judges.get(call.seat, f'judge {call.seat}')}"
    aim = PURPOSE_WORDS.get(call.purpose, "")
    role = ROLE_WORDS.get(call.role, call.role.capitalize())
    return f"{role}: {aim}" if aim else role


def call_line(call: Call, judges: Mapping[int, str]) -> CallLine:
    start = getattr(call, "reply_start", "") or ""
    return CallLine(
        pk=call.pk,
        round_name=capital_round_name(call.round_number),
        title=call_title(call, judges),
        attempt=call.attempt,
        model=call.model,
        endpoint=call.endpoint,
        started_at=call.started_at,
        seconds=duration(float(call.seconds)),
        prompt_tokens=call.prompt_tokens,
        completion_tokens=call.completion_tokens,
        cached_tokens=call.cached_tokens,
        cost=call.cost,
        rung=RUNG_LABELS.get(call.rung, call.rung),
        complaint=call.complaint,
        error=ERROR_LABELS.get(call.error_kind, call.error_kind),
        error_message=call.error_message,
        cut=call.finish_reason == "length",
        reply_start="\n".join(line for line in start.splitlines() if line.strip()),
        reply_chars=getattr(call, "reply_chars", 0) or 0,
        reading=tuple(partial_verdict(start)) if call.role == "judge" else (),
    )


def call_texts(call: Call) -> CallTexts:
    """The exact messages and the reply, each bounded."""
    return CallTexts(
        messages=tuple(said(entry.get("role", ""), entry.get("content", "")) for entry in call.messages),
        reply=said("reply", call.reply),
        thinking=said("thinking", call.thinking),
        options=tuple((str(key), str(value)[:300]) for key, value in sorted(call.options.items())),
    )


def said(role: Any, text: Any) -> CallText:
    whole = text if isinstance(text, str) else str(text)
    return CallText(str(role), whole[:MOST_CHARS], max(0, len(whole) - MOST_CHARS))


def call_as_text(call: Call) -> str:
    """A full call as plain text."""
    parts = [f"--- {entry.get('role', '')} ---\n{entry.get('content', '')}" for entry in call.messages]
    if call.thinking:
        parts.append(f"--- thinking ---\n{call.thinking}")
    parts.append(f"--- reply ---\n{call.reply}")
    if call.error_message:
        parts.append(f"--- error ---\n{call.error_message}")
    return "\n\n".join(parts)


def seen_table(calls: Sequence[Call]) -> SeenTable | None:
    """Who saw what in a round; each role's last call counts."""
    latest = {call.role: call for call in calls}
    roles = [role for role in ("producer", "judge") if role in latest]
    if not roles:
        return None
    rows = []
    for kind in Information:
        cells = tuple(_cell(latest[role], kind.value) for role in roles)
        if any(cells):
            rows.append(SeenRow(*KIND_LABELS[kind], cells))
    return SeenTable(tuple(ROLE_WORDS[role] for role in roles), tuple(rows))


def _cell(call: Call, kind: str) -> str:
    if kind in call.seen:
        return "seen"
    return "withheld" if kind in call.withheld else ""
