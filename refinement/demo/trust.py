"""A demo label set: release notes scored by four people and by two judges whose strengths are known."""

import csv
import io
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.db import transaction

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Criterion, Scale
from refinement.models import JudgeRecord, LabelSet, Project, Rubric, User
from refinement.services.rubrics.editing import rubric_create, version_create
from refinement.services.trust.judges import judge_ensure, trust_refresh_rubric
from refinement.services.trust.label_importing import FileText, label_files_import

SLUG = "release-notes-judge"
NAME = "Release notes, October"
ITEMS = 78
REPEATS = 3
PEOPLE = ("Nadia Alaoui", "Jonas Berg", "Wei Chen", "Marta Duarte")
SEED = 23


@dataclass(frozen=True, slots=True)
class Skill:
    """How a judge scores a criterion: how much it follows the text's quality, its bias and its noise."""

    follows: float
    bias: float
    noise: float


CRITERIA: dict[str, tuple[str, str, float]] = {
    "structure": ("Structure", "Sections stand in an order that a reader expects.", 1.1),
    "plain_words": ("Plain words", "No jargon that an administrator has to look up.", 1.0),
    "complete": ("Complete", "Every change that users notice is there.", 0.8),
    "upgrade_steps": ("Upgrade steps", "What to do, in order, and what may break.", 0.8),
    "grounded": ("Grounded", "Every claim has a source.", 0.8),
}
JUDGES: dict[str, dict[str, Skill]] = {
    "gemma3:27b": {
        "structure": Skill(1, 0.1, 0.3),
        "plain_words": Skill(1, 0.2, 0.3),
        "complete": Skill(0.75, 0.5, 0.4),
        "upgrade_steps": Skill(0.65, 0.2, 0.5),
        "grounded": Skill(0.45, 1.4, 0.7),
    },
    "qwen3:14b": dict.fromkeys(CRITERIA, Skill(0.6, 0.9, 0.9)),
}
LINES = (
    ("Imports are twice as fast (ING-412).", "The ticket is about exports. It does not mention speed."),
    ("Memory use is down by half since 2.3 (ING-398).", "ING-398 is closed as “cannot reproduce”."),
    ("Windows on ARM is now fully supported (PLT-77).", "PLT-77 says experimental, not supported."),
    ("The search index rebuilds itself overnight (SRC-19).", "The ticket proposes this; nobody built it."),
    ("Backups can be restored on a newer version (BAK-5).", "Only from 2.2 on. The ticket says so."),
    ("Sign-in works with all common providers (SSO-8).", "SSO-8 tested two providers."),
    ("Reports open four times faster (REP-140).", "The measurement in REP-140 was on an empty database."),
    ("No manual step is needed after the upgrade (OPS-31).", "OPS-31 names one: rebuild the index."),
    ("The old webhook format is no longer used (API-66).", "API-66 counts 41 customers who use it."),
    ("Audit logs are now kept for two years (AUD-12).", "AUD-12 was declined. It is still one year."),
)
FURTHER = (
    "Errors of the importer name the file and the line.",
    "Long tables keep their head in sight while you scroll.",
    "The status page says when the next retry is due.",
    "Invitations can be sent again from the list of members.",
    "Dates follow the time zone of the reader.",
    "A finished export stays available for seven days.",
)
SAID: dict[str, tuple[str, str]] = {  # by a judge that is too generous, and by people who are not
    "structure": ("The sections follow a clear order.", "The upgrade steps stand before what changed."),
    "plain_words": (
        "The wording is accessible throughout.",
        "“Idempotent replay” says nothing to our readers.",
    ),
    "complete": ("All notable changes are listed.", "The new login page is missing."),
    "upgrade_steps": ("Steps are complete and in order.", "Step 3 needs the result of step 5."),
}


