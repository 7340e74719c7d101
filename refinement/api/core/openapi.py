"""The OpenAPI document: Ninja's, plus what applies to all operations."""

from functools import cached_property
from typing import Any

from django.http import HttpRequest
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.renderers import BaseRenderer
from pydantic_core import to_json

from refinement.api.core.problems import MEDIA_TYPE, Problem, answer_to

READS = (400, 401, 403, 404, 422, 429, 500)
WRITES = (*READS, 409, 413)
EDITS = (412, 428)
TOLD = {
    400: "The request could not be parsed.",
    401: "Missing, invalid or expired token or session.",
    403: "Insufficient role, missing CSRF token, or you are scoring this run blind.",
    404: "Not found, or in a project you or the token cannot access.",
    409: "Not possible in this state, or a request with this Idempotency-Key is in progress.",
    412: "It was changed since you read it.",
    413: "The request is too large.",
    422: "Validation failed; see `errors`.",
    428: "If-Match is missing.",
    429: "Rate limit exceeded; see Retry-After.",
    500: "Internal server error.",
}
RATE_HEADERS = {
    "RateLimit-Limit": "Requests allowed per minute.",
    "RateLimit-Remaining": "Requests left in this minute.",
    "RateLimit-Reset": "Seconds until the limit resets.",
}
Details = dict[str, Any]


class JsonRenderer(BaseRenderer):
    """Writes datetimes and decimals the same in direct and stored responses."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        return to_json(data)


class Api(NinjaAPI):
    """Ninja's API, with short operation ids, and errors, rate limits and roles documented."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**kwargs)
        schemas = document["components"]["schemas"]
        schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schemas["Problem"].pop("$defs", {}))
        roles = self.roles
        for methods in document["paths"].values():
            for method, details in methods.items():
                if method == "get":
                    document_unchanged(details)
                document_errors(method, details)
                word(details)
                if role := roles.get(details["operationId"]):
                    details["x-role"] = role
                if any(entry["name"] == "fields" for entry in details["parameters"]):
                    loosen(schemas, details)
        return document

    @cached_property
    def document(self) -> OpenAPISchema:
        """The document, built once per process."""
        return self.get_openapi_schema()

    @cached_property
    def roles(self) -> dict[str, str]:
        """The minimum role of each project operation."""
        return {
            operation.view_func.__name__: operation.view_func.role
            for router in self._get_bound_routers()
            for view in router.path_operations.values()
            for operation in view.operations
            if hasattr(operation.view_func, "role")
        }

    def on_exception(self, request: HttpRequest, exc: Any) -> Any:
        return answer_to(exc)


def document_errors(method: str, details: Details) -> None:
    """Documents the errors such an operation can return."""
    edits = any(entry["name"] == "If-Match" for entry in details["parameters"])
    for status in (*(READS if method == "get" else WRITES), *(EDITS if edits else ())):
        details["responses"][status] = {
            "description": TOLD[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
    for answer in details["responses"].values():
        answer["headers"] = {
            name: {"description": words, "schema": {"type": "integer"}}
            for name, words in RATE_HEADERS.items()
        }


def document_unchanged(details: Details) -> None:
    """Documents If-None-Match and 304 for JSON responses."""
    if "application/json" not in details["responses"].get(200, {}).get("content", {}):
        return
    details["parameters"].append({
        "in": "header",
        "name": "If-None-Match",
        "required": False,
        "description": "The `ETag` of your copy; the response is 304 without a body if it is current.",
        "schema": {"type": "string", "maxLength": 500},
    })  # fmt: skip
    details["responses"][304] = {"description": "Not modified."}


def word(details: Details) -> None:
    """The docstring's first sentence becomes the summary, the rest the description."""
    paragraph, _, rest = details.get("description", "").partition("\n\n")
    summary, _, more = " ".join(paragraph.split()).partition(". ")
    details["summary"] = summary.removesuffix(".")
    details["description"] = "\n\n".join(part for part in (more, rest) if part) or paragraph


def loosen(schemas: Details, details: Details) -> None:
    """Makes all fields optional in partial responses."""
    for status, answer in details["responses"].items():
        content = answer.get("content", {}).get("application/json")
        if int(status) < 300 and content:
            name = content["schema"].get("$ref", "").rpartition("/")[2]
            shape = schemas.get(name, {})
            items = shape.get("properties", {}).get("items", {}).get("items", {})
            inner = schemas.get(items.get("$ref", "").rpartition("/")[2])
            (inner or shape).pop("required", None)


def grouped(document: Details) -> list[dict[str, Any]]:
    """The operations by tag, for the docs page."""
    found: dict[str, list[dict[str, str]]] = {}
    for path, methods in document["paths"].items():
        for method, details in methods.items():
            line = {
                "method": method.upper(),
                "path": path,
                "summary": details["summary"],
                "role": details.get("x-role", ""),
            }
            found.setdefault(details["tags"][0], []).append(line)
    return [{"name": name, "operations": lines} for name, lines in found.items()]
