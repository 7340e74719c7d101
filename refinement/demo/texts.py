"""Tasks and candidates of demo runs."""

import random
from dataclasses import dataclass

SUBJECTS = (
    ("ingest service", "INGEST_DB", "8080"),
    ("nightly backup", "BACKUP_TARGET", "8873"),
    ("billing export", "BILLING_SPOOL", "9100"),
    ("search cluster", "SEARCH_NODES", "9200"),
    ("mail gateway", "MAIL_RELAY", "2525"),
    ("image pipeline", "IMAGE_BUCKET", "7070"),
    ("session store", "SESSION_TTL", "6380"),
    ("feature switch", "SWITCH_SOURCE", "4242"),
    ("audit archive", "ARCHIVE_ROOT", "8443"),
    ("metrics relay", "RELAY_UPSTREAM", "9091"),
)
# Task, further wish and task type.
KINDS = (
    (
        "Write the deployment guide for the {0}",
        "It is read at night, by somebody who did not write it.",
        "how-to",
    ),
    (
        "Explain how the {0} recovers after a crash",
        "Name the order of the steps and what each one costs.",
        "explanation",
    ),
    (
        "Document the settings of the {0}",
        "Every variable with its default, its range and what it changes.",
        "reference",
    ),
    (
        "Write the release notes for the {0}",
        "For administrators: what changed, what to do, what may break.",
        "release notes",
    ),
    (
        "Describe how to restore the {0} from scratch",
        "Assume an empty machine and a copy from last night.",
        "how-to",
    ),
    (
        "Answer the ten questions people ask about the {0}",
        "Short answers first, then the reason.",
        "reference",
    ),
    (
        "Review the retry policy of the {0} and propose a better one",
        "Argue with figures, not with taste.",
        "research",
    ),
)
SENTENCES = (
    "The {0} starts when {1} is set and refuses to start when it is empty.",
    "It listens on port {2} and answers health checks before it takes work.",
    "Stop the old instance first: two of them on one spool write the same record twice.",
    "A restart loses nothing, because every step is written down before the next one begins.",
    "Watch the log until it says ready; that takes about {3} seconds on a small machine.",
    "If {1} points at a place that cannot be written to, the {0} says so and ends with status 2.",
    "The queue holds {3}000 entries; what comes after that waits at the sender.",
    "Keep the last {4} copies, and try one of them every month on a machine of its own.",
    "Nobody has to be awake for this: the whole procedure is one command and its report.",
    "Roll back by naming the previous image tag; the data format has not changed since version {4}.",
    "Under load the {0} answers within {3} milliseconds at the 95th percentile.",
    "The administrator sees each attempt on the status page, with its reason and the time of the next.",
    "Retries wait 1, 2, 4 and 8 seconds, then every {4} minutes, and never at the same moment.",
    "A record that cannot be read goes to the dead letter table, where it stays until somebody looks.",
)
HEADINGS = (
    "What it does",
    "Before you begin",
    "Steps",
    "Settings",
    "When it fails",
    "Rolling back",
    "Checking",
)
INVENTED_CODE = "```python\nclient = {1}.lower()\ngateway.configure_everything_now(client)\n```"
# What judges criticise, each in some of the words that they use for it.
ISSUES = (
    (
        "The port of the admin endpoint is missing.",
        "The admin endpoint's port is not given, so the check cannot be run.",
        "The port that the admin endpoint of the {0} listens on is missing.",
    ),
    (
        "It does not say what happens when {1} is empty.",
        "The effect of an empty {1} is left out.",
        "The text does not say what happens if {1} is empty or not set.",
    ),
    (
        "“Should be fine for most loads” is not supported by the material.",
        "The claim that {0} handles most loads is not supported by any source.",
        "No source in the material supports the claim about loads.",
    ),
    (
        "The order of the two restart steps is left open.",
        "It is not clear in which order the restart steps are done.",
        "The two restart steps have no order: which one comes first?",
    ),
    (
        "There is no example of a real setting.",
        "A real example of {1} is missing; the text only describes the setting.",
        "No example shows a real setting, such as a value of {1}.",
    ),
    (
        "Rolling back is promised in the introduction and never explained.",
        "The introduction promises how to roll back, but no section explains it.",
        "Rolling back the {0} is never explained.",
    ),
    (
        "The reader learns what the {0} is only in the third paragraph.",
        "The {0} is explained too late, in the third paragraph.",
        "The purpose of the {0} should come first; the reader learns it in paragraph three.",
    ),
    (
        "No figure says how long the restore takes.",
        "There is no figure for how long a restore takes.",
        "The time of the restore has no figure.",
    ),
)
DIRECTIONS = (
    "Show the rollback: name the previous image tag and the command that restores it.",
    "Give one worked example with real values for {1}.",
    "Say for each step how the reader knows that it worked.",
    "Move what the {0} does to the very beginning, in one sentence.",
)
REASONINGS = (
    "Names the steps, and most can be carried out as they stand.",
    "Covers what was asked for, but leaves one part open.",
    "Every claim can be found in the task; nothing is made up.",
    "Figures where they matter, vague words where they do not.",
    "The order helps; one heading promises more than its section keeps.",
)
RARE_WORDS = ("quagga", "okapi", "thylacine", "pangolin", "narwhal", "axolotl", "caracal", "dugong")


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a run, and the words used in its texts."""

    words: tuple[str, ...]
    task: str
    task_type: str


def subject(rng: random.Random) -> Subject:
    name, variable, port = rng.choice(SUBJECTS)
    title, wish, task_type = rng.choice(KINDS)
    words = (name, variable, port, str(rng.randint(2, 40)), str(rng.randint(2, 9)))
    return Subject(words, f"{title.format(*words)}.\n\n{wish}", task_type)


def paragraph(rng: random.Random, about: Subject) -> str:
    return " ".join(line.format(*about.words) for line in rng.sample(SENTENCES, rng.randint(2, 5)))


def candidate(rng: random.Random, about: Subject, chars: int) -> str:
    """A first text of about this many characters."""
    parts = [f"# {about.task.splitlines()[0].rstrip('.')}"]
    while sum(map(len, parts)) < chars:
        heading = HEADINGS[len(parts) // 3 % len(HEADINGS)]
        parts.append(f"## {heading}" if len(parts) % 3 == 1 else paragraph(rng, about))
    return "\n\n".join(parts)


def revised(rng: random.Random, text: str, about: Subject, *, much: bool = False) -> str:
    """The text with some paragraphs rewritten, and sometimes one more."""
    parts = text.split("\n\n")
    prose = [index for index, part in enumerate(parts) if not part.startswith("#")] or [0]
    for index in rng.sample(prose, max(1, len(prose) * (2 if much else 1) // 4)):
        parts[index] = paragraph(rng, about)
    if rng.random() < 0.5:
        parts.insert(rng.choice(prose), paragraph(rng, about))
    return "\n\n".join(parts)


# What a judge says that keeps to no form.
NO_VERDICT = (
    "This is a solid text overall. It explains the service well and is easy to follow, although it could say "
    "more about what to do when something goes wrong. I would be happy to look at another version!"
)
