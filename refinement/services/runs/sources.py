"""Write a run's sources."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError

from refinement.judging.sources import BadSource, SourceText, shown_sources, sources_cleaned
from refinement.models import Run, Source


def sources_validate(sources: Sequence[SourceText]) -> tuple[SourceText, ...]:
    """The sources as they will be stored. Raises ValidationError."""
    try:
        return sources_cleaned(sources)
    except BadSource as problem:
        raise ValidationError({"sources": str(problem)}) from problem


def sources_create(*, run: Run, sources: Sequence[SourceText], limit: int) -> None:
    """Store validated sources with a new run. `limit` is how many characters its prompts may contain."""
    shown = shown_sources(sources, limit)
    Source.objects.bulk_create(
        Source(
            run=run,
            position=position,
            name=source.name,
            text=source.text,
            chars=len(source.text),
            shown_chars=part.excerpt.seen_chars,
        )
        for position, (source, part) in enumerate(zip(sources, shown, strict=True), start=1)
    )
