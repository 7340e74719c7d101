"""Launch runs: one or several per form, never twice for the same form, and an example run."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone

from refinement.engine.codec import rubric_to_json
from refinement.engine.safeguards import kinship
from refinement.engine.types import EvaluationMode, Rubric
from refinement.judging.sources import SourceText
from refinement.models import AuditEntry, Project, RubricVersion, Run, User
from refinement.providers.base import ModelInfo
from refinement.providers.context import text_size
from refinement.providers.registry import EndpointSpec, Target
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.launch.contexts import TextSizes, judge_problem, writer_problem
from refinement.selectors.launch.judging import judging_of
from refinement.selectors.launch.model_lists import models_for_launch
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.audit import audit_record
from refinement.services.runs.creating import run_create

MOST_REPEATS = 20
BATCH_CHARS = 16

EXAMPLE_TAG = "example"
EXAMPLE_TITLE = "Improve the note about backups"
EXAMPLE_TASK = (
    "Improve this note to the team about our nightly backups. A new colleague should know from it what is "
    "backed up, when, where it is kept and how to get a file back. Keep it under 200 words."
)
EXAMPLE_SEED = """# Backups

We make backups every night. They are stored on the other server. If something is lost, ask somebody from
operations, they can usually restore it. Large files are not included because of the space. Backups are kept
for some time and then deleted.
"""
EXAMPLE_ROUNDS = 3
EXAMPLE_TOKENS = 500
EXAMPLE_RUBRICS = ("simmer-document", "simmer", "wiggum")
EXAMPLE_AGAIN = timedelta(seconds=20)
LARGEST_QUICK = 12e9  # bytes: what most machines load quickly


@dataclass(frozen=True, slots=True)
class Launched:
    """The runs of one launch. `is_new` is False if the same form was sent before."""

    runs: list[Run]
    is_new: bool


def contexts_check(
    *,
    definition: Rubric,
    task: str,
    seed: str,
    sources: Sequence[SourceText] = (),
    producer: Target,
    judge: Target,
) -> None:
    """Raises ValidationError if a text is certainly too long for the model that has to read it.

    Asks model servers for their context lengths, if the texts are long: not in a transaction.
    """
    sizes = TextSizes(text_size(task), text_size(seed), [text_size(source.text) for source in sources])
    if not sizes.may_be_long:
        return
    offers = models_for_launch()
    if found := writer_problem(sizes, definition, producer, offers):
        raise ValidationError({found[0]: found[1]})
    judging = judging_of(definition, seed_chars=len(seed), judge=judge)
    judges = [entry.target for entry in judging.judges if entry.target] or [judge]
    if problem := judge_problem(sizes, definition, judges, offers):
        raise ValidationError({"judge": problem})


def runs_launch(
    *,
    project: Project,
    user: User,
    version: RubricVersion,
    definition: Rubric,
    task: str,
    seed: str,
    sources: Sequence[SourceText] = (),
    producer: Target,
    judge: Target,
    clerk: Target | None = None,
    held_out: Target | None = None,
    title: str = "",
    task_type: str = "",
    tags: Sequence[str] = (),
    repeats: int = 1,
    key: str,
) -> Launched:
    """Launch `repeats` runs as one batch. The same form sent twice launches once.

    `key` identifies the form. Without a `clerk`, the clerk's model is the rubric's or the judge's. Raises
    ValidationError.
    """
    if version.rubric.archived_at is not None:
        raise ValidationError({"rubric": "This rubric is archived. Unarchive it or choose another."})
    if not 1 <= repeats <= MOST_REPEATS:
        raise ValidationError({"repeats": f"You can launch 1 to {MOST_REPEATS} runs at once."})
    contexts_check(
        definition=definition, task=task, seed=seed, sources=sources, producer=producer, judge=judge
    )
    content = (version.pk, rubric_to_json(definition), task, seed, sources, producer, judge, clerk)
    fingerprint = fingerprint_of(key, user, (*content, held_out, title, task_type, sorted(tags), repeats))
    with transaction.atomic():
        lock_launch(fingerprint)
        before = launched_before(project, fingerprint)
        if before:
            return Launched(before, is_new=False)
        made = [
            run_create(
                project=project,
                version=version,
                definition=definition,
                task=task,
                seed=seed,
                sources=sources,
                producer=producer,
                judge=judge,
                clerk=clerk,
                held_out=held_out,
                user=user,
                title=title,
                task_type=task_type,
                tags=tags,
                batch=fingerprint[:BATCH_CHARS] if repeats > 1 else "",
            )
            for _ in range(repeats)
        ]
        audit_record(
            action="run.launch",
            object_type="launch",
            object_id=fingerprint,
            project=project,
            user=user,
            after={"runs": [run.pk for run in made]},
        )
    return Launched(made, is_new=True)


def fingerprint_of(key: str, user: User, content: object) -> str:
    """Identifies a form with its content. Changed content is another launch."""
    return hashlib.sha256(repr((key, user.pk, content)).encode("utf-8", "replace")).hexdigest()[:32]


def launched_before(project: Project, fingerprint: str) -> list[Run]:
    entry = AuditEntry.objects.filter(project=project, object_type="launch", object_id=fingerprint).first()
    return list(project.runs.filter(pk__in=entry.after["runs"]).order_by("pk")) if entry else []


def lock_launch(fingerprint: str) -> None:
    """Serialize launches of the same form. SQLite's transactions already hold its only write lock."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"launch:{fingerprint}"])


