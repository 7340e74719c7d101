"""The CPU cost of a bare call: Ollama's client in several threads, without saving anything.

    python -m benchmarks.bare ADDRESS [--threads 16] [--calls 6]

The baseline of `benchmarks.throughput`, which runs it right after its own measurement on the same server.
Prints milliseconds of CPU time per call.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

import ollama

PROMPT = "Say what a careful reader would want to know of it. " * 60  # about as long as a judge's prompt


def chats(client: ollama.Client, calls: int) -> None:
    for _ in range(calls):
        parts = client.chat(model="loopback:1b", messages=[{"role": "user", "content": PROMPT}], stream=True)
        assert "".join(part.message.content or "" for part in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--calls", type=int, default=6)
    options = parser.parse_args()
    client = ollama.Client(host=options.address)
    with ThreadPoolExecutor(options.threads) as pool:
        list(pool.map(lambda _: chats(client, 1), range(options.threads)))  # connects
        began = time.process_time()
        list(pool.map(lambda _: chats(client, options.calls), range(options.threads)))
        used = time.process_time() - began
    print(1000 * used / (options.threads * options.calls))


if __name__ == "__main__":
    main()
