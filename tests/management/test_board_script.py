"""A board with scripted replies: judges called at the same time get one line each."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from refinement.engine.profiles import rubric_for

pytestmark = pytest.mark.django_db(transaction=True)
KEYS = [criterion.key for criterion in rubric_for("simmer").criteria]
PANEL = {"judges": [{"name": name, "lens": f"You look as {name}."} for name in ("Ada", "Ben", "Cleo")]}
MERGED = {"working": [], "not_working": [], "direction": "On.", "asi": "Name the port."}


def scores(value: int) -> dict[str, object]:
    given = {key: {"reasoning": "So.", "score": value, "improvement": "More."} for key in KEYS}
    return {"criteria": given, "issues": [], "asi": f"From {value}."}


def stances() -> dict[str, object]:
    return {"criteria": {key: {"reasoning": "", "stance": "agree", "score": 1} for key in KEYS}}


def test_every_judge_gets_its_own_line(tmp_path: Path, capsys, monkeypatch):
    script, seed = tmp_path / "said.jsonl", tmp_path / "seed.md"
    said = [("clerk", PANEL), *(("judge", scores(value)) for value in (3, 5, 8))]
    said += [*(("judge", stances()) for _ in range(3)), ("clerk", MERGED)]
    lines = [json.dumps({"role": role, "text": json.dumps(reply)}) for role, reply in said]
    script.write_text("\n".join(lines), "utf-8")
    seed.write_text("# A first text.", "utf-8")
    monkeypatch.setattr("signal.signal", lambda number, handler: None)
    target = f"scripted:{script}"
    with pytest.raises(SystemExit) as ended:
        call_command(
            "refine", "--rubric", "simmer", "--task", "Explain.", "--seed", str(seed), "--json",
            "--producer", target, "--judge", target, "--judges", "board", "--max-rounds", "1",
        )  # fmt: skip
    assert ended.value.code == 0
    (found,) = json.loads(capsys.readouterr().out)["rounds"]
    assert [judge["name"] for judge in found["judges"]] == ["Ada", "Ben", "Cleo"]
    assert [set(judge["scores"].values()) for judge in found["judges"]] == [{3.0}, {5.0}, {8.0}]
    assert found["spread"] == dict.fromkeys(KEYS, 5.0)
