"""Embeddings of issues by the instance's embedding model (WIGGUM_EMBEDDING_MODEL), if it has one."""

import logging
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from django.conf import settings

from refinement.providers.base import Embeds, ProviderError
from refinement.providers.registry import parse_target
from refinement.selectors.endpoints import provider_for

if TYPE_CHECKING:
    from refinement.taxonomy.spaces import Vectors

log = logging.getLogger("wiggum.reports")
AT_ONCE = 64  # texts in a request
MOST_TEXTS = 12  # of a category
SECONDS = 60.0


def embeddings_of(
    texts: Sequence[str], groups: Sequence[Sequence[str]]
) -> "tuple[Vectors, list[Vectors]] | None":
    """Vectors of the texts and of each group's texts; None to compare words instead.

    If the model server is unavailable, words are compared instead, and the log says so.
    """
    if not settings.EMBEDDING_MODEL:
        return None
    import numpy as np

    parts = [list(group[:MOST_TEXTS]) for group in groups]
    every = [*texts, *(text for part in parts for text in part)]
    try:
        target = parse_target(settings.EMBEDDING_MODEL)
        provider = provider_for(target.endpoint)
        if not isinstance(provider, Embeds):
            raise ValueError(f"{target.endpoint} has no embeddings")
        found = [
            vector
            for start in range(0, len(every), AT_ONCE)
            for vector in provider.embed(target.model, every[start : start + AT_ONCE], seconds=SECONDS)
        ]
    except (ProviderError, ValueError) as error:
        log.warning("embeddings are not available, so words are compared: %s", error)
        return None
    vectors = np.array(found, dtype=np.float32)
    ends = [len(texts)]
    for part in parts:
        ends.append(ends[-1] + len(part))
    return vectors[: len(texts)], [vectors[a:b] for a, b in pairwise(ends)]
