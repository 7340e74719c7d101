"""Computes what is known about a judge, in a worker or a command: numpy and scipy are imported here."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from refinement.engine.safeguards import family_of
from refinement.execution.trust.disagreements import disagreements, far_from
from refinement.execution.trust.planted import planted_results
from refinement.execution.trust.standing import evidence, standing, worse_than_people
from refinement.execution.trust.tables import criteria_of, ratings_of
from refinement.execution.trust.usability import usable_replies
from refinement.models import JudgeRecord, LabelSet
from refinement.selectors.trust.scores import COMPOSITE, Scores, scores_of
from refinement.selectors.trust.words import enough_repeats
from refinement.statistics.agreement.bootstrap import Figure, figures_of
from refinement.statistics.agreement.correction import corrected_mean
from refinement.statistics.agreement.judges import JudgeFigures, Ratings, judge_figures, row_means
from refinement.statistics.agreement.pairs import PairFigures, pair_figures
from refinement.statistics.agreement.preferences import family_measure, length_measure

SCHEMA = 1
DIGITS = 10  # values with four decimals must not be rounded twice
FIGURES = (
    *("kappa", "kappa_baseline", "alpha", "alpha_ordinal", "bias", "mae", "tau_b"),
    *("within_one", "within_one_baseline"),
)
OF_REPEATS = ("retest_sd", "smallest_difference", "flip_rate")
COARSE = 20.0  # on scales wider than this, "one point" is a tenth of the scale


def compute_trust(record_pk: int, label_set_pk: int = 0) -> dict[str, Any]:
    """The trust report of a judge, over all texts or those of one label set."""
    record = JudgeRecord.objects.select_related("rubric_version").get(pk=record_pk)
    return trust_of(record, LabelSet.objects.get(pk=label_set_pk) if label_set_pk else None)


def trust_of(record: JudgeRecord, label_set: LabelSet | None = None) -> dict[str, Any]:
    began = time.monotonic()
    scores = scores_of(record, label_set=label_set)
    policy, scale = scores.rubric.policy, scores.rubric.scale
    pass_mark = None if policy.pass_threshold is None else float(policy.pass_threshold)
    least, most = float(scale.minimum), float(scale.maximum)
    ratings = ratings_of(scores)
    figures = judge_figures(
        list(ratings.values()), tolerance=one_point(scores), pass_mark=pass_mark, far=far_from(most - least)
    )
    found = dict(zip(ratings, figures, strict=True))
    whole = found[COMPOSITE]
    width = most - least
    names = {criterion.key: criterion.name for criterion in scores.rubric.criteria}
    criteria = [criterion_values(key, names[key], found[key], width) for key in scores.keys]
    composite = criterion_values(COMPOSITE, "Composite", whole, width)
    return {
        "schema": SCHEMA,
        "labels": whole.items,
        "raters": raters_of(scores, ratings[COMPOSITE]),
        "items_with_two": whole.alpha_items,
        "evidence": evidence(whole.items),
        "scale": {"least": least, "most": most},
        "pass_mark": pass_mark,
        "criteria": criteria,
        "composite": composite,
        **preferences(record, scores, ratings[COMPOSITE]),
        **results_of_measurements(record, [*criteria, composite]),
        "correction": correction(scores, ratings[COMPOSITE]),
        "disagreements": disagreements(scores, ratings, width),
        "wrong_labels": scores.wrong,
        "seconds": round(time.monotonic() - began, 3),
    }


def one_point(scores: Scores) -> float:
    """How far apart scores "within one point" are: 1, or a tenth of a very wide or narrow scale."""
    scale = scores.rubric.scale
    size = float(scale.maximum - scale.minimum)
    return 1.0 if 2 <= size <= COARSE else size / 10


def raters_of(scores: Scores, ratings: Ratings) -> list[str]:
    """The people who scored something, by name; those without a whole composite included."""
    return sorted({scores.people[given.rater] for given in scores.by_people}, key=str.casefold)


def criterion_values(key: str, name: str, found: JudgeFigures, width: float) -> dict[str, Any]:
    return {
        "key": key,
        "name": name,
        "n": found.items,
        "raters": found.raters,
        "pairs_n": found.pairs,
        "alpha_n": found.alpha_items,
        "retest_items": found.retest_items,
        "retest_judgements": found.retest_judgements,
        **{figure: value_of(found[figure]) for figure in FIGURES},
        **repeats_values(found, width),
        "standing": standing(found),
        "worse_than_people": worse_than_people(found),
        "grid": [list(cell) for cell in found.grid],
        "people_mean": rounded(found.people_mean),
        "judge_mean": rounded(found.judge_mean),
    }


def repeats_values(found: JudgeFigures, width: float) -> dict[str, dict[str, float | None] | None]:
    """The judge's noise; nothing from too few repeats. No difference is larger than the scale's `width`."""
    if not enough_repeats(found.retest_items, found.retest_judgements):
        return dict.fromkeys(OF_REPEATS)
    values = {figure: value_of(found[figure]) for figure in OF_REPEATS}
    if real := values["smallest_difference"]:
        values["smallest_difference"] = {
            name: None if value is None else min(value, width) for name, value in real.items()
        }
    return values


def value_of(figure: Figure | None) -> dict[str, float | None] | None:
    if figure is None:
        return None
    return {"value": rounded(figure.value), "low": rounded(figure.low), "high": rounded(figure.high)}


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DIGITS)


def preferences(record: JudgeRecord, scores: Scores, ratings: Ratings) -> dict[str, Any]:
    """Length and family: what the judge prefers at the same scores by people."""
    shared = ratings.shared_rows()
    judge, people = row_means(ratings.shared()) if len(shared) else (np.empty(0), np.empty(0))
    texts = [scores.texts[row] for row in shared]
    sized = np.array([text.chars > 0 for text in texts], dtype=bool)
    words = np.array([text.words for text in texts])
    written = np.array([bool(text.family) for text in texts], dtype=bool)
    family = judge_family(record)
    same = np.array([text.family.casefold() == family for text in texts], dtype=bool)[written]
    slope, gap = figures_of(
        [
            length_measure(judge[sized], people[sized], words[sized]) if sized.any() else None,
            family_measure(judge[written], people[written], same) if len(same) else None,
        ]
    )
    counts = {"same": int(same.sum()), "others": int((~same).sum()), "family": family}
    return {
        "length": None if slope is None else {"slope": value_of(slope), "n": int(sized.sum())},
        "family": None if gap is None else {"gap": value_of(gap), **counts},
    }


def judge_family(record: JudgeRecord) -> str:
    return family_of(record.model).casefold() if record.model else ""


def results_of_measurements(record: JudgeRecord, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Planted defects, by the noise that was just computed, and usable replies; None without any."""
    if not record.pk:
        return {"usable": None, "planted": None}
    noise = {entry["key"]: entry["smallest_difference"] for entry in entries}
    differences = {key: figure["value"] for key, figure in noise.items() if figure is not None}
    return {"usable": usable_replies(record), "planted": planted_results(record, differences)}


