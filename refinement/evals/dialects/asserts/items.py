"""Reads the items of a rubric: texts, or records with weights, gates and score ranges."""

from collections.abc import Mapping
from decimal import Decimal

from refinement.evals.dialects.numbers import number_of
from refinement.evals.dialects.reader import Reader
from refinement.evals.sources.plain import data, text_of
from refinement.interchange.imports.fields import brief, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

TEXTS = ("criterion", "outcome", "expected_outcome", "description", "criteria", "value", "text")
OWN_KEYS = ("id", "name", "ideal", "weight", "required", "min_score", "required_min_score", "score_ranges")
ITEM_KEYS = (*TEXTS, *OWN_KEYS, "operator")
CONTRADICTION = "The answer says nothing that contradicts this: "
TOP = 10
MOST_WEIGHT = Decimal(100)


def items_of(reader: Reader, nodes: list[Node], values: Mapping[str, object], name: str) -> list[object]:
    """The items as records with `criterion`, `weight`, `required`, `min_score` and `score_ranges`."""
    made = [item_of(reader, node, values, f"{name}, entry {place}") for place, node in enumerate(nodes, 1)]
    return [item for item in made if item is not None]


def item_of(reader: Reader, node: Node, values: Mapping[str, object], name: str) -> dict[str, object] | None:
    """One item; a text alone is a gate that must hold."""
    if not isinstance(node, Fields):
        text = reader.filled(text_of(data(node)), values, node.line, name).strip()
        if not text:
            reader.log.add(node.line, f"{name} is empty.")
        return {"criterion": text, "required": True, "line": node.line} if text else None
    for key, line in node.lines.items():
        if key not in ITEM_KEYS:
            reader.log.ignore(line, f"{key} in a rubric item", "Unknown key.")
    label = next(
        (text_of(data(node.values[key])).strip() for key in ("id", "name") if key in node.values), ""
    )
    criterion = criterion_of(reader, node, values, name) or label.replace("_", " ")
    if not criterion:
        reader.log.add(node.line, f"{name} needs a criterion or outcome.")
        return None
    item: dict[str, object] = {"criterion": criterion, "line": node.line}
    if label:
        item["id"] = label
    ideal = node.values.get("ideal")
    if isinstance(ideal, Scalar):
        item["ideal"] = reader.filled(ideal.text, values, ideal.line, name)
    weight = node.values.get("weight")
    if weight is not None:
        item["weight"] = number_of(reader.log, weight, f"{name}.weight", most=MOST_WEIGHT)
    ranges = node.values.get("score_ranges")
    levels = ranges_of(reader, ranges, name) if ranges is not None else []
    if levels:
        item["score_ranges"] = levels
    return item | gate(reader, node, name, is_checklist=not levels)


def criterion_of(reader: Reader, node: Fields, values: Mapping[str, object], name: str) -> str:
    text = next(
        (text_of(data(node.values[key])) for key in TEXTS if not is_nothing(node.values.get(key))), ""
    )
    operator = node.values.get("operator")
    guard = CONTRADICTION if isinstance(operator, Scalar) and operator.text == "contradiction" else ""
    return guard + reader.filled(text, values, node.line, name).strip()


def gate(reader: Reader, node: Fields, name: str, *, is_checklist: bool) -> dict[str, object]:
    """Whether the case fails without the item, and the least score. Scores may be given out of 10."""
    made: dict[str, object] = {"required": is_checklist}
    for key in ("required", "required_min_score", "min_score"):
        value = data(node.values.get(key))
        if isinstance(value, bool):
            made["required"] = value
        elif value is not None:
            read = number_of(reader.log, node.values[key], f"{name}.{key}", most=Decimal(TOP))
            if (read is not None and "required" not in node.values) or key == "required":
                made["required"] = True
            if read is not None:
                made["min_score"] = read if read <= 1 else read / TOP
    return made


def ranges_of(reader: Reader, node: Node, name: str) -> list[dict[str, object]]:
    """Ranges from a list with score_range and outcome, or a mapping of the lowest scores to meanings."""
    if isinstance(node, Fields):
        return from_mapping(reader, node, name)
    made: list[dict[str, object]] = []
    for entry in node.values if isinstance(node, Items) else []:
        bounds = data(entry.values.get("score_range")) if isinstance(entry, Fields) else None
        meaning = next(
            (
                text_of(data(entry.values[key]))
                for key in TEXTS
                if isinstance(entry, Fields) and key in entry.values
            ),
            "",
        )
        if (
            not isinstance(bounds, list)
            or len(bounds) != 2
            or not all(isinstance(b, int | float) for b in bounds)
        ):
            reader.log.add(
                entry.line, f"{name}.score_ranges: score_range must be two numbers, such as [0, 3]."
            )
            continue
        made.append({"score_range": [Decimal(str(bound)) for bound in bounds], "outcome": meaning})
    if not made and not isinstance(node, Items):
        reader.log.add(node.line, f"{name}.score_ranges must be a list or a mapping of scores to meanings.")
    return made


def from_mapping(reader: Reader, node: Fields, name: str) -> list[dict[str, object]]:
    levels: list[tuple[int, str]] = []
    for key, value in node.values.items():
        if not key.isdigit() or int(key) > TOP:
            reader.log.add(
                node.lines[key], f"{name}.score_ranges: {brief(key)} is not a score from 0 to {TOP}."
            )
            continue
        levels.append((int(key), text_of(data(value))))
    levels.sort()
    ends = [low - 1 for low, _ in levels[1:]] + [TOP] * bool(levels)
    return [
        {"score_range": [Decimal(low), Decimal(max(low, end))], "outcome": meaning}
        for (low, meaning), end in zip(levels, ends, strict=True)
    ]
