"""A realistic run judged by a board: release notes, three judges, concessions and a disagreement."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any

from django.utils import timezone

from refinement.engine.boards import merged_verdict, spreads
from refinement.engine.profiles import rubric_for
from refinement.engine.scoring import assess
from refinement.engine.types import JudgeMode, Judges, OnPlateau, PanelJudge, Rubric
from refinement.execution.boards.recording import panel_rows
from refinement.execution.steps.record_values import verdict_values
from refinement.models import BoardVerdict, Call, Event, Project, Round, Run, Verdict
from refinement.models import PanelJudge as PanelRow
from refinement.providers.registry import Target
from refinement.selectors.runs.history import board_verdict_of
from tests.execution.wire.stage import Stage
from tests.loopback.replies import Asked
from tests.views.runs.finished import finished_run

TASK = (
    "Write release notes for version 2.4 of our upload service: what is new, what was fixed, how to upgrade."
)
PANEL = (
    PanelJudge("Operator", "You have to upgrade it tonight. You look for steps, times and ways back."),
    PanelJudge("Newcomer", "You read it for the first time. You look for words that nobody explains."),
    PanelJudge("Fact checker", "You compare each claim with the changelog and trust nothing else."),
)
SEED = """# Upload service 2.4

Uploads are faster and more reliable now. Many problems were fixed.

## Upgrade

Install the new version. No data is lost.
"""
TEXTS = (
    """# Upload service 2.4

Released 12 November 2026. Read *Upgrade* before you install it.

## New

- **Uploads resume.** An interrupted upload goes on from its last confirmed part. Parts are kept for 24 hours.
- **Larger files.** The limit is 5 GB for everybody.

## Fixed

- A retry no longer stores the same file twice (UP-1182).

## Upgrade

1. Back up the `uploads` table. The migration adds two columns.
2. Upgrade all nodes.
3. Run `upload-admin migrate`, then `upload-admin check`.

No data is lost during the upgrade.
""",
    """# Upload service 2.4

Released 12 November 2026. Read *Upgrade* before you install it.

## New

- **Uploads resume.** An interrupted upload goes on from its last confirmed part. Parts are kept for 24 hours.
- **Larger files.** The limit is 5 GB on paid plans and 2 GB on the free plan.
- **Dark mode** in the upload window. It follows the system setting.

## Fixed

- A retry no longer stores the same file twice (UP-1182).
- Progress no longer stays at 99 % on slow lines (UP-1190).

## Upgrade

1. Back up the `uploads` table. The migration adds two columns and takes about 40 seconds per million rows.
2. Upgrade the workers first, then the web nodes: a 2.4 web node needs a 2.4 worker.
3. Run `upload-admin migrate`, then `upload-admin check`.

No data is lost during the upgrade. Plan ten minutes; the service answers all the time.

## Going back

