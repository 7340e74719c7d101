"""Faults that replace the whole response."""

import asyncio
import json

from tests.loopback.connection import Connection
from tests.loopback.faults import Fault

PAGE = b"<!DOCTYPE html><html><body><h1>Sign in to the network</h1></body></html>"


async def spoil(fault: Fault, protocol: str, model: str, connection: Connection) -> bool:
    """Simulates the fault; returns False if the normal response should follow."""
    if fault.kind in ("hang", "slow_first_byte"):
        await asyncio.sleep(fault.seconds or (3600 if fault.kind == "hang" else 0.5))
        return fault.kind == "hang"
    if fault.kind == "drop":
        connection.abort()
    elif fault.kind == "html":
        connection.respond(200, PAGE, "text/html")
    elif fault.kind == "rate_limit":
        connection.respond(429, _error(protocol, "slow down"), extra={"Retry-After": fault.retry_after})
    elif fault.kind == "status":
        connection.respond(fault.status, _error(protocol, fault.message or "the server stumbled"))
    elif fault.kind == "unknown_model":
        connection.respond(404, _error(protocol, f"model '{model}' not found"))
    elif fault.kind == "context_exceeded":
        words = "request (9031 tokens) exceeds the available context size (8192 tokens)"
        connection.respond(400, _error(protocol, words))
    else:
        return False
    return True


def _error(protocol: str, message: str) -> bytes:
    return json.dumps({"error": message if protocol == "ollama" else {"message": message}}).encode()