@transaction.atomic
def demo_trust(project: Project, people: Sequence[User]) -> LabelSet | None:
    """Adds the rubric with two versions, the label set and its judges; None if the project has them."""
    if Rubric.objects.filter(project=project, slug=SLUG).exists():
        return None
    base = rubric_for("simmer")
    definition = replace(
        base,
        name="Release notes judge",
        purpose="Release notes for administrators of our product.",
        scale=Scale(Decimal(1), Decimal(10), Decimal(1)),
        criteria=tuple(Criterion(key, name, words) for key, (name, words, _) in CRITERIA.items()),
        policy=replace(base.policy, pass_threshold=Decimal(7)),
    )
    owner = people[0] if people else None
    version = rubric_create(project=project, slug=SLUG, definition=definition, user=owner)
    rng = random.Random(SEED)  # noqa: S311  the same each time
    texts, ratings = drawn(rng)
    label_files_import(
        project=project, rubric=SLUG, name=NAME, ratings=FileText(ratings, "ratings.csv"),
        items=FileText(texts, "items.jsonl"), user=owner,
    )  # fmt: skip
    stricter = replace(definition, purpose="Release notes for administrators. Sources must support a claim.")
    newer = version_create(
        rubric=version.rubric, definition=stricter, user=owner, note="Stricter purpose.", edited_from=1
    )
    judge_ensure(project=project, version=newer, model="phi4:14b")
    trust_refresh_rubric(version.rubric)
    return LabelSet.objects.get(project=project, name=NAME)


def demo_judge(project: Project) -> JudgeRecord:
    """The judge with the longest page."""
    return JudgeRecord.objects.get(project=project, key="gemma3:27b", rubric_version__rubric__slug=SLUG)


def drawn(rng: random.Random) -> tuple[str, str]:
    """The texts as JSON Lines, and all ratings as CSV."""
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["item", "criterion", "rater", "score", "reason", "judge"])
    lines = []
    for number in range(1, ITEMS + 1):
        item, quality = f"notes-{number:02}", rng.gauss(6.2, 1.5)
        claim = rng.randrange(len(LINES))
        lines.append(json.dumps(text_of(item, number, claim, rng)))
        raters = rng.sample(PEOPLE, 2)
        for key, (_, _, spread) in CRITERIA.items():
            own = quality + rng.gauss(0, 0.9)
            people = [clipped(own + rng.gauss(0, spread)) for _ in raters]
            for model, skills in JUDGES.items():
                given = judged(rng, skills[key], own, REPEATS if model == "gemma3:27b" else 1)
                judge, person = said(key, given[0] - sum(people) / 2, claim)
                for repeat, score in enumerate(given, start=1):
                    writer.writerow([item, key, f"{model} #{repeat}", score, judge, model])
                if model == "gemma3:27b":
                    for rater, score, reason in zip(raters, people, (person, ""), strict=True):
                        writer.writerow([item, key, rater, score, reason, ""])
    return "\n".join(lines) + "\n", table.getvalue()


def text_of(item: str, number: int, claim: int, rng: random.Random) -> dict[str, str]:
    further = "".join(f"- {line}\n" for line in rng.sample(FURTHER, rng.randint(1, len(FURTHER))))
    text = (
        f"# Release 2.{number}\n\n## What changed\n\n- {LINES[claim][0]}\n{further}\n## Upgrade\n\n"
        "1. Stop the workers.\n2. Install the new version.\n3. Start the workers and watch the status page.\n"
    )
    task = f"Write the release notes for version 2.{number}"
    return {"item": item, "text": text, "task": task, "task_type": "release notes"}


def judged(rng: random.Random, skill: Skill, own: float, repeats: int) -> list[int]:
    """A judge's scores of a text; what it misjudges stays the same in every repeat."""
    seen = skill.follows * (own - 6.2) + 6.2 + skill.bias + rng.gauss(0, 0.6)
    return [clipped(seen + rng.gauss(0, skill.noise)) for _ in range(repeats)]


def said(key: str, gap: float, claim: int) -> tuple[str, str]:
    """What the judge and a person write, if they are far apart."""
    if abs(gap) < 2:
        return "", ""
    if key == "grounded":
        line, reason = LINES[claim]
        return f"Every claim carries a ticket number, such as “{line.rstrip('.')}”.", reason
    judge, person = SAID[key]
    return (judge, person) if gap > 0 else ("Too brief to cover the release.", "Short, but all is there.")


def clipped(value: float) -> int:
    return max(1, min(10, round(value)))
