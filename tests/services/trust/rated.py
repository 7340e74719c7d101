"""Label sets with many scores, by simulated people and judges whose noise and bias are known."""

import numpy as np

from refinement.models import JudgeRecord, LabelSet, Project
from refinement.services.trust.judges import judge_ensure
from tests.services.trust.given import a_rubric, imported

CRITERIA = ("clarity", "depth")


def lines(texts: int, raters: dict[str, tuple[float, float]], seed: int = 5) -> str:
    """Scores on a scale from 0 to 10; each rater has a bias and a noise around the texts' quality."""
    random = np.random.default_rng(seed)
    quality = {key: random.uniform(2.5, 7.5, texts) for key in CRITERIA}
    rows = ["item,criterion,rater,score"]
    for rater, (bias, noise) in raters.items():
        for key in CRITERIA:
            scores = np.clip(quality[key] + bias + random.normal(0, noise, texts), 0, 10)
            rows += [f"t{at:04},{key},{rater},{score:.2f}" for at, score in enumerate(scores)]
    return "\n".join(rows) + "\n"


def a_rated_set(
    project: Project, texts: int, raters: dict[str, tuple[float, float]], judges: dict[str, str], **options
) -> LabelSet:
    """`raters` has each one's bias and noise, `judges` the model of those that are judges."""
    if not project.rubrics.filter(slug="summaries").exists():
        a_rubric(project, *CRITERIA, least=0, most=10, step=None)
    result = imported(project, lines(texts, raters), judges=judges, **options)
    return LabelSet.objects.get(pk=result.label_set)


def two_judges(project: Project, texts: int = 40) -> tuple[JudgeRecord, JudgeRecord]:
    """`kind` scores like people, `wild` hardly follows the texts."""
    raters = {"Ada": (0, 0.5), "Ben": (0, 0.5), "k": (0.3, 0.5), "w": (0, 4)}
    row = a_rated_set(project, texts, raters, {"k": "kind", "w": "wild"})
    found = [
        judge_ensure(project=project, version=row.rubric_version, model=name) for name in ("kind", "wild")
    ]
    return found[0], found[1]
