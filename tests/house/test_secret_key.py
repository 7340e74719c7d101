"""The secret key is created once and readable only by its owner."""

import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.house.processes import environment, manage
from wiggum_site.environment import secret_key

SETTINGS_READ = ("shell", "--no-imports", "-c", "pass")


def test_it_is_made_once_and_kept_private(data_dir):
    assert manage(*SETTINGS_READ, env=environment(data_dir)).returncode == 0
    kept = data_dir / "secret_key"
    first = kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert len(first) >= 50
    assert manage(*SETTINGS_READ, env=environment(data_dir)).returncode == 0
    assert kept.read_text() == first


def test_a_damaged_one_is_said(data_dir):
    (data_dir / "secret_key").write_text("short")
    result = manage(*SETTINGS_READ, env=environment(data_dir))
    assert result.returncode != 0
    assert "is damaged" in result.stderr
    assert "Traceback" not in result.stderr


def test_processes_that_start_together_read_the_same_key(tmp_path, monkeypatch):
    monkeypatch.delenv("SECRET_KEY", raising=False)
    folders = [tmp_path / str(number) for number in range(100)]
    for folder in folders:
        folder.mkdir()
    asked = [folder for folder in folders for _ in range(4)]
    with ProcessPoolExecutor(4, get_context("fork")) as pool:
        found = list(pool.map(secret_key, asked))
    assert len(set(found)) == len(folders)
