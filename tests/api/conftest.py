"""API clients with a token, one for each role of the project."""

import json

import pytest
from django.test import Client

from refinement.services.people.tokens import token_make

ROOT = "/api/v1"
ROLES = ("viewer", "editor", "owner")


class ApiClient:
    """Sends JSON requests with a token; paths are relative to /api/v1."""

    def __init__(self, token: str, client: Client | None = None) -> None:
        self.token, self.client = token, client or Client(raise_request_exception=False)

    def ask(self, method: str, address: str, body: object = None, *, query=None, **headers: str):
        """`headers` by name with underscores: `If_Match=…`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            named["Authorization"] = f"Bearer {self.token}"
        sent = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        return self.client.generic(method, f"{ROOT}{address}", headers=named, query_params=query, **sent)

    def get(self, address: str, query=None, **headers: str):
        return self.ask("GET", address, query=query, **headers)

    def post(self, address: str, body: object = None, **headers: str):
        return self.ask("POST", address, {} if body is None else body, **headers)

    def put(self, address: str, body: object, **headers: str):
        return self.ask("PUT", address, body, **headers)

    def patch(self, address: str, body: object, **headers: str):
        return self.ask("PATCH", address, body, **headers)

    def delete(self, address: str, **headers: str):
        return self.ask("DELETE", address, **headers)


def api_client(user, project, role: str, name: str = "CI") -> ApiClient:
    """A client with a token of this member."""
    _, text = token_make(project=project, by=user, name=name, role=role, days=30)
    return ApiClient(text)


@pytest.fixture
def api_viewer(viewer, project):
    return api_client(viewer, project, "viewer")


@pytest.fixture
def api_editor(editor, project):
    return api_client(editor, project, "editor")


@pytest.fixture
def api_owner(owner, project):
    return api_client(owner, project, "owner")


@pytest.fixture
def api_outsider(outsider, other_project):
    """A client with a valid token of another project."""
    return api_client(outsider, other_project, "owner")


@pytest.fixture
def api_nobody(db):
    return ApiClient("")
