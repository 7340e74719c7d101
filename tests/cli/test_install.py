"""`make install` puts the command into .venv/bin, from this checkout and without a download."""

import re
import subprocess
import sys
import sysconfig

from tests.house.processes import PATIENCE, ROOT, environment
from wiggum_site import VERSION


def test_the_command_is_installed_and_runs_from_anywhere(tmp_path):
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=PATIENCE)
    (line,) = re.findall(r"^\t@\$\(PIP\) (install .*--editable \.)$", (ROOT / "Makefile").read_text(), re.M)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        str(venv / "bin" / "python"),
    ]
    # What Wiggum and its build need is where these tests have it; command and checkout are the new ones.
    env = environment(tmp_path, PYTHONPATH=sysconfig.get_path("purelib"))
    done = subprocess.run(
        [*pip, *line.split()], cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    said = subprocess.run(
        [venv / "bin" / "wiggum", "--version"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert said.stdout == f"wiggum, version {VERSION}\n", said.stderr
    assert (venv / "bin" / "wiggum").read_text().startswith(f"#!{venv}")
