"""Invented folders in irregular shapes: files, titles, headers, rows and best lines."""

from tests.interchange.simmer.expected import Case, Expected
from tests.interchange.simmer.real import texts

TWO = "| Iter | Clarity | Tone | Composite | Key Change |\n|---|---|---|---|---|\n"
ROWS = "| 0 | 4 | 6 | 5.0 | seed |\n| 1 | 7 | 7 | 7.0 | opens with the offer |\n"
TWO_ROUNDS = {
    0: Expected("4 6", "5.00", origin="seed"),
    1: Expected("7 7", "7.00", "opens with the offer"),
}


def plain(heading: str, title: str, **more) -> Case:
    """A folder of two rounds with this heading, and what else differs."""
    trajectory = f"{heading}\n\n{TWO}{ROWS}{more.pop('after', '')}"
    values = {
        "files": {"trajectory.md": trajectory, **texts(0, 1)},
        "title": title,
        "criteria": ["Clarity", "Tone"],
        "rounds": TWO_ROUNDS,
        "best": 1,
    }
    return Case(**(values | more))


def headed(header: str, criteria: list[str], **more) -> Case:
    """A folder whose table has this header for two criteria."""
    body = f"# Simmer Trajectory — Mail\n\n{header}\n|---|---|---|---|---|\n{ROWS}"
    return plain("", "Mail", files={"trajectory.md": body, **texts(0, 1)}, criteria=criteria, **more)


TITLES = {
    "title after a colon": plain("# Simmer Trajectory: Local Prompt (Board)", "Local Prompt (Board)"),
    "title before a colon": plain("# Welcome mail: Simmer trajectory", "Welcome mail"),
    "title before a dash": plain("# Welcome mail — Simmer Trajectory", "Welcome mail"),
    "title between": plain("# Simmer: Renewals & More — Final Trajectory (6 iterations)", "Renewals & More"),
    "title without a sign": plain("# myFuture UI Simmer Trajectory", "myFuture UI"),
    "title for": plain("# Simmer trajectory for the `welcome` mail", "the `welcome` mail"),
    "colon in the title": plain("# Simmer Trajectory – Round 2: the API", "Round 2: the API"),
    "folder for a title": plain("# Simmer Trajectory", "shop", folder="shop/docs/simmer"),
    "no heading": plain("", "mail"),
    "text for a title": plain(
        "# Simmer Trajectory",
        "The welcome mail",
        folder="simmer",
        files={
            "trajectory.md": f"{TWO}{ROWS}",
            "iteration-0-candidate.md": "Hello.\n",
            "iteration-1-candidate.md": "# The welcome mail\n\nHello.\n",
        },
    ),
}
HEADERS = {
    "marked (P)": headed("| Iter | Clarity (P) | Tone | Composite | Key Change |", ["Clarity*", "Tone"]),
    "marked PRIMARY": headed(
        "| Iter | Clarity | Tone PRIMARY | Composite | Key Change |", ["Clarity", "Tone*"]
    ),
    "marked with a star": headed("| # | **Clarity*** | Tone | Avg | Changes |", ["Clarity*", "Tone"]),
    "marked in brackets": headed(
        "| Round | Clarity [primary] | Tone (/10) | Total | What changed |", ["Clarity*", "Tone"]
    ),
    "stars as footnotes": headed(
        "| Iter | Clarity* | Tone* | Composite | Key Change |",
        ["Clarity", "Tone"],
        notes=["Clarity, Tone: Several criteria have a star"],
    ),
    "primary on a line": plain(
        "# Simmer Trajectory — Mail\n\n**Primary criterion:** Tone",
        "Mail",
        criteria=["Clarity", "Tone*"],
        notes=["imported as remarks"],
        remarks="**Primary criterion:** Tone",
    ),
}
BEST = {
    "tied round named": plain(
        "# Simmer Trajectory — Mail",
        "Mail",
        after="| 2 | 8 | 6 | 7.0 | ties best |\n\nBest candidate: iteration 2 (7.0/10)\n",
        files=None,
    ),
    "two tied rounds named": plain(
        "# Simmer Trajectory — Mail",
        "Mail",
        after="| 2 | 8 | 6 | 7.0 | ties best |\n\n**Best:** iterations 1 and 2 (7.0/10, tie)\n",
        files=None,
    ),
    "winner": plain(
        "# Simmer Trajectory — Mail",
        "Mail",
        after="\n🏆 **Winner:** iteration-1 candidate (composite 7.0)\n",
        named=[([2], "7.0")],
    ),
    "winner below a heading": plain(
        "# Simmer Trajectory — Mail",
        "Mail",
        after="\n## Winner\n\nIteration 1 (7.0/10)\n",
        named=[([2], "7.0")],
    ),
    "winner without a colon": plain(
        "# Simmer Trajectory — Mail",
        "Mail",
        after="\nThe winner is iteration 1 at 7.0.\n",
        named=[([2], "7.0")],
    ),
    "seed named": plain(
        "# Simmer Trajectory — Mail",
        "Mail",
        after="\nBest: seed (5.0/10)\n",
        named=[([1], "5.0")],
        contradictions=["Line 8 names iteration 0 as best; by the scores it is iteration 1 (7.0)."],
    ),
    "number alone": plain(
        "# Simmer Trajectory — Mail",
        "Mail",
        after="\nBest iteration: 1 (7.5/10)\nBest practices: write 3 drafts.\n",
        named=[([2], "7.5")],
        contradictions=["Line 8 states 7.5 for iteration 1; its scores give 7.0."],
        notes=["imported as remarks"],
        remarks="Best practices: write 3 drafts.",
    ),
}
for name, named in (("tied round named", ([3], "7.0")), ("two tied rounds named", ([2, 3], "7.0"))):
    case = BEST[name]
    words = (
        "Best candidate: iteration 2 (7.0/10)"
        if len(named[0]) == 1
        else "**Best:** iterations 1 and 2 (7.0/10, tie)"
    )
    table = f"{TWO}{ROWS}| 2 | 8 | 6 | 7.0 | ties best |\n"
    case.files = {
        "trajectory.md": f"# Simmer Trajectory — Mail\n\n{table}\n{words}\n",
        **texts(0, 1, 2, best=2),
    }
    case.rounds = TWO_ROUNDS | {2: Expected("8 6", "7.00", "ties best")}
    case.named = [named]

