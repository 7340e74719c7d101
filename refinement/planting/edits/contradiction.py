"""Adds a sentence that contradicts an earlier one. English only."""

from random import Random

from refinement.planting.documents import Document
from refinement.planting.edits.negation import opposite, with_change
from refinement.planting.kinds import Made, quoted
from refinement.planting.sentences import FEWEST_WORDS, all_sentences, words_in

MOST_WORDS = 40
STOPS = (".", "!", "…", ".”", '."')


def add_contradiction(document: Document, chance: Random) -> Made | None:
    """Repeats a statement as its opposite, at the end of a later paragraph if there is one."""
    usable = [
        (sentence, change)
        for sentence in all_sentences(document)
        if FEWEST_WORDS <= words_in(document.text, sentence.start, sentence.end) <= MOST_WORDS
        and document.text[sentence.start : sentence.end].endswith(STOPS)
        and (change := opposite(document, sentence))
    ]
    if not usable:
        return None
    sentence, change = chance.choice(usable)
    later = [block for block in document.paragraphs if block.start > sentence.block.start]
    place = chance.choice(later) if later else sentence.block
    added = with_change(document, sentence, change)
    text = document.replaced([(place.end, place.end, f" {added}")])
    old = quoted(document.text[sentence.start : sentence.end])
    return Made(text, f"Added {quoted(added)}, which contradicts {old}.")
