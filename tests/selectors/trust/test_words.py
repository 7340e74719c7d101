"""The sentences about a judge, from its figures alone."""

import pytest

from refinement.selectors.trust.facts import fact_words
from refinement.selectors.trust.figures import family_words, length_words
from refinement.selectors.trust.words import (
    criterion_sentence,
    enough_repeats,
    evidence_words,
    few_repeats_words,
    headline,
    headline_parts,
    next_step,
    noise_words,
    standing_of,
)
from tests.selectors.trust.reports import a_full_report, a_report, an_entry, figure

DISAGREE = "People do not agree with each other here: no judge can be measured against this."


def noiseless(*criteria, **given):
    composite = an_entry("composite", smallest_difference=None, bias=0)
    return a_report(*criteria, **({"composite": composite} | given))


def test_it_says_who_agrees_where_not_by_how_much_and_what_is_noise():
    assert headline(a_full_report()) == (
        "This judge agrees with people about as well as people agree with each other on Structure and "
        "Plain words, but not on Grounded, where it scores about 1.4 points too high. On Complete and "
        "Upgrade steps it is below them. Composite differences under 0.9 points (Grounded: 2.0) are noise."
    )


def test_names_and_the_noise_are_stressed():
    strong = [part.text for part in headline_parts(a_full_report()) if part.strong]
    assert strong[:3] == ["Structure", "Plain words", "Grounded"]
    assert strong[-1] == "Composite differences under 0.9 points (Grounded: 2.0) are noise."


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (
            noiseless(labels=0, raters=[]),
            "Nobody knows yet how good this judge is. No person has scored a text that it scored. "
            "30 texts labelled blind give a first answer.",
        ),
        (
            noiseless(an_entry("fluency", "not_measurable"), an_entry("b", "not_enough"), labels=12),
            "a first answer needs 30. On Fluency people do not agree with each other",
        ),
        (
            noiseless(labels=0),
            "People have scored texts for its rubric, but it has not scored any of them.",
        ),
        (
            a_report(labels=0, raters=[]),
            "30 texts labelled blind give a first answer. Differences under 0.9 points are noise.",
        ),
        (noiseless(labels=1), "Not enough evidence yet. 1 text labelled so far; a first answer needs 30."),
        (
            a_report(an_entry(standing="not_enough", bias=3), labels=29),
            "Not enough evidence yet. 29 texts labelled so far; a first answer needs 30. "
            "Differences under 0.9 points are noise.",
        ),
        (
            noiseless(an_entry(), an_entry("grounded"), labels=30),
            "as people agree with each other on all 2 criteria. Its noise is not known yet.",
        ),
        (noiseless(an_entry()), "about as well as people agree with each other. Its noise is"),
        (noiseless(an_entry("fluency", "not_measurable", kappa=0.1, alpha=0.02, bias=2)), DISAGREE),
        (
            noiseless(an_entry(), an_entry("fluency", "not_measurable")),
            "on Depth. On Fluency people do not agree with each other: no judge can be measured against "
            "this.",
        ),
        (
            noiseless(an_entry(standing="not_usable", bias=-1.2)),
            "This judge is not usable yet: it may agree with people no better than always giving the most "
            "common score, and scores about 1.2 points too low.",
        ),
        (
            noiseless(an_entry("a", "not_usable"), an_entry("b", "below_people", bias=0.6)),
            "This judge is not usable yet on A. It agrees with people less than they agree with each other "
            "on B, where it scores about 0.6 points too high.",
        ),
        (
            noiseless(an_entry(standing="below_people")),
            "This judge agrees with people less than people agree with each other.",
        ),
        (
            noiseless(an_entry(standing="unclear")),
            "It is not clear yet whether this judge agrees with people as well as people agree with each "
            "other. Its noise",
        ),
        (noiseless(an_entry(), an_entry("b", "unclear")), "on Depth. On B it is not clear yet."),
        (
            noiseless(an_entry(standing="unknown", alpha=None)),
            "How well people agree with each other is not known: two people have to score the same texts.",
        ),
        (
            noiseless(*(an_entry(key) for key in "abcdef"), an_entry("g", "below_people")),
            "on A, B, C, D and 2 more, but not on G.",
        ),
        (
            noiseless(an_entry(), composite=an_entry("composite", bias=-0.8, smallest_difference=None)),
            "Overall it scores about 0.8 points too low.",
        ),
        (
            noiseless(an_entry(), an_entry("b", "not_enough"), labels=40),
            "There are not enough labelled texts for B.",
        ),
        (a_report(composite=None), "about as well as people agree with each other."),
        (
            a_report(scale={"least": 0, "most": 100}, composite=an_entry("composite", smallest_difference=9)),
            "Differences under 9 points are noise.",
        ),
        (
            a_report(
                scale={"least": 0, "most": 1}, composite=an_entry("composite", smallest_difference=0.081)
            ),
            "Differences under 0.08 points are noise.",
        ),
        (a_report(composite=an_entry("composite", smallest_difference=0)), "It repeats its scores exactly."),
    ],
)
def test_the_headline(report, words):
    assert words in headline(report)


