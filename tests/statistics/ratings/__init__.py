"""Real ratings with values that krippendorff 0.9 and numpy computed from them.

- `squality`: 300 answers on short stories, 3 readers each. SQuALITY human evaluation, New York University,
  CC BY 4.0.
- `newsroom`: 420 summaries, 3 crowd workers each. Newsroom human evaluation, as collected in JUDGE-BENCH,
  Apache-2.0.
- `mtbench-retest`: 320 answers, judged three times each by one model. Prometheus-Eval's MT-Bench set,
  Apache-2.0.
"""

import gzip
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent


class Expected(NamedTuple):
    """Of one criterion: alpha over all raters, and the root of the mean within-item variance."""

    name: str
    criterion: str
    items: int
    interval: float
    ordinal: float
    deviation: float


EXPECTED = [
    Expected("squality", "correctness", 300, 0.4587, 0.5344, 26.9310),
    Expected("squality", "selection", 300, 0.7813, 0.7155, 17.8749),
    Expected("squality", "overall", 300, 0.7983, 0.7218, 16.8600),
    Expected("newsroom", "informativeness", 420, 0.2911, 0.2849, 0.9779),
    Expected("newsroom", "relevance", 420, 0.1684, 0.1151, 1.0980),
    Expected("newsroom", "fluency", 420, 0.0264, -0.0158, 1.2802),
    Expected("newsroom", "coherence", 420, 0.0870, 0.0650, 1.1788),
    Expected("mtbench-retest", "overall", 320, 0.8510, 0.8145, 0.5072),
]
SCALES = {"squality": (0, 100), "newsroom": (1, 5), "mtbench-retest": (1, 5)}


def ratings(name: str) -> str:
    """The lines `item,criterion,rater,score`."""
    return gzip.decompress((HERE / f"{name}.csv.gz").read_bytes()).decode()


def criteria(name: str) -> list[str]:
    return [entry.criterion for entry in EXPECTED if entry.name == name]


def raters(name: str) -> list[str]:
    lines = ratings(name).splitlines()[1:]
    return sorted({line.split(",")[2] for line in lines})
