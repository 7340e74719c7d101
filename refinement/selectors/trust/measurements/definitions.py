"""The rubric by which a bench is judged: a version, or a draft that was not saved."""

import hashlib
import json

from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.engine.types import Rubric
from refinement.models import Bench, Measurement
from refinement.selectors.rubrics.definitions import definition_of


def definition_measured(measurement: Measurement) -> Rubric:
    """The measurement's draft, or its version."""
    if measurement.definition is not None:
        return rubric_from_json(measurement.definition)
    return definition_of(measurement.rubric_version)


def definition_for(bench: Bench) -> Rubric:
    """The definition for a bench's trials. One more query for benches of measurements."""
    if bench.fingerprint:
        draft = Measurement.objects.filter(items__bench=bench, definition__isnull=False)
        found = draft.values_list("definition", flat=True).first()
        if found is not None:
            return rubric_from_json(found)
    return definition_of(bench.rubric_version)


def definition_digest(rubric: Rubric) -> str:
    """Identifies a definition, whether it is saved or a draft."""
    text = json.dumps(rubric_to_json(rubric), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
