"""Comments, replies, reasons and instructions of demo people."""

INSTRUCTIONS = (
    "Keep the section on rolling back short: one command, one sentence on how to see that it worked.",
    "Write for someone on call at night. Put the commands first, then the reasons.",
    "Do not mention version numbers; they will be outdated soon.",
    "The judge wants an example. Use the staging machine, not production.",
)
ON_PASSAGES = (
    "Is this still true? I thought we changed it in spring.",
    "Great sentence. Please keep it.",
    "Readers will ask *how long*. Add the figure we measured last month.",
    "I would put this **before** the steps.",
)
ON_ISSUES = (
    "The judge is right: I couldn't find it either.",
    "I disagree. It's explained two paragraphs above.",
    "Fair, but out of scope for this task.",
)
ON_SCORES = (
    "I would give one point less: the order of the steps is still unclear.",
    "Too high for me. The example doesn't run.",
    "Same score from me.",
)
ON_RUNS = (
    "Can we send this out today? The customer has been waiting since Monday.",
    "Good enough for the handbook. The settings could use one more round.",
    "Second run of this task. I think the first one was better.",
)
ANSWERS = (
    "Yes, I checked it this morning on my machine.",
    "Done: I added an instruction for the next revision.",
    "Agreed. Let's leave it.",
    "Not sure. I'll try it and report back.",
    "Good point, thanks.",
)
CALLS = ("{name}, can you look at this?", "{name}, you know this part best. Is it correct?")
REVIEW_NOTES = (
    "Please check the figures: they go to a customer.",
    "Should take ten minutes. The last two sections are new.",
    "",
    "",
    "Is this what we promised in the last release?",
    "I need a second pair of eyes on this.",
    "You wrote the first version. Is anything missing?",
)
LESS_THAN_THE_JUDGE = (
    "One step is missing.",
    "It leaves out details from the source.",
    "The example does not run.",
    "",
)
NOT_LESS = (
    "I could follow it without help.",
    "Everything I looked for is there.",
    "",
    "",
)
SCORE_NOTES = (
    "Read on a phone, as people on call will.",
    "",
    "I tried the commands; they all work.",
    "",
)
REASONS = {
    "approved": (
        "Tested on an empty machine: it works.",
        "Reads well, and the figures are correct.",
    ),
    "changes": (
        "The rollback section is missing. One more round, please.",
        "Too long. Half of it would do.",
    ),
    "rejected": (
        "It describes the old {0}. Start over with the new material.",
        "Two of the commands do not exist.",
    ),
    "result": (
        "The later rounds only got longer. This one says it all.",
        "The judge prefers the last one; our readers do not.",
    ),
}
