"""Invented folders with ASIs, judgments and evaluator details, in the shapes that runs have."""

from tests.interchange.simmer.expected import Case, Expected
from tests.interchange.simmer.irregular import ROWS, TWO
from tests.interchange.simmer.real import texts

THREE = f"# Simmer Trajectory — Mail\n\n{TWO}{ROWS}| 2 | 8 | 8 | 8.0 | shorter |\n\n"


def with_asis(after: str, asis: dict[int, str], **more) -> Case:
    """Three rounds with these ASIs by iteration, written below the table."""
    rounds = {
        0: Expected("4 6", "5.00", origin="seed"),
        1: Expected("7 7", "7.00", "opens with the offer"),
        2: Expected("8 8", "8.00", "shorter"),
    }
    for number, asi in asis.items():
        rounds[number].asi = asi
    for number, reasons in more.pop("reasons", {}).items():
        rounds[number].reasons = reasons
    values = {
        "files": {"trajectory.md": THREE + after, **texts(0, 1, 2), **more.pop("judgments", {})},
        "title": "Mail",
        "criteria": ["Clarity", "Tone"],
        "rounds": rounds,
        "best": 2,
    }
    return Case(**(values | more))


ALL = {0: "Name the offer.", 1: "Cut the middle.", 2: "Nothing is worth another edit."}
ASIS = {
    "a section for each": with_asis(
        "## Iteration Notes\n\n### Iteration 0 ASI\n\nName the offer.\n\n### Iteration 1 ASI\n\nCut the middle.\n\n"
        "### Iteration 2 ASI\n\nNothing is worth another edit.\n",
        ALL,
    ),
    "one section with headings": with_asis(
        "## ASI\n\n### Iteration 0\nName the offer.\n### Iteration 1\nCut the middle.\n"
        "### Iteration 2 (final)\nNothing is worth another edit.\n",
        ALL,
    ),
    "one section with a list": with_asis(
        "## ASI\n- **Iteration 0:** Name the offer.\n- **Iteration 1 → 2:** Cut the middle,\n  all of it.\n"
        "- Iteration 2 — Nothing is worth another edit.\n\nBest candidate: iteration 2 (8.0/10)\n",
        ALL | {1: "Cut the middle,\n  all of it."},
        named=[([3], "8.0")],
    ),
    "a list in order": with_asis(
        "## ASIs\n1. Name the offer.\n2. Cut the middle.\n",
        {0: "Name the offer.", 1: "Cut the middle."},
        notes=["A list of ASIs, one for each iteration, in their order."],
    ),
    "a list of unknown owners": with_asis(
        "## ASI\n- One.\n- Two.\n- Three.\n- Four.\n- Five.\n",
        {},
        remarks="- One.\n- Two.\n- Three.\n- Four.\n- Five.",
        notes=["A list of ASIs without their iterations", "imported as remarks"],
    ),
    "the last one alone": with_asis(
        "## ASI\n\nName the day.\nAnd the hour.\n",
        {2: "Name the day.\nAnd the hour."},
        notes=["An ASI without its iteration; assigned to the last, iteration 2."],
    ),
    "within an iteration": with_asis(
        "## Iteration 0 — Seed\n\n### Board Findings:\n1. No offer.\n\n### ASI (synthesized):\nName the offer.\n\n"
        "## Iteration 1\n\n**Panel:** two judges\n\n**Remaining gap (ASI for iteration-2):** Cut the middle.\n\n"
        "Tone is fine.\n",
        {0: "Name the offer.", 1: "Cut the middle."},
        details={0: "Board Findings:\n1. No offer.", 1: "**Panel:** two judges\n\n\nTone is fine."},
    ),
    "for the next iteration": with_asis(
        "## ASI for Iteration 1\n\nName the offer.\n\n## ASI for iteration 2\n\nCut the middle.\n",
        {0: "Name the offer.", 1: "Cut the middle."},
    ),
    "a table": with_asis(
        "| Iteration | ASI |\n|---|---|\n| 0 | Name the offer. |\n| 1 | Cut the middle. |\n",
        {0: "Name the offer.", 1: "Cut the middle."},
    ),
    "files": with_asis(
        "",
        {0: "Name the offer."},
        judgments={"iteration-0-asi.md": "Name the offer.\n"},
    ),
}
JSON = '{"criteria": {"clarity": {"score": 8, "reasoning": "Short.", "improvement": "Shorter."}, \
"tone": {"score": 8, "reasoning": "Warm."}}, "asi": "Name the day."}'
JUDGED = {
    "headings": with_asis(
        "",
        {2: "Name the day."},
        judgments={
            "iteration-2-judgment.md": "# Judgment\n\n### Clarity: 8/10\n**Reasoning:** Short — and plain.\n"
            "**Specific improvement:** Shorter.\n\n### Tone: 8/10\n**Reasoning:** Warm.\n"
            "**Specific improvement:** Greet.\n\n**Composite: 8.0/10**\n\n## ASI\n\nName the day.\n"
        },
        reasons={2: {"clarity": ("Short — and plain.", "Shorter."), "tone": ("Warm.", "Greet.")}},
    ),
    "a fenced reply": with_asis(
        "",
        {2: "Name the day."},
        judgments={
            "iteration-2-judgment.md": "```\nITERATION 2 SCORES:\n"
            '  clarity: 8/10 — Short. The word "offer" comes first. — Cut the list.\n'
            "  tone: 7/10 — Warm. — Greet.\nCOMPOSITE: 7.5/10\n\nASI (highest-leverage direction):\nName the day.\n```"
        },
        reasons={
            2: {
                "clarity": ('Short. The word "offer" comes first.', "Cut the list."),
                "tone": ("Warm.", "Greet."),
            }
        },
        notes=["Tone: 7, not 8: The judgment and the table have different scores; the table is used."],
    ),
    "JSON": with_asis(
        "",
        {2: "Name the day."},
        judgments={"iteration-2-judgment.json": JSON},
        reasons={2: {"clarity": ("Short.", "Shorter."), "tone": ("Warm.", "")}},
    ),
    "evaluator output": with_asis(
        "## Evaluator Details\n\n### Iteration 1\n- Case A: 54% (23 of 43)\n- Missed: three\n\n### Iteration 9\n- none\n",
        {},
        judgments={"iteration-2-evaluator-output.txt": "3 passed, 2 failed\n"},
        details={1: "- Case A: 54% (23 of 43)\n- Missed: three", 2: "3 passed, 2 failed"},
        remarks="## Evaluator Details\n\n### Iteration 9\n- none",
        notes=["imported as remarks"],
    ),
    "judgments without a trajectory": Case(
        {
            "iteration-0-candidate.md": "Zero.\n",
            "iteration-0-judgment.md": "- clarity: 4/10 — Vague. — Name it.\n- tone: 6/10 — Flat. — Greet.\nASI: Name it.\n",
            "iteration-1-candidate.md": "One.\n",
            "iteration-1-judgment.md": "- clarity: 7/10 — Clear. — Cut.\n- tone: 7/10 — Warm. — Greet.\nComposite: 7.0/10\n",
        },
        title="mail",
        criteria=["clarity", "tone"],
        rounds={
            0: Expected(
                "4 6",
                "5.00",
                asi="Name it.",
                origin="seed",
                reasons={"clarity": ("Vague.", "Name it."), "tone": ("Flat.", "Greet.")},
            ),
            1: Expected("7 7", "7.00", reasons={"clarity": ("Clear.", "Cut."), "tone": ("Warm.", "Greet.")}),
        },
        best=1,
        notes=[
            "those of the judgment are used",
            "those of the judgment are used",
            "trajectory.md is missing",
        ],
    ),
}
SECTIONS = ASIS | JUDGED
