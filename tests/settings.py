"""Production settings with a separate data directory and without slow parts."""

import os
import tempfile

# The settings create the data directory and the secret key on import, so this comes first.
_data = tempfile.TemporaryDirectory(prefix="wiggum-tests-")
os.environ["WIGGUM_DATA_DIR"] = _data.name
for _name in ("DEBUG", "SECRET_KEY", "ALLOWED_HOSTS", "WIGGUM_HTTPS", "WIGGUM_BROKER_URL"):
    os.environ.pop(_name, None)
# Playwright keeps an event loop in the main thread, where Django would refuse to touch the database.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"

from wiggum_site.settings import *  # noqa: E402, F403

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_ROOT.mkdir()  # noqa: F405  WhiteNoise warns where there is none
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True  # look up files on request: each test client would read all of them first
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
