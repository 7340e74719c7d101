"""Run schemas: a row of a list, and the full run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

from ninja import Field, Schema

from refinement.engine.codec import rubric_from_json
from refinement.engine.noise import improvement_is_noise
from refinement.engine.types import JudgeMode
from refinement.models import Project, Run, RunStatus
from refinement.selectors.rubrics.definitions import plain
from refinement.selectors.runs.boards.answers import model_name
from refinement.selectors.runs.held_out import held_out_of
from refinement.selectors.runs.ledger import growth_of
from refinement.selectors.runs.listing.lists import run_tags, run_values
from refinement.selectors.runs.noise import NOISE_FIELDS
from refinement.selectors.trust.gate import Standing, run_standing, standings


class RubricRef(Schema):
    """A rubric version."""

    slug: str = Field(examples=["wiggum"])
    name: str = Field(examples=["Wiggum"])
    version: int = Field(examples=[3])


class RunLine(Schema):
    """A run in a list, without its texts."""

    id: int = Field(examples=[12])
    title: str = Field(description="The start of the task.", examples=["Explain our backups"])
    task_type: str = Field(description="A short label, or empty.", examples=["how-to"])
    status: str = Field(description="queued, running, waiting, paused or finished.", examples=["finished"])
    outcome: str = Field(description="PASS, FAIL, DONE, ERROR or CANCELLED; empty before.", examples=["PASS"])
    stop_reason: str = Field(examples=["passed"])
    why: str = Field(description="The reason as a sentence.")
    rubric: RubricRef
    producer: str = Field(description="endpoint/model", examples=["ollama/qwen3:4b"])
    judge: str = Field(examples=["ollama/gemma3:12b"])
    clerk: str = Field(
        description="endpoint/model. Merges a board's suggestions and names what rounds changed.",
        examples=["ollama/gemma3:12b"],
    )
    kinship: str = Field(description="same_model, same_family, or empty.")
    r1: str | None = Field(description="The first round's composite.", examples=["7.4"])
    best: str | None = Field(examples=["9.1"])
    best_round: int | None = Field(examples=[3])
    passed_in_round: int | None = Field(description="The first round that passed.", examples=[3])
    last: str | None = Field(examples=["9.1"])
    improvement: str | None = Field(description="Last minus first.", examples=["1.75"])
    within_noise: bool | None = Field(
        description="The improvement shows no difference: it is within the judge's noise, or the score moved "
        "as far on the same text. Null if nothing is known about the noise."
    )
    smallest_difference: str | None = Field(
        description="The smallest real difference between two of the judge's scores, as known at the launch.",
        examples=["0.9"],
    )
    same_text_moved: str | None = Field(
        description="How far the score moved at most while the text stayed the same.", examples=["3.47"]
    )
    judge_proven: bool | None = Field(
        description="Whether the judge has what the project requires before its PASS counts in gates. "
        "Null if it requires nothing."
    )
    unproven_reason: str = Field(description="Why the judge is not proven.", examples=["12 of 100 labels"])
    rounds_judged: int = Field(examples=[3])
    trajectory: list[str] = Field(description="The rounds' composites in order.")
    signal_rounds: int = Field(description="Rounds in which the judge did not track the revision.")
    penalty_rounds: int
    cut_rounds: int = Field(description="Rounds of which the judge saw only a part.")
    prompt_tokens: int
    completion_tokens: int
    calls_made: int
    model_seconds: str = Field(examples=["42.5"])
    cost: str | None = Field(
        description="Of the calls to models with a price, in the instance's currency; null without any.",
        examples=["0.1742"],
    )
    decision: str | None = Field(description="The decision: approved, result, changes or rejected.")
    chosen_round: int | None = Field(description="The round that people chose as the result.")
    tags: list[str]
    batch: str = Field(description="Shared by runs launched together.")
    experiment: int | None = Field(description="The experiment that started it.")
    suite: str | None = Field(description="The slug of the experiment's suite.")
    created_by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    archived_at: datetime | None
    waiting_for: str
    next_try_at: datetime | None
    asking: bool = Field(description="It is paused at a plateau until somebody posts to `/plateau`.")
    escalated_after: int = Field(description="The last round before a board took over; 0 if none did.")


class PanelJudgeShape(Schema):
    """A judge of the run's board."""

    seat: int = Field(examples=[1])
    name: str = Field(examples=["First-time reader"])
    lens: str = Field(description="How this judge looks at the work.")
    model: str = Field(description="endpoint/model", examples=["ollama/gemma3:12b"])
    by_clerk: bool = Field(description="Composed for this run, not taken from the rubric.")


