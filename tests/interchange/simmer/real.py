"""The tables of four published Simmer runs, with short invented candidates."""

from tests.interchange.simmer.expected import Case, Expected


def texts(*numbers: int, best: int | None = None) -> dict[str, str]:
    """A candidate for each iteration, and the result."""
    files = {f"iteration-{number}-candidate.md": f"Text of version {number}.\n" for number in numbers}
    return files if best is None else files | {"result.md": f"Text of version {best}.\n"}


BOARD = Case(
    {
        "trajectory.md": """# Simmer Trajectory — The Bones of Saltmire

| Iter | Narrative Tension | Player Agency (PRIMARY) | Specificity | Composite | Key Change |
|------|-------------------|------------------------|-------------|-----------|------------|
| 1    | 7                 | 7                      | 7           | 7.0       | First version — three threads |
| 2    | 8                 | 8                      | 7           | 7.7       | Three climax locations, a coda |
| 3    | 9                 | 9                      | 9           | 9.0       | Forks in each thread, stat blocks |

**Best candidate:** Iteration 3 (9.0/10)
""",
        **texts(1, 2, 3, best=3),
    },
    title="The Bones of Saltmire",
    criteria=["Narrative Tension", "Player Agency*", "Specificity"],
    rounds={
        1: Expected("7 7 7", "7.00", "First version — three threads", origin="draft"),
        2: Expected("8 8 7", "7.67", "Three climax locations, a coda"),
        3: Expected("9 9 9", "9.00", "Forks in each thread, stat blocks"),
    },
    best=3,
    named=[([3], "9.0")],
)

SCENE = """# Simmer Trajectory

| Iteration | dramatic_tension | character_voice | craft | Composite | Key Change |
|-----------|---|---|---|---|---|
| 0 | 7 | 7 | 8 | 7.3 | seed |
| 1 | 7 | 6.5 | 7 | 6.8 | REGRESSION — lost the voice |
| 2 | 7.5 | 7 | 7 | 7.2 | REGRESSION — doubled vocative |
| 3 | 7.5 | 7.5 | 6.5 | 7.2 | Added a recognition beat |

Best candidate: iteration 2 (composite: 7.2/10)


## Evaluator Details

### Iteration 2
Consensus scores (all within 1 point):
- **dramatic_tension:** median 7.5 (Audience 7.0, Realist 7.5, Verse 8.0)
- **character_voice:** median 7.0 (Audience 7.5, Realist 7.0, Verse 7.0)

Key convergence: all judges named the same gap.

### Iteration 3
- **craft:** median 6.5 (Realist 6, Audience 6.5, Verse 7) — tight meter; too long
"""
REPORT = """# Scene test — Experiment Report

## Config

```
ARTIFACT: A single scene of a tragedy. Two allies
  meet after a betrayal.
CRITERIA:
  - dramatic_tension (PRIMARY): escalating scene, power shifts
  - craft: meter kept
PRIMARY: dramatic_tension
JUDGE_MODE: board
MODE: seedless
```
"""
HALVES = "Simmer uses whole numbers; other scores are imported as they are. Lines 6, 7 and 8."
SCENE_DETAILS = {
    2: """Consensus scores (all within 1 point):
- **dramatic_tension:** median 7.5 (Audience 7.0, Realist 7.5, Verse 8.0)
- **character_voice:** median 7.0 (Audience 7.5, Realist 7.0, Verse 7.0)

Key convergence: all judges named the same gap.""",
    3: "- **craft:** median 6.5 (Realist 6, Audience 6.5, Verse 7) — tight meter; too long",
}


def scene(**changed) -> Case:
    """The scene, with or without the report that names the primary criterion."""
    values = {
        "files": {"trajectory.md": SCENE, **texts(0, 1, 2, 3, best=0)},
        "folder": "tests/reference/scene-v1",
        "title": "scene-v1",
        "criteria": ["dramatic_tension", "character_voice", "craft"],
        "rounds": {
            0: Expected("7 7 8", "7.33", origin="seed"),
            1: Expected("7 6.5 7", "6.83", "REGRESSION — lost the voice"),
            2: Expected(
                "7.5 7 7", "7.17", "REGRESSION — doubled vocative",
                reasons={
                    "dramatic_tension": ("median 7.5 (Audience 7.0, Realist 7.5, Verse 8.0)", ""),
                    "character_voice": ("median 7.0 (Audience 7.5, Realist 7.0, Verse 7.0)", ""),
                },
            ),
            3: Expected(
                "7.5 7.5 6.5", "7.17", "Added a recognition beat",
                reasons={"craft": ("median 6.5 (Realist 6, Audience 6.5, Verse 7) — tight meter; too long", "")},
            ),
        },
        "best": 0,
        "named": [([3], "7.2")],
        "contradictions": ["Line 10 names iteration 2 as best; by the scores it is iteration 0 (7.3)."],
        "notes": [HALVES],
        "details": SCENE_DETAILS,
    }  # fmt: skip
    return Case(**(values | changed))


