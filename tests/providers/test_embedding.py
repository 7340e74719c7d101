"""Embeddings of both kinds of servers."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from refinement.providers.base import Embeds, ErrorKind, ProviderError
from refinement.providers.ollama import OllamaProvider
from refinement.providers.openai_compatible import OpenAICompatibleProvider


class Server:
    """Responds to every POST with a fixed response, and stores the last request."""

    def __init__(self) -> None:
        told = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                told.path = self.path
                told.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                content = json.dumps(told.answer).encode()
                self.send_response(told.status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.status, self.answer, self.path, self.body = 200, {}, "", {}
        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server():
    started = Server()
    yield started
    started.http.shutdown()
    started.http.server_close()


def test_ollama_embeds(server):
    server.answer = {"model": "m", "embeddings": [[1.0, 0.0], [0.0, 1.0]]}
    provider = OllamaProvider(server.address)
    assert isinstance(provider, Embeds)
    assert provider.embed("m", ["one", "two"], seconds=10) == [[1.0, 0.0], [0.0, 1.0]]
    assert (server.path, server.body["input"]) == ("/api/embed", ["one", "two"])


def test_an_openai_compatible_server_embeds_in_any_order(server):
    server.answer = {"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}
    provider = OpenAICompatibleProvider(server.address)
    assert isinstance(provider, Embeds)
    assert provider.embed("m", ["one", "two"], seconds=10) == [[1.0, 0.0], [0.0, 1.0]]
    assert (server.path, server.body) == ("/v1/embeddings", {"model": "m", "input": ["one", "two"]})


@pytest.mark.parametrize(
    "answer",
    [{}, {"data": []}, {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}],
)
def test_what_is_missing_or_uneven_is_an_error(server, answer):
    server.answer = answer
    with pytest.raises(ProviderError) as raised:
        OpenAICompatibleProvider(server.address).embed("m", ["one", "two"], seconds=10)
    assert raised.value.kind is ErrorKind.BAD_REPLY


def test_a_missing_model_is_said(server):
    server.status, server.answer = 404, {"error": "model 'm' not found"}
    with pytest.raises(ProviderError) as raised:
        OllamaProvider(server.address).embed("m", ["one"], seconds=10)
    assert raised.value.kind is ErrorKind.MODEL_MISSING
