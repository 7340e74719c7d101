"""Adds sources that do not exist."""

from random import Random

from refinement.planting.documents import Document
from refinement.planting.kinds import Made, quoted
from refinement.planting.sentences import FEWEST_WORDS, Sentence, all_sentences, words_in

NAMES = (
    "Harrowgate",
    "Pellington",
    "Ostrander",
    "Vashchenko",
    "Lindqvist",
    "Marchetti",
    "Okonjo",
    "Thibodaux",
)
JOURNALS = (
    "J. Appl. Inference",
    "Annals of Measured Practice",
    "Proc. Intl. Symp. Field Methods",
    "Rev. Appl. Syst.",
)
STOPS = ".!…。！"


def invent_citation(document: Document, chance: Random) -> Made | None:
    """Puts a source that nobody wrote behind a statement."""
    usable = [sentence for sentence in all_sentences(document) if _can_cite(document, sentence)]
    if not usable:
        return None
    sentence = chance.choice(usable)
    first, second = chance.sample(NAMES, 2)
    source = (
        f"{first} & {second} {chance.randint(1998, 2022)}, {chance.choice(JOURNALS)} {chance.randint(7, 48)}"
    )
    citation = f"({source}, p. {chance.randint(101, 389)})"
    statement = document.text[sentence.start : sentence.end]
    place = sentence.start + len(statement.rstrip(STOPS))
    text = document.replaced([(place, place, f" {citation}")])
    return Made(text, f"Added the invented source {citation} to {quoted(statement)}.")


def _can_cite(document: Document, sentence: Sentence) -> bool:
    text = document.text[sentence.start : sentence.end]
    place = sentence.start + len(text.rstrip(STOPS))
    enough = words_in(text, 0, len(text)) >= FEWEST_WORDS
    return text[-1] in STOPS and enough and document.is_free(place - 1, place + 1)
