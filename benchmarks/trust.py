"""Judge trust: how often intervals hold the truth, how long computing takes, and the web process's memory.

    python -m benchmarks.trust [--samples 500] [--sizes 30 50 100 300]

Coverage: people and a judge score the same simulated texts with known noise and bias; each figure's interval
should hold the value of the whole population in 93 to 97 % of the samples. The budget is for the mean over
the sizes from 50 texts: a single share of 500 samples is uncertain by 1 point.

Time: 20,000 ratings on each of 6 criteria, by three people and a judge, within 10 s. Memory: the web process
imports neither numpy nor scipy, so that the page costs it nothing; shown is what the import would cost.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter

import numpy as np

from refinement.statistics.agreement.bootstrap import Figure, figures_of
from refinement.statistics.agreement.correction import corrected_mean
from refinement.statistics.agreement.judges import Ratings, judge_figures
from refinement.statistics.agreement.preferences import family_measure, length_measure
from refinement.statistics.resampling import Floats

POPULATION = 400_000
BUDGET = (0.93, 0.97)
FIRST_WITH_BUDGET = 50
SECONDS = 10.0
PASS_MARK = 7.5
JUDGED = (
    *("kappa", "alpha", "bias", "mae", "tau_b", "within_one"),
    *("retest_sd", "smallest_difference", "flip_rate", "against_people"),
)


def simulated(random: np.random.Generator, texts: int) -> tuple[Ratings, Floats, Floats]:
    """Ratings with gaps, lengths, and which texts are of the judge's family.

    The judge is 0.8 too high on average, likes long texts and its family, and has a noise of 0.5.
    """
    quality = random.normal(6, 1.5, texts)
    people = np.clip(np.round(quality[:, None] + random.normal(0, 0.9, (texts, 3))), 0, 10)
    gaps = random.random((texts, 3)) < 0.25
    gaps[np.arange(texts), random.integers(0, 3, texts)] = False
    people[gaps] = np.nan
    words, same = random.gamma(4, 75, texts), random.random(texts) < 0.3
    liked = 0.8 + 0.002 * (words - 300) + 0.4 * same
    own = quality + liked + random.normal(0, 0.7, texts)
    judge = np.clip(own[:, None] + random.normal(0, 0.5, (texts, 3)), 0, 10)
    return Ratings(people, judge, judge), words, same


def figures(random: np.random.Generator, texts: int) -> dict[str, Figure | None]:
    ratings, words, same = simulated(random, texts)
    found = judge_figures([ratings], tolerance=1, pass_mark=PASS_MARK)[0]
    judge, people = ratings.judge.mean(axis=1), np.nanmean(ratings.people, axis=1)
    slope, gap = figures_of([length_measure(judge, people, words), family_measure(judge, people, same)])
    others = simulated(random, 5 * texts)[0]
    corrected = corrected_mean(others.judge[:, 0], ratings.judge[:, 0], people)
    assert corrected is not None
    named = {name: found[name] for name in JUDGED}
    return {**named, "length": slope, "family": gap, "corrected": corrected.corrected}


def coverage(sizes: list[int], samples: int) -> bool:
    truth = figures(np.random.default_rng(1), POPULATION)
    everyone = simulated(np.random.default_rng(2), POPULATION)[0].people
    truth["corrected"] = Figure(float(np.nanmean(everyone, axis=1).mean()))
    print("| figure | truth | " + " | ".join(f"{size} texts" for size in sizes) + " |")
    print("|---|---:|" + "---:|" * len(sizes))
    shares: dict[int, dict[str, float]] = {size: covered(size, samples, truth) for size in sizes}
    for name, figure in truth.items():
        row = " | ".join(f"{100 * shares[size][name]:.1f} %" for size in sizes)
        print(f"| {name} | {figure.value:.3f} | {row} |")
    counted = [size for size in sizes if size >= FIRST_WITH_BUDGET]
    means = {name: np.mean([shares[size][name] for size in counted]) for name in truth}
    print("\nmean from 50 texts: " + ", ".join(f"{name} {100 * mean:.1f} %" for name, mean in means.items()))
    return all(BUDGET[0] <= mean <= BUDGET[1] for mean in means.values())


def covered(size: int, samples: int, truth: dict[str, Figure | None]) -> dict[str, float]:
    held: Counter[str] = Counter()
    for seed in range(samples):
        for name, found in figures(np.random.default_rng([size, seed]), size).items():
            held[name] += found is not None and found.low <= truth[name].value <= found.high
    return {name: held[name] / samples for name in truth}


def computing() -> float:
    """Seconds for the figures of 20,000 texts with seven columns of scores: six criteria and a composite."""
    random = np.random.default_rng(3)
    criteria = [simulated(random, 20_000)[0] for _ in range(7)]
    started = time.perf_counter()
    judge_figures(criteria, tolerance=1, pass_mark=PASS_MARK)
    return time.perf_counter() - started


WEB = (
    "import os, sys, django; os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'wiggum_site.settings')\n"
    "django.setup()\n"
    "from django.urls import get_resolver; get_resolver().url_patterns\n"
    "import wiggum_site.asgi, wiggum_site.api\n"
    "def size(): return int(next(l for l in open('/proc/self/status') if 'VmRSS' in l).split()[1]) / 1024\n"
    "before, found = size(), {'numpy', 'scipy'} & set(sys.modules)\n"
    "import refinement.execution.trust.computing\n"
    "print(f'{before:.0f} {size():.0f}', *sorted(found))"
)


def memory() -> tuple[float, float, list[str]]:
    """Megabytes of the web process with everything imported, with the statistics, and what it imported."""
    result = subprocess.run([sys.executable, "-c", WEB], capture_output=True, text=True, check=True)
    before, after, *found = result.stdout.split()
    return float(before), float(after), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--sizes", type=int, nargs="+", default=[30, 50, 100, 300])
    options = parser.parse_args()
    seconds = computing()
    print(f"20,000 texts x 6 criteria and the composite: {seconds:.2f} s (budget {SECONDS:.0f} s)")
    before, after, found = memory()
    print(f"web process {before:.0f} MB; with numpy, scipy and the statistics {after:.0f} MB\n")
    held = coverage(options.sizes, options.samples)
    if found or seconds > SECONDS or not held:
        sys.exit("A budget is exceeded.")


if __name__ == "__main__":
    main()
