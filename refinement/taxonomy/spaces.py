"""Texts as unit vectors: weighted words and parts of words, reduced to the directions they vary in together.

The reduction brings texts together that share no word but words that occur with the same others, such as
"rollback" and "undo". It starts from fixed random numbers, so the same texts give the same vectors.
"""

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from refinement.taxonomy.words import stems

Vectors = npt.NDArray[np.float32]
DIMENSIONS = 120
SEED = 20_260_101
WORD, PAIR, PART = 1.0, 0.5, 0.35  # weights of the three kinds of features
PART_CHARS = 4
FEWEST_USES = 2  # a feature of one text says nothing about others


def weighted(texts: Sequence[str]) -> sparse.csr_matrix:
    """The texts' features, weighted by how rare they are (tf-idf).

    Rows have length 1 before features of a single text are left out, so a text that shares few of its
    features with others is short, and like nothing.
    """
    rows = [features(text) for text in texts]
    index: dict[str, int] = {}
    lengths = [len(row) for row in rows]
    columns = np.fromiter((index.setdefault(name, len(index)) for row in rows for name in row), np.int32)
    values = np.fromiter(chain.from_iterable(row.values() for row in rows), np.float32)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    matrix = sparse.csr_matrix((values, columns, ends), shape=(len(rows), max(1, len(index))))
    used = np.bincount(columns, minlength=matrix.shape[1])
    rarity = np.log((1 + len(rows)) / (1 + used)) + 1
    whole = unit_rows(matrix @ sparse.diags(rarity.astype(np.float32)))
    return whole[:, np.flatnonzero(used >= FEWEST_USES)] if len(rows) else whole


def features(text: str) -> dict[str, float]:
    """Stems, pairs of neighbours, and parts of stems, each with its weight."""
    words = stems(text)
    found = dict.fromkeys(words, WORD)
    found.update((f"{one} {two}", PAIR) for one, two in pairwise(words))
    for word in words:
        padded = f"_{word}_"
        for start in range(max(0, len(padded) - PART_CHARS + 1)):
            found.setdefault("#" + padded[start : start + PART_CHARS], PART)
    return found


def unit_rows(matrix: sparse.csr_matrix) -> sparse.csr_matrix:
    lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1)).A1
    lengths[lengths == 0] = 1
    return (sparse.diags((1 / lengths).astype(np.float32)) @ matrix).tocsr()


def reduced(matrix: sparse.csr_matrix, dimensions: int = DIMENSIONS) -> Vectors:
    """The rows in the directions of the largest variation, by a randomised singular value decomposition."""
    matrix = unit_rows(matrix)
    rows, columns = matrix.shape
    if not rows or not columns:
        return np.zeros((rows, 1), dtype=np.float32)
    wanted = min(dimensions, max(2, min(rows, columns) // 3))
    width = min(wanted + 10, rows, columns)
    start = np.random.default_rng(SEED).standard_normal((columns, width)).astype(np.float32)
    basis, _ = np.linalg.qr(matrix @ start)
    for _ in range(3):
        basis, _ = np.linalg.qr(matrix @ np.linalg.qr(matrix.T @ basis)[0])
    left, sizes, _ = np.linalg.svd((matrix.T @ basis).T, full_matrices=False)
    return unit((basis @ left[:, :wanted]) * sizes[:wanted])


def unit(vectors: npt.NDArray[np.floating]) -> Vectors:
    """The vectors with length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.asarray(vectors / lengths, dtype=np.float32)
