"""Puts issues into categories: known ones first, then new ones for issues that several runs have.

`categorise` never changes a known category, and it is only called for issues that have none. So categories
are stable, and people's changes to them are kept.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from refinement.taxonomy.naming import automatic_name
from refinement.taxonomy.spaces import Vectors, reduced, unit, weighted

Numbers = npt.NDArray[np.intp]
FEWEST_ISSUES, FEWEST_RUNS = 3, 2  # of a new category
MOST_LINKED = 3_000  # issues of a criterion whose distances are all computed; the others join them
MOST_EXAMPLES = 24
REFINEMENTS = 3
FEWEST_SHARED = 0.04  # average cosine of an issue's words to those of its category's other issues
MOST_SUGGESTIONS = 5
SAME_WORDS = 0.85  # likeness from which two criteria's categories may be one


@dataclass(frozen=True, slots=True)
class Measure:
    """How alike is alike enough, as cosines. Embeddings of any two English sentences are rather alike."""

    cut: float  # of the tree: groups closer than this are one
    fits: float  # an issue and the middle of its category
    fits_other: float  # the same, for a category of another criterion
    similar: float  # two categories that people may want to merge


LEXICAL = Measure(cut=0.06, fits=0.25, fits_other=0.8, similar=0.3)
EMBEDDED = Measure(cut=0.62, fits=0.68, fits_other=0.9, similar=0.85)


@dataclass(frozen=True, slots=True)
class Issue:
    """What a judge said about a criterion in a run; empty if the criterion is unknown."""

    text: str
    criterion: str
    run: int
    sure: bool = True  # False if the criterion is a guess


@dataclass(frozen=True, slots=True)
class Known:
    """A category with texts that are typical of it."""

    criterion: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class New:
    """A category made from issues that no known one fits."""

    criterion: str
    name: str
    examples: tuple[str, ...]


@dataclass(slots=True)
class Categorised:
    """For each issue the number of its category, known ones first and then new ones, or None.

    `closeness` is each issue's cosine to the middle of its category, and `similar` has pairs of categories
    that are nearly alike, with their cosine.
    """

    places: list[int | None]
    closeness: list[float]
    new: list[New] = field(default_factory=list)
    similar: list[tuple[int, int, float]] = field(default_factory=list)


def categorise(
    issues: Sequence[Issue],
    known: Sequence[Known] = (),
    *,
    vectors: Vectors | None = None,
    known_vectors: Sequence[Vectors] = (),
) -> Categorised:
    """Places the issues in known categories or in new ones. The same arguments give the same result.

    `vectors` are embeddings of the issues and `known_vectors` those of each known category's examples;
    without them, words are compared.
    """
    if not issues:
        return Categorised([], [])
    if vectors is None:
        vectors, known_vectors, overlap = lexical(issues, known)
        measure = LEXICAL
    else:
        measure, overlap = EMBEDDED, None
    vectors = unit(np.asarray(vectors, dtype=np.float32).reshape(len(issues), -1))
    middles = np.array([unit(np.asarray(part)).mean(axis=0) for part in known_vectors])
    middles = unit(middles.reshape(len(known), -1)) if known else vectors[:0]
    places = np.full(len(issues), -1)
    if known:
        places = joined(issues, vectors, known, middles, measure, overlap)
    new: list[New] = []
    for criterion in [*sorted({issue.criterion for issue in issues if issue.sure}), None]:
        if criterion is None and new:  # what is left are guesses: they fit the new categories, or make others
            near = joined(issues, vectors, [*known, *new], middles, measure, None)
            places = np.where((places < 0) & [not issue.sure for issue in issues], near, places)
        own = (n for n, issue in enumerate(issues) if places[n] < 0 and group_of(issue) == criterion)
        free = np.fromiter(own, dtype=np.intp)
        for rows in groups(vectors[free], [issues[n].run for n in free], measure, overlap, free):
            members = free[rows]
            middle = unit(vectors[members].mean(axis=0, keepdims=True))
            members = members[np.argsort(-(vectors[members] @ middle[0]), kind="stable")]
            places[members] = len(known) + len(new)
            middles = np.vstack([middles, middle]) if len(middles) else middle
            new.append(described([issues[n] for n in members]))
    return Categorised(
        [int(place) if place >= 0 else None for place in places],
        [float(vectors[n] @ middles[place]) if place >= 0 else 0.0 for n, place in enumerate(places)],
        new,
        near_pairs([*(e.criterion for e in known), *(e.criterion for e in new)], middles, measure),
    )


@dataclass(frozen=True, slots=True)
class Overlap:
    """The words of the issues and of each known category, to tell whether they share any.

    The reduced vectors alone call texts alike that merely are unlike all others.
    """

    issues: sparse.csr_matrix
    known: sparse.csr_matrix

    def with_known(self) -> Vectors:
        """Each issue's average cosine to the examples of each known category."""
        return np.asarray((self.issues @ self.known.T).todense())

    def within(self, rows: Numbers) -> Vectors:
        """Each row's average cosine to the other rows."""
        part = self.issues[rows]
        own = np.asarray(part.multiply(part).sum(axis=1)).ravel()
        shared = part @ np.asarray(part.sum(axis=0)).ravel() - own
        return np.asarray(shared / max(1, len(rows) - 1))


