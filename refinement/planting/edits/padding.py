"""Makes the text longer without saying more. English only."""

from random import Random

from refinement.planting.documents import Document
from refinement.planting.kinds import Made

SHARE = 0.3  # of the text's words
FEWEST_WORDS, MOST_WORDS = 40, 400
FILLERS = (
    "This is a point that deserves to be kept in mind while reading the rest of the text.",
    "It is worth taking a moment to consider this before moving on to what follows.",
    "Of course, much more could be said about this, and what is said here is only one way to put it.",
    "As mentioned, this is relevant in this context and should be read together with the other parts.",
    "In other words, what was just said remains the main idea, and it can be restated in many ways.",
    "With that in mind, the reader is now in a good position to follow what comes next.",
    "All of this should be seen in the light of what has already been discussed above.",
    "To put it differently, the point made here is the point that was intended.",
    "Naturally, readers will bring their own experience to this, as they do to any text.",
    "It goes without saying that each of these aspects can be looked at in its own right.",
    "Taken as a whole, this gives a picture that is in line with what one would read here.",
    "There is, needless to say, a good deal that surrounds this topic in general.",
    "At the end of the day, what matters here is what has been laid out in this part.",
    "Having said that, it is also fair to say that this has now been said.",
    "This brings us to the next thought, which follows the previous one in a natural way.",
    "Bearing all of the above in mind, one can now proceed with the remainder of the text.",
    "As is so often the case, there is a beginning, a middle and an end to this line of thought.",
    "The importance of reading this carefully can be underlined once more at this point.",
)


def pad(document: Document, chance: Random) -> Made | None:
    """Ends paragraphs with filler until the text is about a third longer."""
    blocks = [
        block
        for block in document.paragraphs
        if document.text[block.inner : block.end].rstrip()[-1:] in '.!?”")'
    ]
    if not blocks:
        return None
    wanted = max(FEWEST_WORDS, min(MOST_WORDS, int(len(document.text[: document.most].split()) * SHARE)))
    fillers = list(FILLERS)
    chance.shuffle(fillers)
    chance.shuffle(blocks)
    added: dict[int, list[str]] = {}
    words = at = 0
    while words < wanted:
        filler = fillers[at % len(fillers)]
        added.setdefault(blocks[at % len(blocks)].end, []).append(filler)
        words += len(filler.split())
        at += 1
    changes = [(end, end, " " + " ".join(sentences)) for end, sentences in added.items()]
    return Made(document.replaced(changes), f"Added {words} words of filler that say nothing new.")