@pytest.mark.parametrize("labels", [1, 10, 29])
def test_below_30_labels_there_is_no_verdict(labels):
    told = headline(a_report(an_entry(standing="not_enough", bias=3), labels=labels))
    assert "agrees" not in told
    assert "too high" not in told
    assert standing_of(an_entry(standing="not_enough")).kind == ""


def test_a_bias_that_may_be_chance_or_does_not_matter_is_not_mentioned():
    chance = a_report(an_entry(bias=figure(0.6, 0.7)), composite=an_entry("composite", bias=figure(0.6, 0.7)))
    small = a_report(an_entry(bias=figure(0.2, 0.1)), composite=an_entry("composite", bias=figure(0.2, 0.1)))
    assert "too high" not in headline(chance) + headline(small)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (an_entry(n=0, smallest_difference=None), "No texts labelled yet."),
        (
            an_entry(n=1, standing="not_enough", smallest_difference=None),
            "Not enough evidence: 1 text labelled, and a first answer needs 30.",
        ),
        (
            an_entry(bias=0),
            "Agrees with people about as well as they agree with each other (κ 0.68 of 0.70). "
            "Differences under 0.8 points are noise.",
        ),
        (
            an_entry(standing="unclear", bias=0, smallest_difference=None),
            "May agree with people less than they agree with each other (κ 0.68 of 0.70): more texts will "
            "tell.",
        ),
        (
            an_entry(standing="not_usable", kappa=0.37, bias=1.4, smallest_difference=None),
            "Not usable yet: it may agree with people no better than always giving the most common score "
            "(κ 0.37 of 0.70). "
            "Scores about 1.4 points too high.",
        ),
        (
            an_entry(standing="not_measurable", alpha=-0.02, bias=3, smallest_difference=None),
            "People do not agree with each other (α −0.02): no judge can be measured against this.",
        ),
        (
            an_entry(standing="unknown", alpha=None, bias=None, smallest_difference=None),
            "Agrees with people with κ 0.68. How well people agree with each other is not known: nobody "
            "scored the same texts.",
        ),
    ],
)
def test_a_criterion_in_a_sentence(entry, words):
    assert criterion_sentence(entry, a_report()) == words


@pytest.mark.parametrize(
    ("labels", "words", "missing"),
    [
        (0, "No texts labelled yet. 30 give a first answer.", 30),
        (29, "Not enough evidence. 1 more for a first answer.", 1),
        (30, "Enough texts for a first answer. 50 make it usable.", 20),
        (78, "Enough texts for a verdict. 100 are needed for a gate rule.", 22),
        (100, "Enough texts for a gate rule. 200 are needed to compare judges.", 100),
        (200, "Enough texts for a gate rule and to compare judges.", 0),
    ],
)
def test_the_steps_of_evidence(labels, words, missing):
    assert (evidence_words(labels), next_step(labels)) == (words, missing)


@pytest.mark.parametrize(
    ("slope", "words"),
    [
        (figure(0.21), "It rewards longer texts."),
        (figure(-0.21), "It rewards shorter texts."),
        (figure(0.05), "No preference shown."),
        (None, ""),
    ],
)
def test_a_preference_for_length(slope, words):
    assert length_words(a_report(length={"slope": slope, "n": 60})) == words
    few = length_words(a_report(length={"slope": slope, "n": 29}))
    assert few == ("Not enough evidence: fewer than 30 texts." if slope else "")


