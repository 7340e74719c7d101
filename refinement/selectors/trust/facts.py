"""What a list says about a judge, in a few words."""

from collections.abc import Sequence

from refinement.selectors.trust.words import FIRST, LEAST_ALPHA, Entry, Standing, count_words

MOST_EXCEPTED = 2  # criteria that are named
UNCLEAR = "Not clear yet whether it is below people"


def fact_words(
    *,
    labels: int,
    kappa: float | None,
    alpha: float | None,
    worse: bool | None,
    criteria: Sequence[Entry] = (),
) -> Standing:
    """What a list says about a judge; by criterion, where several of them are known."""
    if not labels:
        return Standing("·", "No texts labelled yet" if alpha is None else "Labelled texts not scored yet")
    if labels < FIRST:
        return Standing("·", f"Not enough evidence: {count_words(labels)} labelled")
    if worse is None and alpha is not None and alpha <= LEAST_ALPHA:
        return Standing("–", "People disagree with each other")
    if alpha is None or kappa is None:
        return Standing("·", "How well people agree is not known")
    if len(criteria) > 1:
        return _fact_of_criteria(criteria, worse)
    if worse:
        return Standing("▲", "Below people", "warn")
    if worse is None:
        return Standing("·", UNCLEAR)
    return Standing("✓", "Not worse than people", "ok")


def _fact_of_criteria(criteria: Sequence[Entry], worse: bool | None) -> Standing:
    standings = [entry["standing"] for entry in criteria]
    if set(standings) == {"below_people"}:
        return Standing("▲", f"Below people on all {len(criteria)} criteria", "warn")
    if set(standings) == {"unclear"}:
        return Standing("·", UNCLEAR)
    unclear = [entry["name"] for entry in criteria if entry["standing"] == "unclear"]
    rest = [entry["name"] for entry in criteria if entry["standing"] not in ("as_people", "unclear")]
    good = standings.count("as_people")
    words = f"Not worse than people on {good} of {len(criteria)} criteria"
    if rest and len(rest) <= MOST_EXCEPTED and good:
        words += f", but not on {' and '.join(rest)}"
    elif not rest and worse:
        words += ", but on the composite"
    elif not rest and unclear:
        words += ", the rest is not clear yet"
    if rest or worse:
        return Standing("▲", words, "warn")
    return Standing("·", words) if unclear or worse is None else Standing("✓", words, "ok")
