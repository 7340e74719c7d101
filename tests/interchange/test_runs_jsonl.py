"""runs.jsonl: which weights the scores get, unscored records, and names of rounds."""

import json
from decimal import Decimal

import pytest

from refinement.interchange.imports.found import SourceFile
from refinement.interchange.imports.reading import runs_in
from refinement.interchange.runs_jsonl.weights import parsed_weights

FIVE = {"relevance": 10, "completeness": 8, "depth": 9, "specificity": 8, "structure": 9}
SIX = {"depth": 7, "relevance": 8, "completeness": 7, "grounded": 6, "specificity": 6, "structure": 9}
OTHER = {"depth": 6, "clarity": 9}


def read(*records: object, weights: str = ""):
    """The runs in these lines, and the notes on the file."""
    data = "\n".join(json.dumps(record) for record in records).encode()
    notes: list = []
    given = parsed_weights(weights) if weights else None
    return list(runs_in([SourceFile("runs.jsonl", data)], notes, given)), [str(note) for note in notes]


def weights_of(found) -> dict[str, str]:
    snapshot = found.document.run.snapshot
    plain = snapshot["policy"]["composite"] == "plain_mean"
    return {entry["key"]: "1" if plain else str(entry["weight"]) for entry in snapshot["criteria"]}


def line(dims: dict, stated: object = None, **more) -> dict:
    scores = {} if stated is None else {"wiggum_composites": [stated]}
    return {"task": "Explain", "wiggum_scores": {"r1": dims}, **scores, **more}


EQUAL = dict.fromkeys(FIVE, "1")
PUBLISHED = {
    "relevance": "0.20",
    "completeness": "0.25",
    "depth": "0.30",
    "specificity": "0.15",
    "structure": "0.10",
}
GROUNDED = {**{key: value for key, value in SIX.items() if key != "grounded"}, "groundedness": 6}


@pytest.mark.parametrize(
    ("record", "flag", "composite", "weights", "noted"),
    [
        (line(FIVE, 8.8), "", "8.80", PUBLISHED, ""),
        (line(FIVE), "", "8.80", PUBLISHED, ""),
        (line({**FIVE, "depth": 5}, 8.0), "", "8.00", EQUAL, "Equal weights reproduce"),
        (line(FIVE, 5.0), "", "8.80", PUBLISHED, "do not reproduce"),
        (line(SIX, 7.2), "", "7.15", None, ""),
        (line(GROUNDED, 7.2), "", "7.15", None, ""),
        (line(OTHER, 7.5), "", "7.50", {"depth": "1", "clarity": "1"}, ""),
        (line(OTHER, 8.1), "", "7.50", {"depth": "1", "clarity": "1"}, "unless you give others"),
        (line(OTHER, 8.1), "depth=.3,clarity=.7", "8.10", {"depth": "0.3", "clarity": "0.7"}, ""),
        (line(OTHER), "depth=.3", "7.50", {"depth": "1", "clarity": "1"}, "The given weights lack this"),
        (line(OTHER, weights={"depth": 2, "clarity": 1}), "depth=.3,clarity=.7", "7.00",
         {"depth": "2", "clarity": "1"}, ""),
        (line(OTHER, wiggum_weights={"depth": 0, "clarity": 1}), "", "7.50", {"depth": "1", "clarity": "1"},
         "No positive weight"),
    ],
)  # fmt: skip
def test_the_weights_that_reproduce_the_scores(record, flag, composite, weights, noted):
    (found,), _ = read(record, weights=flag)
    assert f"{found.document.rounds[0].composite:.2f}" == composite
    if weights is not None:
        given = {key: Decimal(value) for key, value in weights.items()}
        assert {key: Decimal(value) for key, value in weights_of(found).items()} == given
    else:
        assert found.document.run.snapshot["name"] == "Wiggum six dimensions"
    whys = " ".join(note.why for note in found.notes)
    assert noted in whys
    assert bool(whys) == bool(noted)


def test_a_line_with_other_weights_is_another_run():
    (plain,), _ = read(line(OTHER))
    (weighted,), _ = read(line(OTHER), weights="depth=.3,clarity=.7")
    (again,), _ = read(line(OTHER), weights="clarity=.7,depth=.30,unused=1")
    assert plain.key != weighted.key
    assert ["weights of the import", "depth=0.3, clarity=0.7"] in weighted.stated["facts"]
    assert again.document.rounds[0].composite == weighted.document.rounds[0].composite
    (own,), _ = read(line(FIVE, weights=dict.fromkeys(FIVE, 1)))
    (same,), _ = read(line(FIVE, weights=dict.fromkeys(FIVE, 1)), weights="depth=2")
    assert own.key == same.key


@pytest.mark.parametrize(
    "text", ["depth", "depth=", "=1", "depth=0", "depth=-1", "depth=x", "a=1,a=2", "a=1,", "a=NaN"]
)
def test_what_is_no_weight_is_named(text):
    with pytest.raises(ValueError, match="weight"):
        parsed_weights(text)


def test_rounds_named_round_1():
    record = {
        "task": "Explain",
        "wiggum_scores": [6.5, 8.2],
        "wiggum_dimensions": {"round_1": GROUNDED, "round_2": dict.fromkeys(GROUNDED, 8)},
    }
    (found,), notes = read(record)
    assert [f"{entry.composite:.2f}" for entry in found.document.rounds] == ["7.15", "8.00"]
    assert notes == []


LOGGED = {"wiggum_rounds": 0, "wiggum_scores": [], "wiggum_dims": [], "wiggum_eval_log": []}


@pytest.mark.parametrize(
    ("record", "texts", "outcome"),
    [
        ({"task": "Draft a mail", **LOGGED, "final": "PASS"}, [], "PASS"),
        ({"task": "Crash", **LOGGED, "final": "ERROR"}, [], "ERROR"),
        ({"task": "No end", **LOGGED, "final": None}, [], "DONE"),
        (
            {"run_id": "a1", "wiggum_scores": [], "final_content": "The text", "final": "PASS"},
            ["The text"],
            "PASS",
        ),
        ({"task": "Older", "producer_model": "small", "final": "FAIL"}, [], "FAIL"),
        ({"task": "Empty", "wiggum_scores": {}, "wiggum_eval_log": None}, [], "DONE"),
    ],
)
def test_a_run_without_a_scored_round_is_a_record(record, texts, outcome):
    (scored, found), notes = read(line(SIX), record)
    assert scored.document is not None
    assert [entry.candidate for entry in found.document.rounds] == texts
    run = found.document.run
    assert (run.outcome, run.best, run.rounds_judged) == (outcome, None, 0)
    assert run.why == "Imported. No round has all its scores, so there is no best round."
    assert found.notes == []
    assert notes == ["runs.jsonl, line 2: No scored round on line 2; imported as unscored."]


def test_unscored_runs_are_one_note():
    found, notes = read(*[{"task": str(number), **LOGGED} for number in range(20)])
    assert len(found) == len({entry.key for entry in found}) == 20
    assert notes == [
        "runs.jsonl, line 1: No scored round on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 8 more; "
        "imported as unscored."
    ]
