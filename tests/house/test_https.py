"""Response headers behind HTTPS."""

import pytest

from tests.house.processes import environment, manage

PRINT = "from django.conf import settings; print(settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_PRELOAD)"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "0 False"),
        ({"WIGGUM_HSTS_PRELOAD": "1"}, "0 False"),
        ({"WIGGUM_HTTPS": "1"}, "31536000 False"),
        ({"WIGGUM_HTTPS": "1", "WIGGUM_HSTS_PRELOAD": "1"}, "31536000 True"),
    ],
)
def test_preloading_is_a_choice(data_dir, given, said):
    result = manage("shell", "--no-imports", "-c", PRINT, env=environment(data_dir, **given))
    assert result.stdout.strip() == said


def test_the_settings_pass_djangos_check_for_production(data_dir):
    env = environment(data_dir, WIGGUM_HTTPS="1", ALLOWED_HOSTS="example.org")
    env.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)  # set for the tests themselves
    result = manage("check", "--deploy", "--fail-level", "WARNING", env=env)
    assert result.returncode == 0, result.stderr