def correction(scores: Scores, ratings: Ratings) -> dict[str, Any] | None:
    """The mean over all rounds, raw and corrected by people's labels."""
    shared = ratings.shared()
    if not scores.rounds or not len(shared.judge):
        return None
    judge, people = row_means(shared)
    found = corrected_mean(np.array(scores.rounds), judge, people)
    if found is None:
        return None
    values = {"raw": value_of(found.raw), "corrected": value_of(found.corrected)}
    return {**values, "rounds": len(scores.rounds), "labels": len(judge)}


def compute_judges(first_pk: int, second_pk: int) -> dict[str, Any]:
    """Two judges compared on the texts that both, and people, scored."""
    records = JudgeRecord.objects.select_related("rubric_version").in_bulk([first_pk, second_pk])
    first, second = scores_of(records[first_pk]), scores_of(records[second_pk])
    keys = [key for key in criteria_of(first) if key in criteria_of(second)]
    sides = on_same_texts(first, second)
    found = pair_figures([sides[0][key] for key in keys], [sides[1][key] for key in keys])
    names = {criterion.key: criterion.name for criterion in first.rubric.criteria}
    entries = [
        pair_values(key, names.get(key, "Composite"), entry) for key, entry in zip(keys, found, strict=True)
    ]
    return {
        "schema": SCHEMA,
        "items": entries[-1]["n"],
        "evidence": evidence(entries[-1]["n"]),
        "criteria": entries[:-1],
        "composite": entries[-1],
    }


def on_same_texts(first: Scores, second: Scores) -> tuple[dict[str, Ratings], dict[str, Ratings]]:
    """Both judges' ratings with the same rows: the first judge's texts, as far as the second scored them."""
    ours, theirs = ratings_of(first), ratings_of(second)
    places = {text.key: place for place, text in enumerate(second.texts)}
    pairs = [(at, places[text.key]) for at, text in enumerate(first.texts) if text.key in places]
    rows, others = [at for at, _ in pairs], [at for _, at in pairs]
    # People's scores come from the first judge: both were gathered from the same labels.
    return (
        {key: Ratings(r.people[rows], r.judge[rows], r.repeats[rows]) for key, r in ours.items()},
        {
            key: Ratings(ours[key].people[rows], r.judge[others], r.repeats[others])
            for key, r in theirs.items()
            if key in ours
        },
    )


def pair_values(key: str, name: str, found: PairFigures) -> dict[str, Any]:
    sides = {"first": found.first, "second": found.second, "difference": found.differences}
    figures = {
        side: {figure: value_of(value) for figure, value in named.items()} for side, named in sides.items()
    }
    return {
        "key": key,
        "name": name,
        "n": found.items,
        "raters": found.raters,
        **figures,
        "verdict": verdict(found),
    }


def verdict(found: PairFigures) -> str:
    """Which of the two agrees better with people, by the interval of the difference in kappa."""
    apart = found.differences["kappa"]
    if (
        apart is None
        or apart.low is None
        or apart.high is None
        or evidence(found.items) in ("none", "not_enough")
    ):
        return "not_enough"
    if apart.low > 0:
        return "second"
    return "first" if apart.high < 0 else "no_difference"
