"""Reads numbers of eval files, exactly."""

from decimal import Decimal, InvalidOperation

from refinement.evals.dialects.log import Log
from refinement.interchange.imports.fields import brief
from refinement.interchange.rubrics.yaml_reading import Node, Scalar

PLACES = 6


def number_of(log: Log, node: Node, name: str, *, most: Decimal | None = None) -> Decimal | None:
    """A number from 0 up to `most`; None, with a note, if it is something else."""
    text = node.text.strip() if isinstance(node, Scalar) else ""
    try:
        number = Decimal(text)
        if not number.is_finite() or abs(number.adjusted()) > 30:
            raise InvalidOperation
    except InvalidOperation:
        shown = f", not {brief(text)}" if isinstance(node, Scalar) else ""
        log.add(node.line, f"{name} must be a number{shown}.")
        return None
    if number < 0 or (most is not None and number > most):
        limit = f"from 0 to {most}" if most is not None else "0 or more"
        log.add(node.line, f"{name} must be {limit}, not {brief(text)}.")
        return None
    return number if number == round(number, PLACES) else round(number, PLACES)


def share_of(log: Log, node: Node | None, name: str) -> Decimal | None:
    """A number from 0 to 1; None if it is missing."""
    return None if node is None else number_of(log, node, name, most=Decimal(1))


def whole_of(log: Log, node: Node, name: str, *, most: int) -> int:
    """A whole number from 1; 1, with a note, if it is something else."""
    number = number_of(log, node, name, most=Decimal(most))
    if number is None:
        return 1
    if number % 1 or number < 1:
        log.add(node.line, f"{name} must be a whole number from 1 to {most:,}.")
        return 1
    return int(number)
