"""Groups made-up issues of judges and compares the result with the kinds that they were made from.

    python -m benchmarks.issues [--issues 5000] [--seed 1]

Prints the adjusted Rand index for issues of 40 kinds, with the criterion of each issue known and unknown, and
the processor time for 20,000 issues on one core.

Each kind has several words for its subject and for what is wrong with it. Issues combine them in one of many
sentences, with places, numbers, quotations and remarks that say nothing about the kind. Kinds share words:
"missing", "section" or "steps" are in several, and two issues of one kind often have no word in common.
"""

import argparse
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported: one core is what is measured


class Kind(NamedTuple):
    """What goes wrong: a criterion, words for the subject, and words for what is wrong with it."""

    criterion: str
    subjects: tuple[str, ...]
    faults: tuple[str, ...]


class Made(NamedTuple):
    """An issue and the kind that it was made from."""

    text: str
    criterion: str
    kind: int


WORDS = (Path(__file__).parent / "issues.txt").read_text("utf-8").splitlines()[1:]
KINDS = tuple(
    Kind(criterion, tuple(subjects.split(" / ")), tuple(faults.split(" / ")))
    for criterion, subjects, faults in (line.split(" | ") for line in WORDS if " | " in line)
)
PLACES, REMARKS, SENTENCES, QUOTED = (
    tuple(line.partition(" = ")[2].split(" / ")) for line in WORDS if " | " not in line
)


def made(count: int, seed: int) -> list[Made]:
    """This many issues of the 40 kinds. Some kinds are ten times as frequent as others."""
    chance = random.Random(seed)
    weights = [1 / (1 + place % 10) for place in range(len(KINDS))]
    numbers = chance.choices(range(len(KINDS)), weights, k=count)
    return [Made(sentence(KINDS[number], chance), KINDS[number].criterion, number) for number in numbers]


def sentence(of: Kind, chance: random.Random) -> str:
    numbers = {"n": chance.randint(1, 9), "m": chance.randint(0, 40), "q": chance.choice(QUOTED)}
    subject, place = chance.choice(of.subjects), chance.choice(PLACES).format(**numbers)
    return chance.choice(SENTENCES).format(
        S=subject[:1].upper() + subject[1:],
        s=subject,
        f=chance.choice(of.faults),
        P=place[:1].upper() + place[1:],
        p=place,
        r=chance.choice(REMARKS).format(**numbers),
        **numbers,
    )


def adjusted_rand(one: Sequence[int], other: Sequence[int]) -> float:
    """How alike two groupings are: 1 if they are the same, about 0 if they are unrelated."""
    import numpy as np

    table = np.zeros((max(one) + 1, max(other) + 1))
    np.add.at(table, (np.asarray(one), np.asarray(other)), 1)

    def pairs(counts: "np.ndarray") -> float:
        return float((counts * (counts - 1) / 2).sum())

    rows, columns, total = pairs(table.sum(1)), pairs(table.sum(0)), pairs(np.array([len(one)]))
    expected = rows * columns / total
    return (pairs(table.ravel()) - expected) / ((rows + columns) / 2 - expected)


def labels(places: Sequence[int | None]) -> list[int]:
    """Groups as numbers. Issues that fit nowhere count as a group each, which is the worst for the index."""
    found, alone = [], max((place for place in places if place is not None), default=-1) + 1
    for place in places:
        found.append(alone if place is None else place)
        alone += place is None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--issues", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    items = made(given.issues, given.seed)
    print(
        "for example:",
        *(f"  {item.kind:>2}  {item.criterion:<13} {item.text}" for item in items[:8]),
        sep="\n",
    )
    for known in (True, False):
        started = time.process_time()
        index, categories, unplaced = agreement(items, with_criteria=known)
        print(
            f"{len(items):,} issues, criterion {'known' if known else 'unknown'}: adjusted Rand index "
            f"{index:.3f}, {categories} categories, {unplaced} issues fit nowhere, "
            f"{time.process_time() - started:.1f} s"
        )
    many = made(20_000, given.seed)
    started = time.process_time()
    index, categories, unplaced = agreement(many, with_criteria=True)
    print(f"20,000 issues: {time.process_time() - started:.1f} s of processor time, index {index:.3f}")


def agreement(items: Sequence[Made], *, with_criteria: bool) -> tuple[float, int, int]:
    """The index, the number of categories and how many issues fit nowhere."""
    from refinement.taxonomy.grouping import Issue, categorise

    issues = [
        Issue(item.text, item.criterion if with_criteria else "", n // 4) for n, item in enumerate(items)
    ]
    found = categorise(issues)
    index = adjusted_rand([item.kind for item in items], labels(found.places))
    return index, len(found.new), sum(place is None for place in found.places)


if __name__ == "__main__":
    main()
