"""A scripted judge with known weaknesses, and good texts for it."""

import json
import random
import re

from refinement.engine.profiles import rubric_for
from refinement.services.trust.planting import GoodText
from tests.execution.wire.stage import verdict
from tests.loopback.replies import Asked

WIGGUM = rubric_for("wiggum")
KEYS = [criterion.key for criterion in WIGGUM.criteria]
TOPICS = (
    "backups",
    "tickets",
    "invoices",
    "sensors",
    "parcels",
    "accounts",
    "reports",
    "engines",
    "orders",
    "visits",
)
NAMES = ("Oslo", "Lima", "Cairo", "Quito", "Turin")


def good_texts(count: int) -> list[GoodText]:
    return [GoodText(good_text(number)) for number in range(1, count + 1)]


def good_text(number: int) -> str:
    """Paragraphs with numbers, statements and words of the list of synonyms; no two texts are the same."""
    chance = random.Random(number)
    topic, place = TOPICS[number % len(TOPICS)], NAMES[number % len(NAMES)]
    many, days, share = chance.randint(200, 900), chance.randint(11, 60), chance.randint(20, 70)
    return (
        f"# Guide {number}\n\n"
        f"The team in {place} often handles {many} {topic} in {days} days. The work is done by hand. "
        f"Everybody can read the list of {topic} at any time.\n\n"
        f'Nearly {share}% of the {topic} are "urgent" at first - they must be answered before the others. '
        f"The rest is usually sorted in the evening. Nobody has complained about this order so far.\n\n"
        f"A second team checks {days * 3} of the {topic} again. It's a big task for them. The result is "
        f"written down, for example in the log of {place}.\n"
    )


class WeakJudge:
    """Scores 9 and sees changed numbers in some texts, and invented sources and shuffled paragraphs in all.

    It is blind to dropped sentences and contradictions, likes longer texts by `likes`, and does not mind
    harmless edits.
    """

    def __init__(self, texts: list[GoodText], *, sees_numbers: float = 0.7, likes: float = 0.4) -> None:
        self.originals = {title_of(good.text): good.text for good in texts}
        self.sees_numbers, self.likes = sees_numbers, likes
        self.asked = 0

    def __call__(self, asked: Asked) -> str:
        self.asked += 1
        prompt = json.loads(json.dumps(asked.body))["messages"][-1]["content"]
        return verdict(WIGGUM, self.scores(prompt))

    def scores(self, prompt: str) -> list[float]:
        original = self.originals[title_of(prompt)]
        text = prompt[prompt.index(f"# {title_of(prompt)}") :]
        text = text[: text.index("<<<END")]
        found = dict.fromkeys(KEYS, 9.0)
        if "p. " in text:
            found["grounded"] -= 4
        elif numbers(text) - numbers(original) and self.notices(original):
            found["grounded"] -= 3
        if self.order_of(text, original) != sorted(self.order_of(text, original)):
            found["structure"] -= 3
        if len(text.split()) > len(original.split()) + 30:
            found = {key: score + self.likes for key, score in found.items()}
        return [found[key] for key in KEYS]

    def notices(self, original: str) -> bool:
        """Whether the judge notices this text's defect: the same for every order of calls."""
        return random.Random(original).random() < self.sees_numbers

    def order_of(self, text: str, original: str) -> list[int]:
        """Where the starts of the original's paragraphs are in the text."""
        starts = [paragraph[:12] for paragraph in original.split("\n\n")[1:]]
        return [place for place in (text.find(start) for start in starts) if place >= 0]


def title_of(text: str) -> str:
    found = re.search(r"Guide \d+", text)
    assert found is not None
    return found.group()


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))
