"""A simulated machine with a worker: secrets to steal, files to change, servers to reach."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.house.processes import ROOT
from tests.providers.sandbox.attempts import PRELUDE, Attempt

NOBODY = 65_534
PROGRAMS = "/usr/bin:/usr/local/bin"
WATCHED = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")
SECRETS = ("SECRET_KEY", "POSTGRES_PASSWORD", "WIGGUM_KEY_OPENAI", "DATABASE_URL")
PATIENCE = 60.0


def interpreter() -> str | None:
    """A Python that every account may start."""
    return shutil.which("python3", path=PROGRAMS)


class Machine:
    """A context manager; `attempt` runs one in the worker and returns how it ended and what it left."""

    def __init__(self, *, user: int, namespaces: bool, unsafe: bool = False) -> None:
        self.user = user
        self.config = {"namespaces": namespaces, "unsafe": unsafe}
        self.stack = ExitStack()
        self.number = 0

    def __enter__(self) -> "Machine":
        folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="machine-"))
        self.folder = Path(folder)
        self.folder.chmod(0o755)
        self.app = self.folder / "app"
        shutil.copytree(ROOT / "refinement/providers", self.app / "refinement/providers")
        (self.app / "refinement/__init__.py").touch()
        self.fill()
        for path in [self.folder, *self.folder.rglob("*")]:
            os.chown(path, self.user, self.user)
        (self.folder / "tmp").mkdir()
        (self.folder / "tmp").chmod(0o1777)
        self.proof = self.folder / "proof"
        self.proof.touch()
        self.proof.chmod(0o666)
        self.stack.callback(self.stop)
        self.sibling_marker = f"9998.{os.getpid()}"
        self.sibling = self.start(["sleep", self.sibling_marker])
        command = [interpreter(), str(Path(__file__).with_name("worker.py")), json.dumps(self.config)]
        copy = self.app / "worker.py"
        shutil.copy(command[1], copy)
        command[1] = str(copy)
        variables = dict.fromkeys(SECRETS, "canary") | {
            "PYTHONPATH": str(self.app),
            "PATH": os.environ["PATH"],
            "TMPDIR": str(self.folder / "tmp"),
        }
        self.worker = self.start(
            command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def start(self, command: list[str], **options: object) -> subprocess.Popen:
        account = (
            {} if self.user == os.geteuid() else {"user": self.user, "group": self.user, "extra_groups": ()}
        )
        return subprocess.Popen(command, cwd="/", **account, **options)

    def stop(self) -> None:
        for process in (self.sibling, self.worker):
            process.kill()
            process.wait()

    def fill(self) -> None:
        texts = {
            "data/secret_key": "the secret key",
            "data/db.sqlite3": "the database",
            "home/.ssh/id_ed25519": "the private key",
            "venv/lib/here": "",
            "venv/pyvenv.cfg": "home = /usr",
            "victim/precious": "do not delete",
            "tmp_file": "of somebody else",
        }
        for name, text in texts.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.folder / "data").chmod(0o700)
        self.tcp = self.listen(socket.AF_INET, ("127.0.0.1", 0))
        self.tcp6 = self.listen(socket.AF_INET6, ("::1", 0))
        self.udp = self.listen(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)
        self.abstract = f"wiggum-{os.getpid()}-{time.monotonic_ns()}"
        self.listen(socket.AF_UNIX, f"\0{self.abstract}")
        self.listen(socket.AF_UNIX, str(self.folder / "socket"))
        (self.folder / "socket").chmod(0o777)

    def listen(self, family: int, address: object, kind: int = socket.SOCK_STREAM) -> int:
        server = self.stack.enter_context(socket.socket(family, kind))
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen()
        return 0 if family == socket.AF_UNIX else server.getsockname()[1]

    def places(self, attempt: Attempt, marker: str) -> dict[str, object]:
        inside = {
            name: str(self.folder / name) for name in ("app", "venv", "data", "home", "victim", "tmp_file")
        }
        return inside | {
            "name": attempt.name,
            "marker": marker,
            "proof": str(self.proof),
            "key": str(self.folder / "data/secret_key"),
            "database": str(self.folder / "data/db.sqlite3"),
            "unix": str(self.folder / "socket"),
            "abstract": self.abstract,
            "tcp": self.tcp,
            "tcp6": self.tcp6,
            "udp": self.udp,
            "worker": self.worker.pid,
            "sibling": self.sibling.pid,
            "sibling_marker": self.sibling_marker,
            "ipc_key": 0x57160000 + self.number,
        }

    def attempt(self, attempt: Attempt) -> dict[str, object]:
        """The worker's result, with `escaped` and everything that is `left` afterwards."""
        self.number += 1
        marker = f"9999.{os.getpid()}{self.number}"
        places = json.dumps(self.places(attempt, marker))
        command = ["python3", "-c", PRELUDE, places, attempt.body]
        asked = {"command": command, "seconds": attempt.seconds, "marker": marker}
        before = self.seen()
        self.worker.stdin.write(json.dumps(asked) + "\n")
        self.worker.stdin.flush()
        result = json.loads(self.worker.stdout.readline())
        after = self.seen()
        left = sorted(after - before) + sorted(f"gone: {entry}" for entry in before - after)
        left += [f"process {pid}" for pid in processes(marker)] + ["a key"] * result["keys"]
        return result | {"escaped": "ESCAPED" in result.get("out", ""), "left": left}

    def seen(self) -> set[str]:
        """Files with their sizes, and SysV objects, that a job could have left or changed."""
        found = {f"{path} {size}" for folder in WATCHED for path, size in files(Path(folder), depth=1)}
        found |= {f"{path} {size}" for path, size in files(self.folder, depth=9) if path != self.proof}
        for kind in ("shm", "sem", "msg"):
            lines = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
            keys = (int(line.split()[0]) & 0xFFFFFFFF for line in lines)
            found |= {f"{kind} {key:x}" for key in keys if key >> 16 == 0x5716}
        return found | ({"sibling"} if self.sibling.poll() is None else set())

    def executed(self) -> list[str]:
        """The names of the attempts that could write to the world outside: all that ran without a sandbox."""
        return self.proof.read_text().splitlines()


def files(folder: Path, depth: int) -> list[tuple[Path, int]]:
    """The files below a folder; in shared folders, only those of jobs."""
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        shared = depth == 1 and not path.name.startswith(f"9999.{os.getpid()}")
        if shared or path.name == "__pycache__":
            continue
        found.append((path, path.lstat().st_size if path.is_file() else 0))
        if depth > 1 and path.is_dir() and not path.is_symlink():
            found += files(path, depth - 1)
    return found


def processes(marker: str) -> list[str]:
    """Processes that an attempt started: their command line has its marker."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            continue
    return found