def test_a_preference_for_the_own_family():
    family = {"same": 19, "others": 59, "family": "gemma"}
    assert family_words(a_report(family={"gap": figure(0.7), **family})) == (
        "It prefers texts by its own family."
    )
    assert family_words(a_report(family={"gap": figure(0.02), **family})) == "No preference shown."
    assert family_words(a_report()) == ""


@pytest.mark.parametrize(
    ("given", "words", "kind"),
    [
        ({"labels": 0, "kappa": None, "alpha": None, "worse": None}, "No texts labelled yet", ""),
        ({"labels": 0, "kappa": None, "alpha": 0.9, "worse": None}, "Labelled texts not scored yet", ""),
        (
            {"labels": 12, "kappa": 0.1, "alpha": 0.8, "worse": True},
            "Not enough evidence: 12 texts labelled",
            "",
        ),
        ({"labels": 80, "kappa": 0.6, "alpha": 0.1, "worse": None}, "People disagree with each other", ""),
        (
            {"labels": 80, "kappa": 0.6, "alpha": 0.8, "worse": None},
            "Not clear yet whether it is below people",
            "",
        ),
        (
            {"labels": 80, "kappa": 0.6, "alpha": None, "worse": None},
            "How well people agree is not known",
            "",
        ),
        ({"labels": 80, "kappa": 0.3, "alpha": 0.8, "worse": True}, "Below people", "warn"),
        ({"labels": 80, "kappa": 0.7, "alpha": 0.7, "worse": False}, "Not worse than people", "ok"),
    ],
)
def test_the_fact_of_a_list(given, words, kind):
    told = fact_words(**given)
    assert (told.words, told.kind) == (words, kind)


@pytest.mark.parametrize(
    ("standings", "worse", "words", "kind"),
    [
        (["as_people"] * 5, False, "Not worse than people on 5 of 5 criteria", "ok"),
        (["as_people"] * 5, True, "Not worse than people on 5 of 5 criteria, but on the composite", "warn"),
        (
            ["as_people"] * 4 + ["below_people"],
            True,
            "Not worse than people on 4 of 5 criteria, but not on E",
            "warn",
        ),
        (["as_people"] * 2 + ["not_usable"] * 3, True, "Not worse than people on 2 of 5 criteria", "warn"),
        (["below_people"] * 5, True, "Below people on all 5 criteria", "warn"),
        (["not_usable"] * 5, True, "Not worse than people on 0 of 5 criteria", "warn"),
        (
            ["as_people"] * 3 + ["unclear"] * 2,
            False,
            "Not worse than people on 3 of 5 criteria, the rest is not clear yet",
            "",
        ),
        (["unclear"] * 5, None, "Not clear yet whether it is below people", ""),
    ],
)
def test_the_fact_of_a_list_by_criterion(standings, worse, words, kind):
    criteria = [an_entry(key, standing) for key, standing in zip("abcde", standings, strict=True)]
    told = fact_words(labels=80, kappa=0.6, alpha=0.8, worse=worse, criteria=criteria)
    assert (told.words, told.kind) == (words, kind)


def test_one_judgement_on_all_criteria_names_none():
    report = noiseless(*(an_entry(key, "below_people") for key in "abcde"))
    assert "less than people agree with each other on all 5 criteria." in headline(report)


def test_a_composite_below_people_over_good_criteria_is_said():
    composite = an_entry("composite", "below_people", bias=0.5, smallest_difference=None)
    report = noiseless(an_entry(), an_entry("b"), composite=composite)
    assert (
        "Overall it agrees with people less than they agree with each other and scores about 0.5 points "
        "too high."
    ) in headline(report)


def test_noise_needs_repeats():
    assert noise_words(None, a_report()) == ""
    assert noise_words(an_entry(smallest_difference=None), a_report()) == ""


@pytest.mark.parametrize(
    ("texts", "judgements", "enough"),
    [(5, 15, True), (10, 20, True), (5, 14, False), (4, 40, False), (1, 2, False), (0, 0, False)],
)
def test_noise_needs_enough_repeats_of_several_texts(texts, judgements, enough):
    entry = an_entry("composite", smallest_difference=None, retest_items=texts, retest_judgements=judgements)
    assert enough_repeats(texts, judgements) is enough
    assert bool(few_repeats_words(a_report(composite=entry))) is (texts > 0 and not enough)
