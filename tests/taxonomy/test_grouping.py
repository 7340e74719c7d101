"""Issues are grouped by content; later ones join groups, and the same issues give the same groups."""

import random

import pytest

from benchmarks.issues import adjusted_rand, agreement, labels, made
from refinement.taxonomy.criteria import Scored, criterion_of
from refinement.taxonomy.grouping import Issue, Known, categorise
from refinement.taxonomy.naming import automatic_name
from refinement.taxonomy.words import stems


@pytest.fixture(scope="module")
def items():
    return made(2_000, seed=1)


def issues_of(items):
    return [Issue(item.text, item.criterion, n // 4) for n, item in enumerate(items)]


def test_made_issues_are_grouped_by_their_kind(items):
    index, categories, unplaced = agreement(items, with_criteria=True)
    assert index >= 0.7
    assert 25 <= categories <= 70
    assert unplaced < 200


def test_they_are_without_knowing_the_criterion(items):
    assert agreement(items, with_criteria=False)[0] >= 0.6


def test_the_same_issues_give_the_same_groups(items):
    issues = issues_of(items[:600])
    assert categorise(issues) == categorise(issues)


def test_later_issues_join_the_categories_of_earlier_ones(items):
    early, late = items[:1_000], items[1_000:]
    first = categorise(issues_of(early))
    known = [Known(entry.criterion, entry.examples) for entry in first.new]
    later = categorise(issues_of(late), known)
    joined = sum(place is not None and place < len(known) for place in later.places)
    assert joined > 0.7 * len(late)
    assert adjusted_rand([item.kind for item in items], labels(first.places + later.places)) >= 0.6


def test_what_is_said_in_one_run_only_fits_nowhere():
    alone = [Issue("The rollback steps are missing.", "completeness", 1)] * 5
    assert categorise(alone).places == [None] * 5
    several = [Issue("The rollback steps are missing.", "completeness", n) for n in range(5)]
    assert categorise(several).places == [0] * 5


def test_unlike_issues_fit_nowhere():
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(640)]
    issues = [Issue(" ".join(words[8 * n : 8 * n + 8]), "depth", n) for n in range(80)]
    found = categorise(issues, [Known("depth", ("The claim has no source.", "No source is cited."))])
    assert found.places.count(None) == 80


def test_issues_of_another_criterion_join_only_if_they_are_nearly_the_same():
    known = [Known("grounded", ("The claim has no source.", "This claim lacks a source in the notes."))]
    issues = [Issue("The claim has no source.", "depth", 1), Issue("The table has no units.", "depth", 2)]
    assert categorise(issues, known).places == [0, None]


def test_embeddings_are_used_when_they_are_given():
    issues = [Issue(f"text {n}", "depth", n) for n in range(6)]
    vectors = [[1, 0.01 * n, 0] if n % 2 else [0, 0.01 * n, 1] for n in range(6)]
    assert categorise(issues, vectors=vectors).places == [1, 0, 1, 0, 1, 0] or categorise(
        issues, vectors=vectors
    ).places == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("issues", [[], [Issue("", "", 1)], [Issue("!!!", "a", n) for n in range(4)]])
def test_nothing_to_compare_is_no_error(issues):
    assert categorise(issues, [Known("a", ("one",))]).places == [None] * len(issues)
    assert categorise(issues).places == [None] * len(issues)


CRITERIA = (
    Scored("depth", "Depth", 8, "Explains the cache well."),
    Scored("grounded", "Grounded", 6, "Two claims have no source. Cite the ticket for each claim."),
    Scored("code_style", "Code style", 7, description="Formatting of code blocks"),
)


@pytest.mark.parametrize(
    ("issue", "key"),
    [
        ("Depth: says what but not why", "depth"),
        ("[code style] no language tag", "code_style"),
        ("**Grounded** – the number is wrong", "grounded"),
        ("The claim about memory has no source", "grounded"),
        ("Formatting of the second code block is broken", "code_style"),
        ("Nothing that anybody said", "grounded"),  # the lowest
    ],
)
def test_the_criterion_of_an_issue(issue, key):
    assert criterion_of(issue, CRITERIA).key == key


def test_without_criteria_there_is_none():
    assert criterion_of("Depth: x", ()) == ("", False)


def test_names_say_what_the_issues_share():
    texts = [
        "The claim that 2.4 “halves memory use” has no source.",
        "No source for the claim about ARM; readers will ask.",
        "Claim without a source (section 3).",
    ]
    assert automatic_name(texts) == "No source for the claim about ARM"
    assert automatic_name([""]) == "Unnamed"
    assert len(automatic_name(["word " * 100])) <= 80


def test_stems_leave_out_quotations_and_numbers():
    assert stems("The claim “halves memory use” is missing 3 sources.") == stems("claims miss source")
