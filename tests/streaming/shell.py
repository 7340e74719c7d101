"""Runs Python code with a served instance's settings: reads and writes one line of JSON per request.

One long-running process, because each new one would take a second to import everything.
"""

import contextlib
import io
import json
import sys

import django


def main() -> None:
    django.setup()
    from django.db import connection

    for line in sys.stdin:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(json.loads(line), {"__name__": "shell"})
        connection.close()
        print(json.dumps(said.getvalue()), flush=True)


if __name__ == "__main__":
    main()