class HeldOutShape(Schema):
    """The held-out judge's scores of the first and the best round."""

    judge: str = Field(description="endpoint/model", examples=["ollama/mistral:7b"])
    first_round: int | None
    best_round: int | None
    first: str | None = Field(description="Null until it has answered.", examples=["7.1"])
    best: str | None = Field(examples=["7.2"])
    finding: str = Field(
        description="confirms, no_gain, lower, or no_claim if the loop's judge sees no gain either; empty "
        "until both rounds are scored.",
        examples=["no_gain"],
    )
    sentence: str = Field(examples=["The held-out judge sees no gain: 7.1 → 7.2 from round 1 to round 3."])
    waiting: bool = Field(description="It has been asked and has not answered yet.")
    problem: str = Field(description="Why there are no scores; else empty.")
    measurement: int | None = Field(description="The measurement's ID.")


class GrowthShape(Schema):
    """How the best text differs from the first: its length, and the rubric's words in it."""

    first: int = Field(description="The first judged round.")
    best: int
    first_words: int
    best_words: int
    grew: bool = Field(description="It has at least half as many words again.")
    phrases: int = Field(description="Phrases of three words in the rubric that the first text did not have.")
    echoed_count: int = Field(description="Those that the best text has.")
    echoed: list[str] = Field(description="The first of them.")
    echoes: bool = Field(description="They are a fifth of the rubric's phrases or more.")


class RunWhole(RunLine):
    """A run with its texts and rubric."""

    task: str
    seed: str = Field(description="The text it started from; empty if the producer wrote the first draft.")
    rubric_used: dict[str, Any] = Field(description="The rubric as this run uses it.")
    judge_mode: str = Field(description="single or board. A board can take over on a plateau.")
    panel: list[PanelJudgeShape] = Field(description="The board; empty before the clerk composed it.")
    held_out: HeldOutShape | None = Field(description="Null without a held-out judge.")
    growth: GrowthShape | None = Field(
        description="How the best text differs from the first. Null before the end, or if they are the same."
    )
    rerun_of: int | None
    failure_role: str
    failure_message: str


@dataclass(frozen=True, slots=True)
class TaggedRun:
    """A run, its tags and the standing of its judge."""

    run: Run
    tags: list[str]
    standing: Standing | None = None  # of its judge; None if the project requires nothing


def exact(value: Decimal | int | None) -> str | None:
    """A decimal as a string, without the column's trailing zeros."""
    return None if value is None else plain(Decimal(value))


@dataclass(frozen=True, slots=True)
class Made:
    """A response field: the columns it needs, and how to compute it."""

    columns: tuple[str, ...]
    make: Callable[..., Any] | None = None

    def __call__(self, tagged: TaggedRun) -> Any:
        """The field of a run loaded as an object."""
        values = [_value(tagged.run, column) for column in self.columns]
        return self.make(*values) if self.make else values[0]


def _value(run: Run, column: str) -> Any:
    """A column by its database name; null without a related row."""
    found: Any = run
    for name in column.split("__"):
        found = None if found is None else getattr(found, name)
    return found


def _rubric(slug: str, name: str, version: int) -> dict[str, Any]:
    return {"slug": slug, "name": name, "version": version}


def _person(name: str | None, email: str | None) -> str:
    return name or (email or "").partition("@")[0]


def _clerk(endpoint: str, model: str) -> str:
    return f"{endpoint}/{model}" if model else ""


def _asking(status: str, asked: bool) -> bool:
    return status == RunStatus.PAUSED and asked


def panel_shapes(run: Run) -> list[PanelJudgeShape]:
    same = ("seat", "name", "lens", "by_clerk")
    return [
        PanelJudgeShape(**{name: getattr(row, name) for name in same}, model=model_name(row))
        for row in run.panel.all()
    ]


def held_out_shape(run: Run) -> HeldOutShape | None:
    found = held_out_of(run, rubric_from_json(run.snapshot)) if run.held_out_model else None
    if found is None:
        return None
    values = {name: getattr(found, name) for name in HeldOutShape.model_fields if name != "judge"}
    scores = {name: exact(values[name]) for name in ("first", "best")}
    return HeldOutShape(judge=f"{found.endpoint}/{found.model}", **values | scores)


def growth_shape(run: Run) -> GrowthShape | None:
    found = growth_of(run)
    return GrowthShape(**{name: found[name] for name in GrowthShape.model_fields}) if found else None


