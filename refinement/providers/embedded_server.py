"""The process that holds the embedded model: told what to load on its input, it ends when that closes.

It is a process of its own because loading holds Python's lock for as long as it takes, and because a
worker that dies, however suddenly, takes it along.
"""

import json
import os
import sys
from typing import Any


def load(wanted: dict[str, Any]) -> Any:
    """llama.cpp's server, listening on a loopback address of its own."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = wanted["path"]
    parameters.model_alias = {wanted["model"]}
    parameters.api_keys = [wanted["key"]]
    parameters.n_parallel = wanted["slots"]
    parameters.n_ctx = wanted["context"] * wanted["slots"]
    parameters.kv_unified = False
    # Threads wait for each other by spinning: as many as cores are six times slower on a busy machine.
    threads = max(1, (os.cpu_count() or 1) - 1)
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.cache_ram_mib = 0  # the slots hold the prefixes; a second store may grow to gigabytes
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.warmup = False
    parameters.verbosity = -1
    return xllamacpp.Server(parameters)


def main() -> None:
    wanted = json.loads(sys.stdin.readline())
    try:
        server = load(wanted)
        answer = {"address": server.listening_address}
    except Exception as error:  # noqa: BLE001  whatever went wrong is for the parent to tell
        answer = {"error": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    if "address" in answer:
        sys.stdin.read()
    # Not the usual way out: it would wait for the generation under way.
    os._exit(0)


if __name__ == "__main__":
    main()