SCENE_ALONE = scene()
SCENE_WITH_REPORT = scene(
    files={"trajectory.md": SCENE, "experiment_report.md": REPORT, **texts(0, 1, 2, 3, best=0)},
    criteria=["dramatic_tension*", "character_voice", "craft"],
    best=2,
    contradictions=[
        "The text of result.md is that of iteration 0; "
        "by the primary criterion dramatic_tension the best is iteration 2."
    ],
    task="A single scene of a tragedy. Two allies meet after a betrayal.",
)

PROMPT = Case(
    {
        "trajectory.md": """# Simmer Trajectory — Local Extraction Prompt

| Iter | Coverage | Noise | Specificity | Conceptual Depth | Composite | Key Change |
|------|----------|-------|-------------|-----------------|-----------|------------|
| 0    | 6        | 6     | 4           | 3               | 4.8       | seed       |
| 1    | 5        | 4     | 5           | 4               | 4.5       | +taxonomy (REGRESSED) |
| 2    | 5        | 4     | 5           | 3               | 4.3       | +noise gate (REGRESSED) |
| 3    | 6        | 5     | 4           | 3               | 4.5       | by example (flat) |
| 4    | 5        | 5     | 4           | 3               | 4.3       | in steps |
| 5    | 5        | 4     | 4           | 3               | 4.0       | the full prompt |
| 5*   | ~7       | ~7    | ~8          | ~5              | ~6.8      | *same prompt, another run* |

Best single-run: iteration 0 seed (4.8/10)
Best prompt (demonstrated capability): iteration 5 / v4 (~6.8 when corrections fire)

## Key Findings

1. **The model varies**: single evaluations are unreliable.
""",
        **texts(0, 1, 2, 3, 4, 5, best=5),
    },
    title="Local Extraction Prompt",
    criteria=["Coverage", "Noise", "Specificity", "Conceptual Depth"],
    rounds={
        0: Expected("6 6 4 3", "4.75", origin="seed"),
        1: Expected("5 4 5 4", "4.50", "+taxonomy (REGRESSED)"),
        2: Expected("5 4 5 3", "4.25", "+noise gate (REGRESSED)"),
        3: Expected("6 5 4 3", "4.50", "by example (flat)"),
        4: Expected("5 5 4 3", "4.25", "in steps"),
        5: Expected("5 4 4 3", "4.00", "the full prompt"),
    },
    best=0,
    named=[([1], "4.8"), ([6], None)],
    contradictions=[
        "Line 14 names iteration 5 as best; by the scores it is iteration 0 (4.8).",
        "The text of result.md is that of iteration 5; by the scores the best is iteration 0.",
    ],
    notes=["line 11: 5*: Another row of an iteration that has one", "2 lines starting here are imported as"],
    remarks="## Key Findings\n\n1. **The model varies**: single evaluations are unreliable.",
    uncounted=["5*"],
)

PLATEAU = Case(
    {
        "trajectory.md": """# Simmer Trajectory

| Iter | Value Clarity | Response Likelihood | Composite | Key Change |
|------|--------------|--------------------:|----------:|------------|
| 0    | 5            | 4                   | 4.5       | seed       |
| 1    | 5            | 6                   | 5.5       | another offer |
| 2    | 7            | 6                   | 6.5       | a finding of their own |
| 3    | 8            | 7                   | 7.5       | a specific deliverable |
| 4    | 7            | 7                   | 7.0       | reframed (REGRESSION — rolled back) |

| 5    | 7            | 7                   | 7.0       | "reply send it" (no improvement) |

| 6    | 8            | 7                   | 7.5       | a data point (~40%) — ties best |

| 7    | 7.5          | 7.5                 | 7.5       | findings as bullets (BOARD — ties best) |

| 8    | 8.5          | 7.5                 | 8.0       | STRUCTURAL: finding first (BOARD — NEW BEST) |

Best so far: iteration 8 (8.0/10)
Plateau broken at iteration 8 after board upgrade
""",
        **texts(*range(9), best=8),
    },
    folder="plateau-test",
    title="plateau-test",
    criteria=["Value Clarity", "Response Likelihood"],
    rounds={
        0: Expected("5 4", "4.50", origin="seed"),
        1: Expected("5 6", "5.50", "another offer"),
        2: Expected("7 6", "6.50", "a finding of their own"),
        3: Expected("8 7", "7.50", "a specific deliverable"),
        4: Expected("7 7", "7.00", "reframed (REGRESSION — rolled back)"),
        5: Expected("7 7", "7.00", '"reply send it" (no improvement)'),
        6: Expected("8 7", "7.50", "a data point (~40%) — ties best"),
        7: Expected("7.5 7.5", "7.50", "findings as bullets (BOARD — ties best)"),
        8: Expected("8.5 7.5", "8.00", "STRUCTURAL: finding first (BOARD — NEW BEST)"),
    },
    best=8,
    named=[([9], "8.0")],
    notes=["Lines 15 and 17.", "This line is imported as remarks"],
    remarks="Plateau broken at iteration 8 after board upgrade",
)

REAL = {
    "board": BOARD,
    "scene": SCENE_ALONE,
    "scene with its report": SCENE_WITH_REPORT,
    "prompt": PROMPT,
    "plateau": PLATEAU,
}
