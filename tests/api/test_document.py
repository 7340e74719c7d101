"""Responses match the OpenAPI document. Permissions are in the role matrix.

A few requests for each operation, the same each time. `WIGGUM_API_EXAMPLES=200` makes it many.
"""

import json
import os
from types import SimpleNamespace

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.failures import FailureGroup

from refinement.services.rubrics.editing import default_rubrics_install
from tests.api.test_role_matrix import ROLES, RULES, filled
from tests.views.runs.finished import finished_run
from wiggum_site.api import api

pytestmark = pytest.mark.django_db
EXAMPLES = int(os.environ.get("WIGGUM_API_EXAMPLES", "2"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
FEW = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def scripts(request, settings):
    settings.API_RATE = 1_000_000
    # As Django's own test client does: the connection is the test's, and outlasts a request.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield {role: request.getfixturevalue(f"api_{role}") for role in ROLES}
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_every_operation_keeps_its_promises(scripts, project):
    default_rubrics_install(project=project)
    finished_run(project)
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(api.document)))
    schema.app = get_wsgi_application()
    broken = []
    for found in schema.get_all_operations():
        operation = found.ok()
        try:
            asked(operation, scripts, project)
        except (FailureGroup, AssertionError) as failure:
            # Report every operation, not only the first.
            broken.append(f"{operation.method.upper()} {operation.path}: {failure}")
    assert broken == []


def asked(operation, scripts, project) -> None:
    """Requests with some role's token; half of them about things that are there."""
    name = operation.definition.raw["operationId"]
    rule = RULES[name]

    @FEW
    @given(case=wanted(operation), real=st.booleans(), role=st.sampled_from(ROLES[::-1]))
    def promises(case, real, role) -> None:
        with transaction.atomic():
            if real:
                case.path_parameters = real_values(operation.path, rule, project)
            answer = case.call(headers={"Authorization": f"Bearer {scripts[role].token}"})
            transaction.set_rollback(True)
        case.validate_response(answer, checks=CHECKS)
        allowed = rule.least is None or ROLES.index(role) >= ROLES.index(rule.least)
        assert allowed or answer.status_code >= 400, f"{role} may not"

    promises()


def wanted(operation):
    """Requests that fit the document; where there is time, as many that do not."""
    fitting = operation.as_strategy()
    if EXAMPLES <= 2:
        return fitting
    return st.one_of(fitting, operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))


def real_values(path: str, rule, project) -> dict[str, str]:
    """The parameters of an address, as the role matrix fills them."""
    told = filled(path, rule, project).split("/")
    pairs = zip(path.split("/"), told, strict=True)
    return {part.strip("{}"): value for part, value in pairs if part.startswith("{")}


def test_a_promise_that_is_broken_is_noticed(scripts, project, monkeypatch):
    """The test above can fail: it reports a response that the document does not contain."""
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(api.document)))
    schema.app = get_wsgi_application()
    monkeypatch.setattr("refinement.api.projects.line", lambda _: SimpleNamespace(model_dump=dict))
    operation = schema["/api/v1/projects"]["GET"]
    with pytest.raises(FailureGroup, match="violates schema"):
        asked(operation, scripts, project)