Install 2.3.6 on all nodes and run `upload-admin migrate --to 0041`. Uploads begun under 2.4 start over.
""",
)
# By round and judge: depth, relevance, completeness, grounded, specificity, structure.
SCORES = (
    {"Operator": (4, 6, 4, 3, 3, 6), "Newcomer": (5, 6, 5, 5, 4, 7), "Fact checker": (4, 6, 4, 2, 3, 6)},
    {"Operator": (6, 7, 6, 6, 6, 8), "Newcomer": (7, 7, 7, 7, 7, 8), "Fact checker": (6, 7, 6, 5, 6, 7)},
    {"Operator": (8, 8, 9, 8, 8, 8), "Newcomer": (7, 8, 6, 8, 8, 9), "Fact checker": (8, 8, 8, 5, 7.5, 8)},
)
# Of the last round: what a judge says after it has read the others.
STANCES: Mapping[str, Mapping[str, tuple[str, float, str]]] = {
    "Operator": {
        "completeness": ("concede", 8.5, "True: step 3 says nothing about uploads under way."),
        "grounded": ("concede", 7.5, "I took “no data is lost” for granted. The changelog does not say it."),
    },
    "Newcomer": {
        "completeness": (
            "concede",
            8,
            "The retry fix is there, under Fixed. I had looked for it under New.",
        ),
    },
    "Fact checker": {
        "grounded": (
            "challenge",
            5,
            "The 5 GB limit is in line 31. “No data is lost” is in no line, so I do not follow.",
        ),
    },
}
SUGGESTIONS = {
    "Operator": "Say what happens to uploads that are under way while the workers restart.",
    "Newcomer": "Explain what a part is before the notes promise that parts are kept.",
    "Fact checker": "Take out “No data is lost during the upgrade”, or name the changelog line that says so.",
}
MERGED = {
    "working": ["Upgrade steps in an order that works", "Every fix with its number"],
    "not_working": ["Reassuring claims without a source"],
    "direction": "Promise only what the changelog says, and say what users notice during the upgrade.",
    "asi": "Take out “No data is lost during the upgrade”, or name the changelog line that says so. "
    "Say what happens to uploads that are under way.",
}
CHANGES = ("Adds fixes and upgrade steps", "Splits limits by plan, adds going back")
REASONS = {
    "Operator": "The steps can be followed at night, and each says what it needs.",
    "Newcomer": "I can follow it, but “part” is used before it is explained.",
    "Fact checker": "Most claims are in the changelog; one promise is not.",
}


def board_rubric(profile: str = "wiggum", panel: tuple[PanelJudge, ...] = PANEL, **judges: Any) -> Rubric:
    base = rubric_for(profile)
    return replace(base, judges=Judges(JudgeMode.BOARD, panel, **judges))


def board_replies(rubric: Rubric, *, unreadable: str = "", spoil: str = "") -> Callable[[Asked], str]:
    """Replies of judges, clerk and producer; `unreadable` is a judge whose replies cannot be read.

    `spoil` is part of every text that a model writes, to find where it is shown.
    """
    asked_so_far: Counter[str] = Counter()
    lock = Lock()

    def turn(who: str) -> int:
        with lock:
            asked_so_far[who] += 1
            return asked_so_far[who] - 1

    def reply(asked: Asked) -> str:
        fields = set((asked.schema or {}).get("properties", {}))
        if asked.schema is None:
            return TEXTS[turn("producer") % len(TEXTS)]
        if "criteria" in fields:
            name = next(judge.name for judge in PANEL if f"Your seat: {judge.name}." in asked.prompt)
            if name == unreadable:
                return "I would rather not say."
            kind = "score" if "asi" in fields else "stance"
            number = turn(f"{kind} {name}")
            if kind == "score":
                return json.dumps(verdict_of(rubric, name, number, spoil))
            return json.dumps(stances_of(rubric, name, number, spoil))
        if "working" in fields:
            return json.dumps(spoiled(MERGED, spoil))
        return json.dumps({next(iter(fields)): f"{CHANGES[turn('change') % len(CHANGES)]}{spoil}"})

    return reply


def spoiled(said: Mapping[str, Any], spoil: str) -> dict[str, Any]:
    return {
        key: [f"{text}{spoil}" for text in value] if isinstance(value, list) else f"{value}{spoil}"
        for key, value in said.items()
    }


def verdict_of(rubric: Rubric, name: str, number: int, spoil: str = "") -> dict[str, Any]:
    scores = SCORES[min(number, len(SCORES) - 1)][name]
    criteria = {
        criterion.key: {
            "reasoning": f"{REASONS[name]}{spoil}",
            "score": round(score) if rubric.scale.step else score,
            "improvement": f"Name the changelog line.{spoil}",
        }
        for criterion, score in zip(rubric.criteria, scores, strict=False)
    }
    issues = [f"“No data is lost” is not supported.{spoil}"] if name == "Fact checker" else []
    return {"criteria": criteria, "issues": issues, "asi": f"{SUGGESTIONS[name]}{spoil}"}


def stances_of(rubric: Rubric, name: str, number: int, spoil: str = "") -> dict[str, Any]:
    told = STANCES[name] if number >= len(SCORES) - 1 else {}
    own = SCORES[min(number, len(SCORES) - 1)][name]
    entries = {}
    for criterion, score in zip(rubric.criteria, own, strict=False):
        stance, revised, words = told.get(criterion.key, ("agree", score, "I see it the same way."))
        entries[criterion.key] = {
            "reasoning": f"{words}{spoil}",
            "stance": stance,
            "score": round(revised) if rubric.scale.step else revised,
        }
    return {"criteria": entries}


def board_run(stage: Stage, rubric: Rubric | None = None, **more: Any) -> Run:
    """Three rounds on the loopback server, judged by a board of three."""
    used = rubric or board_rubric()
    replies = {key: more.pop(key) for key in ("unreadable", "spoil") if key in more}
    stage.server.replies = board_replies(used, **replies)
    stage.server.models = ("qwen3:14b", "gemma3:27b")
    models = {"producer": Target("ollama", "qwen3:14b"), "judge": Target("ollama", "gemma3:27b")}
    return stage.play(used, seed=SEED, task=TASK, **(models | more))


def board_rows(project: Project, **more: Any) -> Run:
    """The same run written as rows, without any model; `spoil` and `unreadable` as above."""
    spoil, unreadable = more.pop("spoil", ""), more.pop("unreadable", "")
    rubric = more.pop("definition", None) or board_rubric()
    run = finished_run(
        project, ["4", "6", "7"], definition=rubric, candidates=[SEED, *TEXTS], task=TASK, seed=SEED, **more
    )
    if not run.panel.exists():
        PanelRow.objects.bulk_create(panel_rows(run, PANEL))
    for number, row in enumerate(run.rounds.order_by("number")):
        board_round(run, rubric, row, number, unreadable=unreadable, spoil=spoil)
    rounds = list(run.rounds.order_by("number"))
    run.trajectory = [str(row.composite) for row in rounds]
    run.r1, run.last, run.best = rounds[0].composite, rounds[-1].composite, rounds[-1].composite
    run.best_round = len(rounds)
    run.save()
    run.refresh_from_db()
    return run


def board_round(
    run: Run, rubric: Rubric, row: Round, number: int, *, unreadable: str = "", spoil: str = ""
) -> None:
    """Replaces the single judge's verdict by a board's."""
    for seat in run.panel.order_by("seat"):
        problem = f"No valid reply after 3 tries. It is not JSON.{spoil}" if seat.name == unreadable else ""
        verdict = {} if problem else verdict_of(rubric, seat.name, number, spoil)
        stances = {} if problem else stances_of(rubric, seat.name, number, spoil)["criteria"]
        BoardVerdict.objects.create(
            round=row, judge=seat, seat=seat.seat, problem=problem, asi=verdict.get("asi", ""),
            scores=[{"key": key, **entry, "score": str(entry["score"])}
                    for key, entry in verdict.get("criteria", {}).items()],
            stances=None if problem else [{"key": key, **entry, "score": str(entry["score"])}
                                          for key, entry in stances.items()],
        )  # fmt: skip
        for purpose in ("score", "deliberate"):
            call(run, row.number, "judge", purpose, seat.seat)
    for purpose in ("merge", "describe"):
        call(run, row.number, "clerk", purpose)
    board = [board_verdict_of(entry) for entry in row.board.order_by("seat")]
    merged = merged_verdict(rubric, board, f"{MERGED['asi']}{spoil}")
    assessment = assess(rubric, merged, (), ())
    row.verdicts.all().delete()
    Verdict.objects.create(round=row, position=0, **verdict_values(merged))
    row.composite, row.scores = assessment.composite, {k: str(v) for k, v in assessment.scores.items()}
    row.spread = {key: str(value) for key, value in spreads(rubric, board).items()}
    row.summary = spoiled({key: value for key, value in MERGED.items() if key != "asi"}, spoil)
    row.key_change = f"{CHANGES[number - 1]}{spoil}"[:60] if number else None
    row.penalties, row.signals = [], []
    row.save()


def call(run: Run, number: int, role: str, purpose: str, seat: int = 0) -> Call:
    now = timezone.now()
    return Call.objects.create(
        run=run, round_number=number, role=role, purpose=purpose, seat=seat, attempt=2, endpoint="ollama",
        model="gemma3:27b", messages=[{"role": "user", "content": "Judge it."}], reply="{}", started_at=now,
        finished_at=now, seconds="2.5", rung="strict",
    )  # fmt: skip


def under_way(project: Project, *, answered: int = 2, deliberated: int = 0) -> Run:
    """The same run during its last round, after this many judges have scored and deliberated."""
    run = board_rows(project)
    last = run.rounds.get(number=3)
    last.verdicts.all().delete()
    last.check_results.all().delete()
    last.board.filter(seat__gt=answered).delete()
    last.board.filter(seat__gt=deliberated).update(stances=None)
    last.board.filter(seat__lte=deliberated).update(deliberated_at=timezone.now())
    unjudged = {"judged_at": None, "composite": None, "scores": None, "spread": None, "summary": None}
    Round.objects.filter(pk=last.pk).update(**unjudged, key_change=None, seen_chars=None)
    Run.objects.filter(pk=run.pk).update(
        status="running", outcome="", stop_reason="", why="", finished_at=None, lease_owner="a worker",
        best_round=2, best=run.rounds.get(number=2).composite, last=run.rounds.get(number=2).composite,
        rounds_judged=2, trajectory=run.trajectory[:2],
    )  # fmt: skip
    seat, kind = (deliberated, "deliberated") if deliberated else (answered, "answered")
    data = {"round": 3, "seat": seat} if seat else {"round": 3}
    Event.objects.create(run=run, kind=kind if seat else "revised", actor="worker", data=data)
    run.refresh_from_db()
    return run


def at_plateau(project: Project, *, board: bool = False, **fields: Any) -> Run:
    """A run that has stopped improving and asks how to go on."""
    base = board_rubric("simmer") if board else rubric_for("simmer")
    rubric = replace(base, policy=replace(base.policy, on_plateau=OnPlateau.ASK, max_rounds=8))
    texts = [SEED, *TEXTS, SEED]
    return finished_run(
        project, ["5.7", "7.3", "6.7", "7.3"], definition=rubric, candidates=texts, task=TASK, seed=SEED,
        status="paused", outcome="", stop_reason="", why="", finished_at=None, plateau_asked=True, **fields,
    )  # fmt: skip
