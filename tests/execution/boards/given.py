"""Boards on the loopback server: rubrics with panels, and scripted replies of judges and clerk."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge, Rubric
from refinement.execution.advancing import run_advance
from refinement.models import BoardVerdict, Call, Run
from tests.execution.wire.stage import verdict
from tests.loopback.replies import Asked, OutOfReplies, Replies, delayed, instance, purpose_by_schema
from tests.loopback.server import Entry, LoopbackServer

NAMES = ("Ada", "Ben", "Cleo", "Dov", "Eve")
UNREADABLE = "I would rather not give any scores."
MERGED = {
    "working": ["The steps are in order."],
    "not_working": ["A longer introduction."],
    "direction": "Towards the restore.",
    "asi": "Show one whole restore.",
}


def lens_of(name: str) -> str:
    return f"Look at it the way {name} does."


def panel(count: int, **models: str) -> tuple[PanelJudge, ...]:
    """Judges with lenses of their own; those in `models` (Ada="ENDPOINT/MODEL") with a model of their own."""
    return tuple(PanelJudge(name, lens_of(name), models.get(name, "")) for name in NAMES[:count])


def board_rubric(
    judges: Sequence[PanelJudge] = (), rounds: int = 1, *, deliberation: bool = True, **policy: Any
) -> Rubric:
    """Simmer's three criteria on a scale of 1 to 10, judged by this panel or, without one, by the clerk's."""
    base = rubric_for("simmer")
    settings = {"max_rounds": rounds, "stop_rules": (), **policy}
    return replace(
        base,
        judges=Judges(JudgeMode.BOARD, tuple(judges), deliberation),
        policy=replace(base.policy, **settings),
    )


@dataclass
class Script:
    """What a board says. Each list is used in turn, and its last entry again and again.

    `scores` has verdicts by judge: one score for all criteria, a score for each, or a text. `stances` has
    stances by judge: {criterion's number: revised score} for concessions, or a text. Lists that are left out
    are filled in as the form wants it; a judge without scores gives 5.
    """

    rubric: Rubric
    scores: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    stances: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    merge: Sequence[Any] = (MERGED,)
    compose: Sequence[Any] = ()
    describe: Sequence[Any] = ({"change": "Added a restore"},)
    asked: Counter[str] = field(default_factory=Counter)

    def __call__(self, asked: Asked) -> str:
        purpose = purpose_by_schema(asked.body)
        if purpose == "write":
            self.asked["write"] += 1
            return f"# Version {self.asked['write'] + 1}\n\nThe backups are made every night."
        if purpose in ("score", "deliberate"):
            name = speaker(asked.body)
            return self.scored(name) if purpose == "score" else self.deliberated(name)
        said = self.next(purpose, getattr(self, purpose), None)
        if said is None:
            said = instance(asked.schema or {}, None, 0.5)
        return said if isinstance(said, str) else json.dumps(said)

    def next(self, key: str, entries: Sequence[Any], default: Any) -> Any:
        self.asked[key] += 1
        return entries[min(self.asked[key], len(entries)) - 1] if entries else default

    def scored(self, name: str) -> str:
        said = self.next(f"score {name}", self.scores.get(name, ()), 5)
        if isinstance(said, str):
            return said
        return verdict(self.rubric, said, asi=f"{name} suggests a change.", reasoning=f"{name} saw it.")

    def deliberated(self, name: str) -> str:
        said = self.next(f"deliberate {name}", self.stances.get(name, ()), {})
        return said if isinstance(said, str) else stances(self.rubric, name, said)


def stances(rubric: Rubric, name: str, concessions: Mapping[int, int]) -> str:
    """A reply in the deliberation that concedes these criteria (by number, from 0) and agrees to the rest."""
    criteria = {
        criterion.key: {
            "reasoning": f"{name} thought again.",
            "stance": "concede" if number in concessions else "agree",
            "score": concessions.get(number, 1),
        }
        for number, criterion in enumerate(rubric.criteria)
    }
    return json.dumps({"criteria": criteria})


def speaker(body: Mapping[str, Any]) -> str:
    """The judge whose lens is in the request."""
    text = json.dumps(body)
    found = [name for name in NAMES if lens_of(name) in text]
    if len(found) != 1:
        raise OutOfReplies(f"one lens was expected in the request, found {found}")
    return found[0]


def ended(run: Run) -> Run:
    """The run after a worker has taken it to its end."""
    run_advance(run.pk)
    run.refresh_from_db()
    assert run.status == "finished", run.waiting_for
    return run


def requests(server: LoopbackServer, purpose: str) -> list[Entry]:
    """The chats for this purpose in the order in which they came."""
    return [entry for entry in server.chats if purpose_by_schema(entry.body) == purpose]


def together(count: int, server: LoopbackServer, script: Script) -> Replies:
    """The script's replies. Those of judges are sent once so many have been asked for the same purpose."""

    def are_asked(asked: Asked) -> bool:
        purpose = purpose_by_schema(asked.body)
        return purpose == "merge" or len(requests(server, purpose)) >= count

    return delayed(are_asked, script)


def speakers(server: LoopbackServer, purpose: str) -> list[str]:
    """The judges who were asked for this purpose, sorted."""
    return sorted(speaker(entry.body) for entry in requests(server, purpose))


def purposes(run: Run) -> list[tuple[int, str, int]]:
    """Round, purpose and seat of the run's calls, in the order in which they were recorded."""
    return list(run.calls.order_by("id").values_list("round_number", "purpose", "seat"))


def by_step(run: Run) -> list[tuple[int, str, int]]:
    """The same, sorted within a step: judges called at the same time answer in any order."""
    order = ("draft", "revise", "compose", "score", "deliberate", "merge", "describe")
    return sorted(purposes(run), key=lambda entry: (entry[0], order.index(entry[1]), entry[2]))


def answers(run: Run, number: int = 1) -> list[BoardVerdict]:
    return list(BoardVerdict.objects.filter(round__run=run, round__number=number).order_by("seat"))


def scores_of(row: BoardVerdict) -> list[int]:
    """The judge's own scores."""
    return [int(float(entry["score"])) for entry in row.scores]


def calls_of(run: Run, purpose: str) -> list[Call]:
    return list(run.calls.filter(purpose=purpose).order_by("id"))


def most_at_once(entries: Sequence[Entry]) -> int:
    """The largest number of these chats that ran at the same time."""
    moments = [(entry.started, 1) for entry in entries]
    moments += [(entry.finished or entry.aborted or entry.started, -1) for entry in entries]
    under_way = most = 0
    for _, change in sorted(moments):
        under_way += change
        most = max(most, under_way)
    return most