AS_THEY_ARE = (
    "title", "task_type", "status", "outcome", "stop_reason", "why", "kinship", "best_round",
    "passed_in_round", "rounds_judged", "signal_rounds", "penalty_rounds", "cut_rounds",
    "prompt_tokens", "completion_tokens", "calls_made", "decision", "chosen_round", "batch",
    "created_at", "started_at", "finished_at", "archived_at", "waiting_for", "next_try_at",
    "escalated_after",
)  # fmt: skip
COLUMNS: Mapping[str, Made] = {
    "id": Made(("pk",)),
    **{name: Made((name,)) for name in AS_THEY_ARE},
    **{name: Made((name,), exact) for name in ("r1", "best", "last", "improvement", "model_seconds", "cost")},
    **{name: Made((name,), exact) for name in ("smallest_difference", "same_text_moved")},
    "within_noise": Made(NOISE_FIELDS, improvement_is_noise),
    "trajectory": Made(("trajectory",), lambda scores: [exact(Decimal(score)) for score in scores]),
    "rubric": Made(("rubric__slug", "rubric__name", "rubric_version__number"), _rubric),
    "producer": Made(("producer_endpoint", "producer_model"), "{}/{}".format),
    "judge": Made(("judge_endpoint", "judge_model"), "{}/{}".format),
    "clerk": Made(("clerk_endpoint", "clerk_model"), _clerk),
    "experiment": Made(("experiment_id",)),
    "suite": Made(("suite__slug",)),
    "asking": Made(("status", "plateau_asked"), _asking),
    "created_by": Made(("created_by__name", "created_by__email"), _person),
}
STANDING: Mapping[str, Callable[[Standing | None], Any]] = {
    "judge_proven": lambda standing: standing.proven if standing else None,
    "unproven_reason": lambda standing: standing.reason if standing else "",
}
LINE: Mapping[str, Callable[[TaggedRun], Any]] = {
    **COLUMNS,
    "tags": attrgetter("tags"),
    "judge_proven": lambda tagged: STANDING["judge_proven"](tagged.standing),
    "unproven_reason": lambda tagged: STANDING["unproven_reason"](tagged.standing),
}
WHOLE: Mapping[str, Callable[[TaggedRun], Any]] = {
    **LINE,
    **{name: attrgetter(f"run.{name}") for name in ("task", "seed", "failure_role", "failure_message")},
    "rubric": lambda tagged: RubricRef(**COLUMNS["rubric"](tagged)),
    "rubric_used": attrgetter("run.snapshot"),
    "rerun_of": attrgetter("run.rerun_of_id"),
    "judge_mode": lambda tagged: tagged.run.snapshot.get("judges", {}).get("mode", JudgeMode.SINGLE),
    "panel": lambda tagged: panel_shapes(tagged.run),
    "held_out": lambda tagged: held_out_shape(tagged.run),
    "growth": lambda tagged: growth_shape(tagged.run),
}


def run_lines(
    numbers: Sequence[int], wanted: frozenset[str], project: Project | None = None
) -> list[dict[str, Any]]:
    """These runs as response rows, in this order, with the wanted fields of `RunLine`.

    Built from columns instead of model objects, which took most of the time. `project` is that of all runs.
    """
    made = [(name, COLUMNS[name]) for name in RunLine.model_fields if name in wanted and name in COLUMNS]
    columns = ["pk", *dict.fromkeys(column for _, field in made for column in field.columns)]
    place = {column: index for index, column in enumerate(columns)}
    steps = [(name, [place[column] for column in field.columns], field.make) for name, field in made]
    tags = run_tags(numbers) if "tags" in wanted else None
    chosen = [(name, STANDING[name]) for name in STANDING if name in wanted]
    found = standings(numbers, project) if chosen else {}
    lines = {}
    for row in run_values(numbers, columns):
        line = {
            name: make(*[row[at] for at in places]) if make else row[places[0]]
            for name, places, make in steps
        }
        line |= {name: tell(found.get(row[0])) for name, tell in chosen}
        if tags is not None:
            line["tags"] = tags.get(row[0], [])
        lines[row[0]] = line
    return [lines[number] for number in numbers if number in lines]


def run_whole(run: Run) -> RunWhole:
    """The run with all fields."""
    tagged = TaggedRun(run, list(run.tags.values_list("name", flat=True)), run_standing(run))
    return RunWhole(**{name: get(tagged) for name, get in WHOLE.items()})
