"""The parts of a Markdown report about a board: its judges, what each said, and what the clerk made of it."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from refinement.engine.boards import is_dissent
from refinement.engine.types import Rubric, Stance
from refinement.interchange.imports.markdown_text import inline, table

Panel = Sequence[Mapping[str, Any]]


def judge_facts(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Who judges the run, for the table of facts."""
    yield "Judge", f"{run['judge']['model']} at {run['judge']['endpoint']}"
    panel: Panel = run["panel"]
    if panel:
        judges = "; ".join(f"{judge['name']} ({judge['model']} at {judge['endpoint']})" for judge in panel)
        by = ", composed by the clerk" if panel[0]["by_clerk"] else ""
        after = f", after round {run['escalated_after']}" if run["escalated_after"] else ""
        yield f"Board{by}{after}", judges
    if panel and run["clerk"]["model"]:
        yield "Clerk", f"{run['clerk']['model']} at {run['clerk']['endpoint']}"


def dissent_remark(rubric: Rubric, entry: Mapping[str, Any]) -> str:
    """The criteria on which a board's judges still disagree; empty if there are none."""
    spread = entry["spread"] or {}
    names = [
        criterion.name
        for criterion in rubric.criteria
        if criterion.key in spread and is_dissent(rubric, Decimal(spread[criterion.key]))
    ]
    return f"judges disagree on {', '.join(names)}" if names else ""


def board_section(rubric: Rubric, panel: Panel, entry: Mapping[str, Any]) -> str:
    """What each judge said about the round; empty without a board."""
    answers: Sequence[Mapping[str, Any]] = entry.get("board", ())
    if not answers:
        return ""
    names = {judge["seat"]: judge["name"] for judge in panel}
    read = [answer for answer in answers if not answer["problem"]]
    head = ["Criterion", *(inline(names[answer["seat"]]) for answer in read), "Spread"]
    rows = [_scores(criterion.key, criterion.name, read, entry["spread"]) for criterion in rubric.criteria]
    parts = ["\nThe judges of the board, before and after the deliberation:\n\n", table(head, rows)]
    parts += [
        f"\n{inline(names[answer['seat']])} was left out: {inline(answer['problem'])}\n"
        for answer in answers
        if answer["problem"]
    ]
    parts.append(_moves(rubric, names, read))
    parts.append(_suggestions(names, read))
    parts.append(_summary(entry["summary"] or {}))
    return "".join(parts)


def _scores(key: str, name: str, answers: Panel, spread: Mapping[str, str] | None) -> list[str]:
    return [
        inline(name),
        *(inline(_score(answer, key)) for answer in answers),
        inline((spread or {}).get(key, "")),
    ]


def _score(answer: Mapping[str, Any], key: str) -> str:
    own = next((entry["score"] for entry in answer["scores"] if entry["key"] == key), "")
    stance = next((entry for entry in answer["stances"] or () if entry["key"] == key), None)
    if stance is None or stance["stance"] != Stance.CONCEDE or stance["score"] == own:
        return str(own)
    return f"{own} → {stance['score']}"


def _moves(rubric: Rubric, names: Mapping[int, str], answers: Panel) -> str:
    """The challenges and concessions of the deliberation."""
    criteria = {criterion.key: criterion.name for criterion in rubric.criteria}
    verbs = {Stance.CONCEDE.value: "concedes", Stance.CHALLENGE.value: "challenges"}
    lines = [
        f"- {inline(names[answer['seat']])} {verbs[stance['stance']]} "
        f"{inline(criteria.get(stance['key'], stance['key']))}: {inline(stance['reasoning'])}\n"
        for answer in answers
        for stance in answer["stances"] or ()
        if stance["stance"] in verbs
    ]
    return "\nDeliberation:\n\n" + "".join(lines) if lines else ""


def _suggestions(names: Mapping[int, str], answers: Panel) -> str:
    lines = [
        f"- {inline(names[answer['seat']])}: {inline(answer['asi'])}\n" for answer in answers if answer["asi"]
    ]
    return "\nSuggested changes:\n\n" + "".join(lines) if lines else ""


def _summary(summary: Mapping[str, Any]) -> str:
    lists = (("Working", summary.get("working")), ("Not working", summary.get("not_working")))
    parts = [f"\n{label}: {'; '.join(inline(text) for text in texts)}\n" for label, texts in lists if texts]
    parts += [
        f"\n{label}: {inline(summary[name])}\n"
        for label, name in (("Direction", "direction"), ("Clerk", "problem"))
        if summary.get(name)
    ]
    return "".join(parts)
