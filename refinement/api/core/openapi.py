"""The OpenAPI document: what Ninja makes of the operations, and what holds for all of them."""

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
    400: "The request could not be read.",
    401: "No token or session, or one that does not work (any more).",
    403: "The role is too low, a CSRF token is missing, or you read this run blind.",
    404: "Not there, or in a project that is not yours or not the token's.",
    409: "Not possible in this state, or a request with this Idempotency-Key is being answered.",
    412: "Somebody changed it since you read it.",
    413: "The request is too large.",
    422: "Readable, but not valid; `errors` says where.",
    428: "If-Match is missing.",
    429: "The token has made its requests of this minute; see Retry-After.",
    500: "Something broke on our side.",
}
RATE_HEADERS = {
    "RateLimit-Limit": "How many requests the token may make in a minute.",
    "RateLimit-Remaining": "How many of them are left.",
    "RateLimit-Reset": "Seconds until the next minute begins.",
}
Details = dict[str, Any]


class JsonRenderer(BaseRenderer):
    """Moments and decimals are written alike, whether an answer is sent at once or kept to be sent again."""

    media_type = "application/json"

    def render(self, request: HttpRequest, data: Any, *, response_status: int) -> bytes:
        return to_json(data)


class Api(NinjaAPI):
    """Ninja's, with short operation ids and every operation's errors, rate limit and role documented."""

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
        """The whole document, made once for a process."""
        return self.get_openapi_schema()

    @cached_property
    def roles(self) -> dict[str, str]:
        """The least role of each operation of a project, as its door has it."""
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
    """Adds the problems that any such operation may answer with."""
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
    """What is read as JSON is not sent again to who has it."""
    if "application/json" not in details["responses"].get(200, {}).get("content", {}):
        return
    details["parameters"].append({
        "in": "header",
        "name": "If-None-Match",
        "required": False,
        "description": "The `ETag` of what you have: 304 without a body where it is still so.",
        "schema": {"type": "string", "maxLength": 500},
    })  # fmt: skip
    details["responses"][304] = {"description": "You have it already."}


def word(details: Details) -> None:
    """The first sentence of the operation's docstring is its summary, the rest its description."""
    first, _, rest = details.get("description", "").partition("\n\n")
    details["summary"] = " ".join(first.split()).removesuffix(".")
    details["description"] = rest or first


def loosen(schemas: Details, details: Details) -> None:
    """An answer of some fields alone lacks the others."""
    for status, answer in details["responses"].items():
        content = answer.get("content", {}).get("application/json")
        if int(status) < 300 and content:
            name = content["schema"].get("$ref", "").rpartition("/")[2]
            shape = schemas.get(name, {})
            items = shape.get("properties", {}).get("items", {}).get("items", {})
            inner = schemas.get(items.get("$ref", "").rpartition("/")[2])
            (inner or shape).pop("required", None)


def grouped(document: Details) -> list[dict[str, Any]]:
    """The operations by their part, for a page that lists them."""
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
