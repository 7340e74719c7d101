"""Coroutines in tests."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_coroutine(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Runs it in a separate thread: Playwright keeps an event loop running in the main thread."""
    with ThreadPoolExecutor(max_workers=1) as threads:
        return threads.submit(asyncio.run, coroutine).result()