# --- example run ----------------------------------------------------------------------------------
class NothingAvailable(Exception):
    """No model or rubric is available. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The models of the example run, and why they were chosen."""

    producer: Target
    judge: Target
    why: str


def example_choice(specs: Sequence[EndpointSpec], offers: Sequence[Offer]) -> Choice:
    """Models from Ollama if available, else from other endpoints, else the embedded model.

    The judge is from another family than the writer where there is one.
    """
    models = {offer.endpoint: [info for info in offer.models if can_chat(info)] for offer in offers}
    for kind in ("ollama", "openai_compatible", "embedded"):
        for spec in specs:
            if spec.kind == kind and models.get(spec.name):
                writer = best_of(models[spec.name])
                places = [spec, *(other for other in specs if other.kind != "embedded" and other != spec)]
                found = None if kind == "embedded" else other_family(writer, places, models)
                judge = found or (spec.name, writer)
                return Choice(
                    Target(spec.name, writer.name),
                    Target(judge[0], judge[1].name),
                    why_chosen(kind, (spec.name, writer), judge),
                )
    raise NothingAvailable(
        "No model is available. Start Ollama and pull a model (ollama pull qwen3:4b), "
        "or ask an administrator to connect a model server, then try again."
    )


def other_family(
    writer: ModelInfo, places: Sequence[EndpointSpec], models: Mapping[str, Sequence[ModelInfo]]
) -> tuple[str, ModelInfo] | None:
    """The best model that loads quickly and is not related to the writer, with its endpoint."""
    for spec in places:
        unrelated = [
            info
            for info in models.get(spec.name, ())
            if (info.size_bytes or 0) <= LARGEST_QUICK
            and kinship(
                writer.name, info.name, producer_family=writer.family, judge_family=info.family
            ) is None
        ]  # fmt: skip
        if unrelated:
            return spec.name, best_of(unrelated)
    return None


def can_chat(info: ModelInfo) -> bool:
    name = f"{info.name} {info.family}".casefold()
    return not any(word in name for word in ("embed", "bert", "rerank", "whisper"))


def best_of(models: Sequence[ModelInfo]) -> ModelInfo:
    """The largest model that loads quickly. Without sizes, the first by name."""
    quick = [info for info in models if (info.size_bytes or 0) <= LARGEST_QUICK]
    if not quick:
        return min(models, key=lambda info: info.size_bytes or 0)
    return max(quick, key=lambda info: info.size_bytes or 0)


def why_chosen(kind: str, writer: tuple[str, ModelInfo], judge: tuple[str, ModelInfo]) -> str:
    names = [f"{info.name} on {endpoint}" for endpoint, info in (writer, judge)]
    if kind == "embedded":
        return (
            f"This example uses the demo model {writer[1].name}, because no other model is available. It is "
            "too small to judge well: it shows how a run works, not how good a text is."
        )
    if writer == judge:
        return (
            f"This example uses {names[0]} as writer and judge: the largest model that loads quickly. For "
            "reliable scores, choose a judge from another model family."
        )
    return f"In this example {names[0]} writes and {names[1]} judges: two families, largest models first."


def example_version(project: Project) -> RubricVersion:
    """A small rubric for texts, or else any rubric of the project. Raises NothingAvailable."""
    known = {rubric.slug: rubric for rubric in project.rubrics.filter(archived_at=None).order_by("pk")[:500]}
    for rubric in (*(known[slug] for slug in EXAMPLE_RUBRICS if slug in known), *known.values()):
        version = rubric.versions.prefetch_related("criteria", "checks").order_by("-number").first()
        if version is not None:
            version.rubric = rubric
            return version
    raise NothingAvailable("This project has no active rubric. Create one from the gallery first.")


def example_launch(*, project: Project, user: User, choice: Choice) -> Launched:
    """Launch a short example run. A second launch within seconds returns the first run."""
    version = example_version(project)
    definition = definition_of(version)
    policy = replace(
        definition.policy,
        max_rounds=min(EXAMPLE_ROUNDS, definition.policy.max_rounds),
        producer_tokens=min(EXAMPLE_TOKENS, definition.policy.producer_tokens),
    )
    recent = Run.objects.filter(
        project=project, created_by=user, created_at__gt=timezone.now() - EXAMPLE_AGAIN
    )
    before = recent.filter(tags__name=EXAMPLE_TAG).order_by("-id").only("pk", "project")[:1]
    if runs := list(before):
        return Launched(runs, is_new=False)
    return runs_launch(
        project=project,
        user=user,
        version=version,
        # The example is a text, so there is nothing for an evaluator to run.
        definition=replace(definition, policy=policy, evaluation_mode=EvaluationMode.JUDGE_ONLY),
        task=EXAMPLE_TASK,
        seed=EXAMPLE_SEED,
        producer=choice.producer,
        judge=choice.judge,
        title=EXAMPLE_TITLE,
        tags=[EXAMPLE_TAG],
        key=f"example at {timezone.now():%s}",
    )
