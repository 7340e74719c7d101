"""What identifies a judge."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any


def judge_key(model: str, panel: Sequence[dict[str, Any]] = ()) -> str:
    """What identifies a judge of a rubric version: its model, or a digest of its board's lenses and models.

    The endpoint does not count: the same model on another server is the same judge.
    """
    if not panel:
        return model
    seats = [[seat["name"], seat["lens"], seat.get("model") or model] for seat in panel]
    digest = hashlib.sha256(json.dumps(seats, ensure_ascii=False).encode()).hexdigest()
    return f"board:{digest[:16]}"
