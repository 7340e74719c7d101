"""Streamed downloads of runs, for pages and the API."""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.utils.text import slugify

from refinement.access.projects import ProjectRequest
from refinement.engine.codec import rubric_from_json
from refinement.interchange.exports.json import run_json
from refinement.interchange.exports.markdown import run_markdown
from refinement.interchange.exports.rows import runs_csv, runs_jsonl
from refinement.interchange.exports.training_pairs import pair_lines, sft_lines
from refinement.models import Project, Run
from refinement.selectors.runs.exports import (
    COLUMNS,
    best_candidate,
    call_values,
    decision_values,
    event_values,
    human_score_values,
    instruction_values,
    numbers_of,
    result_candidate,
    round_values,
    run_summaries,
    run_values,
    source_values,
)
from refinement.selectors.runs.imports import import_sentence
from refinement.selectors.runs.ledger import feedback_values
from refinement.selectors.runs.training import TrainingChoice, better_and_worse, good_texts
from refinement.selectors.runs.watch import watch_sentences
from refinement.selectors.trust.gate import unproven_pass

PIECE_CHARS = 64_000


TYPES = {
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
}


def exported(request: HttpRequest, run: Run, form: str) -> StreamingHttpResponse:
    """A download of the run. Raises Http404 for an unknown format."""
    write = RUN_FORMS.get(form)
    if write is None:
        raise Http404(f"A run cannot be exported as {form[:20]!r}.")
    name = slugify(run.title)[:40].strip("-_")
    return sent(request, write(run), "-".join(filter(None, (f"run-{run.pk}", name))), form)


def many_exported(request: ProjectRequest, runs: QuerySet[Run], form: str) -> StreamingHttpResponse:
    """A download of these runs, one per line."""
    summaries = run_summaries(request.project, numbers_of(runs), tasks=form == "jsonl")
    pieces = runs_csv(COLUMNS, summaries) if form == "csv" else runs_jsonl(summaries)
    return sent(request, pieces, "runs" if form == "jsonl" else f"runs-{request.project.slug}", form)


def whole(run: Run) -> Iterator[str]:
    """The complete run as JSON, enough to import it again."""
    return run_json(
        run_values(run),
        sources=source_values(run),
        rounds=round_values(run),
        calls=call_values(run),
        events=event_values(run),
        human_scores=human_score_values(run),
        decisions=decision_values(run),
        instructions=instruction_values(run),
        feedback=feedback_values(run, rubric_from_json(run.snapshot)),
    )


def report(run: Run) -> Iterator[str]:
    rounds, rubric = list(round_values(run, candidates=False)), rubric_from_json(run.snapshot)
    return run_markdown(
        run_values(run),
        rubric,
        rounds=rounds,
        sources=list(source_values(run, texts=False)),
        best=best_candidate(run),
        human_scores=list(human_score_values(run)),
        decisions=list(decision_values(run)),
        feedback=feedback_values(run, rubric),
        unproven=unproven_pass(run),
        watch=watch_sentences(run, rubric),
        imported=import_sentence(run),
    )


def result(run: Run) -> Iterator[str]:
    """The text of the chosen or best round. Raises Http404 if no round is judged."""
    text = result_candidate(run)
    if text is None:
        raise Http404("No round of this run has been judged yet.")
    return iter((text,))


RUN_FORMS: dict[str, Callable[[Run], Iterator[str]]] = {"json": whole, "md": report, "txt": result}


def sent(request: HttpRequest, pieces: Iterator[str], name: str, form: str) -> StreamingHttpResponse:
    """A streamed download of the pieces."""
    if request.method == "HEAD":
        pieces = iter(())
    parts = in_parts(pieces)
    # With a mismatching iterator, Django collects everything in memory first.
    content = async_iterator(parts) if isinstance(request, ASGIRequest) else parts
    answer = StreamingHttpResponse(content, content_type=TYPES[form])
    answer["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    answer["X-Content-Type-Options"] = "nosniff"
    return answer


def in_parts(pieces: Iterator[str]) -> Iterator[bytes]:
    """Join small pieces, because each part has a cost in the server."""
    kept: list[str] = []
    size = 0
    for piece in pieces:
        kept.append(piece)
        size += len(piece)
        if size >= PIECE_CHARS:
            yield "".join(kept).encode()
            kept, size = [], 0
    if kept:
        yield "".join(kept).encode()


async def async_iterator(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    following = sync_to_async(lambda: next(parts, None))
    while (part := await following()) is not None:
        yield part


Lines = Callable[[Project, Sequence[int], TrainingChoice], Iterator[str]]


def sft(project: Project, numbers: Sequence[int], choice: TrainingChoice) -> Iterator[str]:
    return sft_lines(good_texts(project, numbers, choice))


def pairs(project: Project, numbers: Sequence[int], choice: TrainingChoice) -> Iterator[str]:
    return pair_lines(better_and_worse(project, numbers, choice))


FORMS: dict[str, Lines] = {"sft": sft, "pairs": pairs}


def training_sent(
    request: ProjectRequest, runs: QuerySet[Run], form: str, choice: TrainingChoice
) -> StreamingHttpResponse:
    """A download of training data."""
    lines = FORMS[form](request.project, numbers_of(runs), choice)
    return sent(request, lines, f"{form}-{request.project.slug}", "jsonl")
