"""Drops sentences from paragraphs."""

from random import Random

from refinement.planting.documents import Document
from refinement.planting.kinds import Made, dose, listed, quoted
from refinement.planting.sentences import FEWEST_WORDS, Sentence, all_sentences, words_in

FEWEST = 3  # with fewer sentences, one is most of the text


def drop_sentences(document: Document, chance: Random) -> Made | None:
    """Removes one of the longer sentences; two or three from a long text."""
    sentences = all_sentences(document)
    lengths = sorted((words_in(document.text, s.start, s.end) for s in sentences), reverse=True)
    if len(sentences) < FEWEST or lengths[0] < FEWEST_WORDS:
        return None
    middle = max(FEWEST_WORDS, lengths[len(lengths) // 2])
    long = [
        s for s in sentences if words_in(document.text, s.start, s.end) >= middle and _can_go(document, s)
    ]
    if not long:
        return None
    # A paragraph that is one sentence stays where possible: its gap would show without reading.
    long = [s for s in long if not (s.is_first and s.is_last)] or long
    chosen = apart(sorted(chance.sample(long, dose(len(sentences), one_in=12)), key=lambda s: s.start))
    text = document.replaced([(*_with_gap(document.text, s), "") for s in chosen])
    what = listed([quoted(document.text[s.start : s.end]) for s in chosen])
    return Made(text, f"Removed {'the sentence' if len(chosen) == 1 else 'the sentences'} {what}.")


def _can_go(document: Document, sentence: Sentence) -> bool:
    """Not if the next sentence would begin with what looks like the mark of a list or of code."""
    return sentence.is_last or not document.is_mark(_with_gap(document.text, sentence)[1])


def apart(sentences: list[Sentence]) -> list[Sentence]:
    """At most one of each paragraph, so that none of them is emptied."""
    return list({sentence.block: sentence for sentence in sentences}.values())


def _with_gap(text: str, sentence: Sentence) -> tuple[int, int]:
    """The sentence with the space after it, or before it at the end of its paragraph."""
    start, end = sentence.start, sentence.end
    if sentence.is_first and sentence.is_last:
        start = sentence.block.start
        while end < len(text) and text[end] == "\n":
            end += 1
        return start, end
    if sentence.is_last:
        while text[start - 1].isspace():
            start -= 1
        return start, end
    while text[end].isspace():
        end += 1
    return start, end