def lexical(issues: Sequence[Issue], known: Sequence[Known]) -> tuple[Vectors, list[Vectors], Overlap]:
    """Vectors of the issues and of each category's examples in one space, and their words."""
    texts = [issue.text for issue in issues] + [text for entry in known for text in entry.examples]
    words = weighted(texts)
    found = reduced(words)
    ends = np.cumsum([len(issues), *(len(entry.examples) for entry in known)])
    parts = list(pairwise(ends))
    means = [sparse.csr_matrix(words[a:b].mean(axis=0)) for a, b in parts]
    overlap = Overlap(words[: len(issues)], sparse.vstack(means).tocsr() if means else words[:0])
    return found[: len(issues)], [found[a:b] for a, b in parts], overlap


def joined(
    issues: Sequence[Issue],
    vectors: Vectors,
    known: Sequence[Known | New],
    middles: Vectors,
    measure: Measure,
    overlap: Overlap | None,
) -> Numbers:
    """The known category that each issue fits best, or -1. Another criterion's must fit much better."""
    criteria = {
        name: n for n, name in enumerate(sorted({e.criterion for e in issues} | {e.criterion for e in known}))
    }
    own = np.array([criteria[issue.criterion] for issue in issues])
    theirs = np.array([criteria[entry.criterion] for entry in known])
    likeness = vectors @ middles.T
    guessed = np.array([not issue.sure for issue in issues])
    allowed = guessed[:, None] | (own[:, None] == theirs[None, :])
    needed = np.where(allowed, measure.fits, measure.fits_other)
    margins = likeness - needed
    if overlap is not None:
        margins[overlap.with_known() < FEWEST_SHARED] = -1
    best = margins.argmax(axis=1)
    return np.where(margins[np.arange(len(issues)), best] >= 0, best, -1)


def groups(
    vectors: Vectors,
    runs: Sequence[int],
    measure: Measure,
    overlap: Overlap | None,
    rows_of: Numbers,
) -> list[Numbers]:
    """Groups of alike rows that were said in several runs, the largest first; some rows are in none."""
    if len(vectors) < FEWEST_ISSUES:
        return []
    labels = first_labels(vectors, measure)
    for _ in range(REFINEMENTS):
        labels = nearest(vectors, labels, measure)
    found = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    if overlap is not None:
        found = [rows[overlap.within(rows_of[rows]) >= FEWEST_SHARED] for rows in found]
    large = [
        rows
        for rows in found
        if len(rows) >= FEWEST_ISSUES and len({runs[int(n)] for n in rows}) >= FEWEST_RUNS
    ]
    return sorted(large, key=lambda rows: (-len(rows), rows[0]))


def first_labels(vectors: Vectors, measure: Measure) -> Numbers:
    """Groups by average linkage among some rows, spread evenly; -1 for the others."""
    labels = np.full(len(vectors), -1)
    count = min(len(vectors), MOST_LINKED)
    chosen = np.unique(np.linspace(0, len(vectors) - 1, count).astype(int))
    chosen = chosen[np.linalg.norm(vectors[chosen], axis=1) > 0]
    if len(chosen) < FEWEST_ISSUES:
        return labels
    distances = np.clip(pdist(vectors[chosen], "cosine"), 0, 2)
    labels[chosen] = fcluster(linkage(distances, "average"), 1 - measure.cut, "distance") - 1
    return labels


def nearest(vectors: Vectors, labels: Numbers, measure: Measure) -> Numbers:
    """Moves each row to the group whose middle is nearest, out of all groups if it is near none."""
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    large = np.flatnonzero(sizes >= FEWEST_ISSUES)
    if not len(large):
        return np.full(len(vectors), -1)
    middles = np.zeros((len(sizes), vectors.shape[1]), dtype=np.float32)
    np.add.at(middles, labels[labels >= 0], vectors[labels >= 0])
    likeness = vectors @ unit(middles[large]).T
    best = likeness.argmax(axis=1)
    return np.where(likeness[np.arange(len(vectors)), best] >= measure.fits, best, -1)


def group_of(issue: Issue) -> str | None:
    """Issues are grouped within their criterion, and all guesses together."""
    return issue.criterion if issue.sure else None


def described(issues: Sequence[Issue]) -> New:
    """A new category from its issues, the most typical first. Its criterion is the most frequent one."""
    texts = [issue.text for issue in issues]
    [(criterion, _)] = Counter(issue.criterion for issue in issues).most_common(1)
    return New(criterion, automatic_name(texts), examples_of(list(dict.fromkeys(texts))))


def examples_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Texts from the most to the least typical one, so that later issues of every wording join."""
    places = np.unique(np.linspace(0, len(texts) - 1, min(len(texts), MOST_EXAMPLES)).astype(int))
    return tuple(texts[int(place)] for place in places)


def near_pairs(criteria: Sequence[str], middles: Vectors, measure: Measure) -> list[tuple[int, int, float]]:
    """Pairs of categories that are nearly alike, the nearest first.

    Those of two criteria have to be nearly the same words.
    """
    if len(criteria) < 2:
        return []
    likeness = np.triu(middles @ middles.T, 1)
    rows, columns = np.nonzero(likeness >= measure.similar)
    found = [
        (int(a), int(b), round(float(likeness[a, b]), 3))
        for a, b in zip(rows, columns, strict=True)
        if criteria[int(a)] == criteria[int(b)] or likeness[a, b] >= SAME_WORDS
    ]
    return sorted(found, key=lambda pair: (-pair[2], pair[:2]))[:MOST_SUGGESTIONS]
