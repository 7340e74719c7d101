"""All edits, in the order of pages."""

from refinement.planting.edits.citations import invent_citation
from refinement.planting.edits.contradiction import add_contradiction
from refinement.planting.edits.dropping import drop_sentences
from refinement.planting.edits.formatting import break_formatting
from refinement.planting.edits.negation import flip_negations
from refinement.planting.edits.numbers import change_numbers
from refinement.planting.edits.padding import pad
from refinement.planting.edits.reflow import reflow
from refinement.planting.edits.shuffling import shuffle_paragraphs
from refinement.planting.edits.steps import remove_steps
from refinement.planting.edits.synonyms import replace_synonyms
from refinement.planting.edits.typography import change_typography
from refinement.planting.kinds import Edit, Effect

SPOILED, HARMLESS, PADDED = Effect.SPOILED, Effect.HARMLESS, Effect.PADDED
COMPLETE = ("complet", "cover", "selection", "missing", "inform", "thorough", "depth")
TRUE = ("ground", "accura", "fact", "correct", "truth", "faithful", "precis", "reliab")
ORDERLY = ("structur", "organi", "coheren", "order", "flow", "logic")
SOURCED = ("citation", "cites", "source", "reference", "evidence", "ground", "faithful", "accura", "fact")
CONSISTENT = ("consisten", "contradict", "coheren", "logic", "ground", "accura", "correct")
FORMATTED = ("format", "markdown", "layout", "structur", "presentation", "readab", "style")
STEPS = ("step", "procedure", "instruction", "actionab", *COMPLETE)

EDITS: dict[str, Edit] = {
    edit.key: edit
    for edit in (
        Edit(
            "dropped",
            "Sentence dropped",
            SPOILED,
            drop_sentences,
            "no paragraph has enough sentences",
            criteria=COMPLETE,
        ),
        Edit("numbers", "Number changed", SPOILED, change_numbers, "it has no numbers", criteria=TRUE),
        Edit(
            "negation",
            "Negation flipped",
            SPOILED,
            flip_negations,
            "no statement can be negated",
            True,
            (*TRUE, *CONSISTENT[:2]),
        ),
        Edit(
            "shuffled",
            "Paragraphs shuffled",
            SPOILED,
            shuffle_paragraphs,
            "it has fewer than 3 paragraphs",
            criteria=ORDERLY,
        ),
        Edit(
            "citation",
            "Citation invented",
            SPOILED,
            invent_citation,
            "it has no full sentences",
            criteria=SOURCED,
        ),
        Edit(
            "steps",
            "Steps removed",
            SPOILED,
            remove_steps,
            "it has no list of 3 or more items",
            criteria=STEPS,
        ),
        Edit(
            *(
                "contradiction",
                "Contradiction added",
                SPOILED,
                add_contradiction,
                "no statement can be negated",
                True,
            ),
            CONSISTENT,
        ),
        Edit(
            "formatting",
            "Formatting broken",
            SPOILED,
            break_formatting,
            "it has no formatting",
            criteria=FORMATTED,
        ),
        Edit(
            "typography",
            "Quotes, dashes, spaces",
            HARMLESS,
            change_typography,
            "it has no quotes, dashes or sentences",
        ),
        Edit("synonyms", "Synonyms", HARMLESS, replace_synonyms, "it has no word of the list", True),
        Edit("reflowed", "Line breaks", HARMLESS, reflow, "its paragraphs are short"),
        Edit("padding", "Padding added", PADDED, pad, "it has no full sentences", True),
    )
}
# Copies that people made.
OWN = {"own": "Own spoiled copy", "own_harmless": "Own harmless copy"}
NAMES = {**{key: edit.name for key, edit in EDITS.items()}, **OWN}
