"""What a verdict depends on, so that the same verdict is never paid for twice.

A fingerprint covers everything that a verdict and its composite depend on: all that the judge sees (its view
holds nothing else, and a prompt is made from the view alone), how a reply is read and scored, and each model
with its digest where the endpoint tells one. The words of a prompt belong to the application's version, so
`PROMPTS` has to change when they do. Endpoints do not count: the same model elsewhere is the same judge.

Verdicts of runs are not reused: a run does not record the digest of its models, so it is not known whether
the answer would be the same today.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any

from refinement.engine.types import PanelJudge, Rubric
from refinement.models import Bench, BenchTrial, Project, TrialStatus
from refinement.models.leased import WorkStatus
from refinement.providers.base import ErrorKind, ProviderError
from refinement.providers.registry import Target
from refinement.selectors.endpoints import provider_for
from refinement.selectors.trust.measurements.settings import Setting

PROMPTS = 1
SCORING = (
    "profile", "scale", "criteria", "checks", "evaluation_mode", "evaluator", "problem_class",
    "output_contract", "output_schema", "output_pattern",
)  # fmt: skip
SCORING_POLICY = ("composite", "checks_in_composite", "penalties")

Digests = Mapping[Target, str]


def targets_of(bench: Bench | Any) -> list[Target]:
    """The models that judge: of a board by seat. Works for measurements, too."""
    if not bench.panel:
        return [Target(bench.endpoint, bench.model)]
    return [Target(seat["endpoint"], seat["model"]) for seat in bench.panel]


def digests_of(targets: Collection[Target]) -> dict[Target, str]:
    """The digest of each model; empty where the endpoint does not tell one.

    Asks the model servers: not in a transaction. Raises ProviderError if a server cannot be reached.
    """
    found = {}
    for target in dict.fromkeys(targets):
        try:
            found[target] = provider_for(target.endpoint).model_info(target.model).digest
        except ProviderError as error:
            if error.retryable and error.kind is not ErrorKind.MODEL_MISSING:
                raise
            found[target] = ""  # trials say what is wrong with it
    return found


def fingerprint_of(bench: Bench, setting: Setting, rubric: Rubric, digests: Digests) -> str:
    """Identifies everything that the bench's verdicts depend on."""
    anonymous = replace(setting, brief=replace(setting.brief, nonce=""))
    seats: Sequence[Mapping[str, str]] = bench.panel or [{}]
    lenses = [PanelJudge(seat["name"], seat["lens"]) if seat else None for seat in seats]
    judges = [[target.model, digests.get(target, "")] for target in targets_of(bench)]
    parts = [
        PROMPTS,
        judges,
        plain(Decimal(bench.temperature)),
        scoring_of(rubric),
        setting.number,
        [plain(anonymous.view(lens)) for lens in lenses],
        bench.candidate,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def scoring_of(rubric: Rubric) -> dict[str, Any]:
    """The parts of a rubric by which a reply is read and scored."""
    return {
        **{name: plain(getattr(rubric, name)) for name in SCORING},
        "policy": {name: plain(getattr(rubric.policy, name)) for name in SCORING_POLICY},
    }


def plain(value: Any) -> Any:
    """The value as JSON, the same for 0.2 and 0.20."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if is_dataclass(value):
        return {entry.name: plain(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(str(plain(entry)) for entry in value)
    return [plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def answered_before(project: Project, prints: Collection[str]) -> dict[tuple[str, int, int], BenchTrial]:
    """The newest answered trials with these fingerprints, by fingerprint, number and seat."""
    rows = BenchTrial.objects.filter(
        bench__project=project,
        bench__fingerprint__in=prints,
        status=TrialStatus.DONE,
        reused_from=None,
    )
    rows = rows.select_related("bench").defer("bench__candidate", "bench__task").order_by("pk")
    return {(row.bench.fingerprint, row.number, row.seat): row for row in rows}


def under_way(project: Project, prints: Collection[str]) -> set[str]:
    """Those of these fingerprints that are being judged now."""
    rows = Bench.objects.filter(
        project=project, fingerprint__in=prints, trials__status__in=WorkStatus.values
    ).order_by()
    return set(rows.values_list("fingerprint", flat=True))