CODE = {
    "candidates of any extension": Case(
        {
            "trajectory.md": f"# Simmer Trajectory: parser.py\n\n{TWO}{ROWS}| 2 | 8 | 8 | 8.0 | a table |\n",
            "iteration-0-candidate.py": "def parse(): ...\n",
            "iteration-1-candidate.test.ts": "export {}\n",
            "iteration-2-candidate.json": '{"a": 1}\n',
            "result.json": '{"a": 1}\n',
            "eval-2/case.json": '{"passed": 3}',
            "eval-2/log.txt": "ok",
        },
        title="parser.py",
        criteria=["Clarity", "Tone"],
        rounds={**TWO_ROUNDS, 2: Expected("8 8", "8.00", "a table")},
        best=2,
        notes=["eval-2/case.json and eval-2/log.txt: 2 files are ignored."],
    ),
    "candidates in folders": Case(
        {
            "trajectory.md": f"# Simmer Trajectory: page\n\n{TWO}{ROWS}",
            "iteration-0-candidate/index.html": "<p>Zero</p>\n",
            "iteration-1/index.html": "<p>One</p>\n",
            "iteration-1/judgment.md": "ITERATION 1 SCORES:\n  clarity: 7/10 — Clear — and short. — Cut it.\n"
            "  tone: 7/10 — Warm. — Greet.\nCOMPOSITE: 7.0/10\n\nASI (highest-leverage direction):\nName the day.\n",
        },
        title="page",
        criteria=["Clarity", "Tone"],
        rounds={
            0: Expected("4 6", "5.00", origin="seed", text="<p>Zero</p>\n"),
            1: Expected(
                "7 7",
                "7.00",
                "opens with the offer",
                asi="Name the day.",
                text="<p>One</p>\n",
                reasons={"clarity": ("Clear — and short.", "Cut it."), "tone": ("Warm.", "Greet.")},
            ),
        },
        best=1,
    ),
}
CODE["a candidate of several files"] = plain(
    "# Simmer Trajectory — Mail",
    "Mail",
    files={
        "trajectory.md": f"# Simmer Trajectory — Mail\n\n{TWO}{ROWS}",
        "iteration-0-candidate/a.py": "a = 1\n",
        "iteration-0-candidate/b.py": "b = 1\n",
        "iteration-1-candidate.py": "c = 1\n",
    },
    rounds=TWO_ROUNDS | {0: Expected("4 6", "5.00", text="")},
    notes=[
        "iteration-0-candidate: A candidate of 2 files",
        "Iteration 0 has no text; the table has the scores",
    ],
)
CONFIG = """# Simmer Trajectory — Pipeline

| Iteration | Coverage | Efficiency | Composite | Config | Words | Key Change |
|-----------|----------|------------|-----------|--------|-------|------------|
| 0 | 2 | 6 | 4.0 | small, single call | 427 | seed |
| 1 | 4 | 5 | 4.5 | large, single call | ~430 | model swap |

Best candidate: iteration 1 (composite: 4.5/10)
"""
TABLES = {
    "config and words": Case(
        {"trajectory.md": CONFIG, **texts(0, 1)},
        title="Pipeline",
        criteria=["Coverage", "Efficiency"],
        rounds={0: Expected("2 6", "4.00", origin="seed"), 1: Expected("4 5", "4.50", "model swap")},
        best=1,
        named=[([2], "4.5")],
        columns=["Config", "Words"],
        notes=["line 3: Config, Words: Not a criterion"],
    ),
    "other columns before the composite": Case(
        {
            "trajectory.md": "# Simmer Trajectory — Pipeline\n\n"
            "| Iter | Composite | Recall | Coverage | Topology | Notes |\n|---|---|---|---|---|---|\n"
            "| 0 | 3.0 | 3 | 32% | single call | seed |\n| 1 | 6.0 | 6 | 65% | chain of two | chained |\n",
            **texts(0, 1),
        },
        title="Pipeline",
        criteria=["Recall"],
        rounds={0: Expected("3", "3.00", origin="seed"), 1: Expected("6", "6.00", "chained")},
        best=1,
        columns=["Coverage", "Topology"],
        notes=["Coverage, Topology: Not a criterion"],
    ),
    "marked and approximate scores": Case(
        {
            "trajectory.md": f"# Simmer Trajectory — Mail\n\n{TWO}"
            "| 0 | ~4 | 6* | ~5.0 | seed |\n| 1 | **8** (+4) | 7/10 | 7.5 ⭐ | a \\| b |\n| 2 | 6,5 | ~7 | 6.8 | worse |\n",
            **texts(0, 1, 2),
        },
        title="Mail",
        criteria=["Clarity", "Tone"],
        rounds={
            0: Expected("4 6", "5.00", origin="seed"),
            1: Expected("8 7", "7.50", "a | b"),
            2: Expected("6.5 7", "6.75", "worse"),
        },
        best=1,
        notes=[
            "line 5: Clarity ~4, Composite ~5.0 and Tone ~7: An estimate; the number is read as it is. Lines 5 and 7.",
            "line 5: Tone 6*: A score with a footnote mark",
            "line 7: Clarity 6,5: Read with a decimal comma.",
            "line 7: Clarity 6.5: Simmer uses whole numbers",
        ],
    ),
    "repeated and combined rows": Case(
        {
            "trajectory.md": f"# Simmer Trajectory — Mail\n\n{TWO}"
            "| Seed | 4 | 6 | 5.0 | seed |\n| 1* | ~9 | ~9 | ~9.0 | another run |\n"
            "| Iter 1 (best) | 7 | 7 | 7.0 | opens |\n| 1 | 7 | 7 | 7.0 | opens |\n| 2+3 | 6 | 7 | 6.5 | both |\n"
            "| Average | 6 | 7 | 6.5 | |\n",
            **texts(0, 1, 3),
        },
        title="Mail",
        criteria=["Clarity", "Tone"],
        rounds={
            0: Expected("4 6", "5.00", origin="seed"),
            1: Expected("7 7", "7.00", "opens"),
            2: Expected(),
            3: Expected("6 7", "6.50", "both"),
        },
        best=1,
        uncounted=["1*", "1"],
        notes=[
            "Iteration 2 has no text and no row in the table; it is unscored and without text.",
            "line 6: 1*: Another row of an iteration that has one",
            "line 8: 1: A repeated row",
            "line 9: 2+3: A row for several iterations",
            "line 10: “Average”: Not an iteration number",
        ],
    ),
    "prose and a second header between the rows": Case(
        {
            "trajectory.md": f"# Simmer Trajectory — Mail\n\n{TWO}{ROWS}\nThe board took over.\n\n"
            f"| 2 | 8 | 7 | 7.5 | board |\n\n| Metric | Seed | Best |\n|---|---|---|\n| 1 | 2 | 3 |\n\n## More\n\n{TWO}"
            "| 3 | 8 | 8 | 8.0 | extended |\n",
            **texts(0, 1, 2, 3),
        },
        title="Mail",
        criteria=["Clarity", "Tone"],
        rounds={
            **TWO_ROUNDS,
            2: Expected("8 7", "7.50", "board"),
            3: Expected("8 8", "8.00", "extended"),
        },
        best=3,
        remarks="The board took over.\n\n| Metric | Seed | Best |\n|---|---|---|\n| 1 | 2 | 3 |",
        notes=["4 lines starting here are imported as remarks"],
    ),
    "unreadable and missing scores": Case(
        {
            "trajectory.md": f"# Simmer Trajectory — Mail\n\n{TWO}"
            "| 1 | 7 | 7 | 7.0 | first |\n| 2 | high | 7 | 7.0 | second |\n| 3 | 12 | 7 | 9.5 | third |\n| 4 | – | 7 | | fourth |\n",
            **texts(1, 2, 3, 4, 5),
        },
        title="Mail",
        criteria=["Clarity", "Tone"],
        rounds={
            1: Expected("7 7", "7.00", "first", origin="draft"),
            2: Expected(change="second"),
            3: Expected(change="third"),
            4: Expected(change="fourth"),
            5: Expected(),
        },
        best=1,
        notes=[
            "Iteration 5 has no row in the table; it is unscored.",
            "line 6: Clarity high: Not a score.",
            "line 6: Clarity of iteration 2 and Clarity of iteration 4: A score is missing or cannot be read",
            "line 7: Clarity 12: Outside 1 to 10, so the iteration is unscored.",
        ],
    ),
    "rows without outer bars": Case(
        {
            "trajectory.md": "Simmer Trajectory\n\nIter | Clarity | Tone | Composite | Key Change\n"
            "--- | --- | --- | --- | ---\n0 | 4 | 6 | 5.0 | seed\n1 | 7 | 7 | 7.0 | opens with the offer\n",
            **texts(0, 1),
        },
        title="mail",
        criteria=["Clarity", "Tone"],
        rounds=TWO_ROUNDS,
        best=1,
        remarks="Simmer Trajectory",
        notes=["imported as remarks"],
    ),
    "a table without texts": Case(
        {"trajectory.md": f"# Simmer Trajectory — Mail\n\n{TWO}{ROWS}"},
        title="Mail",
        criteria=["Clarity", "Tone"],
        rounds=TWO_ROUNDS,
        best=1,
        notes=["Iterations 0 and 1 have no text; the table has the scores; they are imported without text."],
    ),
}
IRREGULAR = TITLES | HEADERS | BEST | CODE | TABLES
