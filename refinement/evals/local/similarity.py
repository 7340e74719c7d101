"""The similar assertion: cosine similarity of embeddings from a model server."""

import math
from collections.abc import Callable, Sequence

from refinement.engine.types import Check
from refinement.judging.checks import CannotCheck
from refinement.judging.checks.kinds import Finding, decimal_of, quoted, share_of
from refinement.providers.base import ProviderError

DEFAULT_THRESHOLD = 0.75

# Vectors of texts by the model of a provider, which is the assertion's own or empty.
Embed = Callable[[Sequence[str], str], Sequence[Sequence[float]]]


def similarity(check: Check, candidate: str, embed: Embed) -> Finding:
    """The best similarity with the references. Raises CannotCheck if there are no embeddings."""
    references = check.parameters["references"]
    assert isinstance(references, list | tuple)
    texts = [str(text) for text in references]
    try:
        own, *others = embed([candidate, *texts], str(check.parameters.get("provider") or ""))
    except ProviderError as error:
        raise CannotCheck(f"similar: no embeddings. {error.message}") from error
    values = [cosine(own, other) for other in others]
    best = max(values)
    threshold = decimal_of(check.parameters, "threshold")
    least = DEFAULT_THRESHOLD if threshold is None else float(threshold)
    if best >= least:
        return Finding(True, score=share_of(best))
    nearest = texts[values.index(best)]
    message = f"The similarity with {quoted(nearest)} is {best:.2f}; at least {least:g} is needed."
    return Finding(False, message, score=share_of(best))


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0
