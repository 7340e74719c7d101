"""Length and the rubric's words in a text."""

from refinement.ledger import growth

RUBRIC = [
    "Every claim cites a primary source with its date.",
    "Names concrete failure modes and their early warning signs.",
    "Gives the reader a decision rule.",
]
PLAIN = "Deploy with the script. Watch the dashboard. " * 4
ECHO = (
    PLAIN + "It names concrete failure modes and their early warning signs. Here is a decision rule for you."
)


def test_length_counts_words_and_has_a_mark():
    found = growth("one two three four", "one two three four five six", rubric=[])
    assert (found.first_words, found.best_words, found.times, found.grew) == (4, 6, 1.5, True)
    assert not growth("one two three four", "one two three four five", rubric=[]).grew
    assert growth("", "one", rubric=[]).times == 1.0


def test_phrases_of_the_rubric_that_are_new_are_an_echo():
    found = growth(PLAIN, ECHO, rubric=RUBRIC)
    assert "concrete failure modes" in found.echoed
    assert "early warning signs" in found.echoed
    assert found.echoes
    assert 0.2 <= found.share < 1


def test_what_was_there_before_or_in_the_task_is_no_echo():
    assert growth(ECHO, ECHO, rubric=RUBRIC).echoed == ()
    assert growth(PLAIN, ECHO, rubric=RUBRIC, task=" ".join(RUBRIC)).echoed == ()
    assert not growth(PLAIN, PLAIN, rubric=RUBRIC).echoes


def test_phrases_of_filling_words_do_not_count():
    assert growth("x", "it is not one of the", rubric=["It is not one of the."]).phrases == 0
