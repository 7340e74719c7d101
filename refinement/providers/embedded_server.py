"""The process that serves the embedded model. It reads what to load from stdin, and ends when stdin closes.

It is a separate process because loading holds Python's GIL, and so that it always ends with its worker.
"""

import json
import os
import sys
from typing import Any


def load(request: dict[str, Any]) -> Any:
    """Starts llama.cpp's server on a free loopback port."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = request["path"]
    parameters.model_alias = {request["model"]}
    parameters.api_keys = [request["key"]]
    parameters.n_parallel = request["slots"]
    parameters.n_ctx = request["context"] * request["slots"]
    parameters.kv_unified = False
    # llama.cpp's threads spin while they wait: one per core is six times slower on a busy machine.
    threads = max(1, (os.cpu_count() or 1) - 1)
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.cache_ram_mib = 0  # the slots cache prefixes; a second cache may grow to gigabytes
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.warmup = False
    parameters.verbosity = -1
    return xllamacpp.Server(parameters)


def main() -> None:
    request = json.loads(sys.stdin.readline())
    try:
        server = load(request)
        answer = {"address": server.listening_address}
    except Exception as error:  # noqa: BLE001  reported by the parent
        answer = {"error": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    if "address" in answer:
        sys.stdin.read()
    # A normal exit would wait for the reply in progress.
    os._exit(0)


if __name__ == "__main__":
    main()
