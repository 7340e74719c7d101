"""Exact numbers: all values that are compared are Decimals."""

from decimal import Decimal


def exact(value: Decimal | int | str) -> Decimal:
    """The value as a finite Decimal. Raises TypeError for floats, because 0.1 + 0.2 is not 0.3."""
    if isinstance(value, (float, bool)):
        raise TypeError(f"{value!r} is a {type(value).__name__}; scores are Decimal, int or str")
    number = Decimal(value)
    if not number.is_finite():
        raise ValueError(f"{value!r} is not a finite number")
    return number
