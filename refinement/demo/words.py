"""What the people of a demonstration say: comments, answers, reasons, instructions."""

INSTRUCTIONS = (
    "Keep the section on rolling back short: one command, one sentence on how to see that it worked.",
    "Write for somebody on call at night. Put the commands first and the reasons after them.",
    "Do not mention version numbers; they are wrong by the time somebody reads this.",
    "The judge asks for an example. Take the staging machine, not the live one.",
)
ON_PASSAGES = (
    "Is that still so? I thought we changed it in the spring.",
    "This sentence alone is worth the round. Please keep it as it is.",
    "A reader will ask *how long*. Give the figure that we measured last month.",
    "I would say this **before** the steps, not after them.",
)
ON_ISSUES = (
    "The judge is right: I looked for it as well and did not find it.",
    "I do not see this one. It is said two paragraphs above.",
    "Fair, but it is outside of what the task asks for.",
)
ON_SCORES = (
    "I would have given a point less: the order of the steps is still open to reading.",
    "Kinder than I am. The example is not one that anybody could run.",
    "That is about what I would give too.",
)
ON_RUNS = (
    "Can we send this out today? The customer asks for it since Monday.",
    "Good enough for the handbook. I would still have one more round for the settings.",
    "Second run of this task. The first one came out better, to my mind.",
)
ANSWERS = (
    "Yes, I checked it this morning on a machine of my own.",
    "Done: I told the next revision so.",
    "Agreed. Let us leave it.",
    "Not sure. I will try it and write here what came of it.",
    "Good point, thank you.",
)
CALLS = ("{name}, can you look at this?", "{name}, you know this part best. Is it right?")
REVIEW_NOTES = (
    "Mind the figures, please: they go to a customer.",
    "Ten minutes are enough. The last two sections are new.",
    "",
    "",
    "Is this what we promised in the last release?",
    "A second pair of eyes, please; I have read it too often.",
    "You wrote the first version of this; is anything lost?",
)
LESS_THAN_THE_JUDGE = (
    "One step is left to be guessed.",
    "It says less than the material does.",
    "The example does not run as it stands.",
    "",
)
NOT_LESS = (
    "I could follow it without asking anybody.",
    "Nothing that I looked for was missing.",
    "",
    "",
)
SCORE_NOTES = (
    "Read on a phone, as it will be at night.",
    "",
    "I tried the commands; all of them worked.",
    "",
)
REASONS = {
    "approved": (
        "Tried on an empty machine: it works as it is written.",
        "Reads well, and every figure is right.",
    ),
    "changes": (
        "The part on rolling back is promised and not kept. One more round, please.",
        "Too long for what it is. Half of it would do.",
    ),
    "rejected": (
        "It describes the old {0}. Start again with the new material.",
        "Two of the commands do not exist.",
    ),
    "result": (
        "The later rounds only got longer. This one says all of it.",
        "The judge likes the last one better; our readers did not.",
    ),
}
