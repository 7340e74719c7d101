"""The entry point for granian."""

import gc
import os
import signal
import warnings

from django.core.asgi import get_asgi_application
from django.urls import get_resolver

from refinement.supervisor import die_with_parent

if os.environ.get("WIGGUM_SUPERVISED"):
    # granian serves from a child process, which must not outlive it and keep the port. The supervisor made
    # granian the leader of its process group, so its pid is known even if it is already gone.
    die_with_parent(os.getpgrp(), signal.SIGKILL)
# WhiteNoise streams static files synchronously, and Django warns about it at each start.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wiggum_site.settings")
django = get_asgi_application()
# Loaded objects stay for good, so the garbage collector can skip them. Load all views first.
get_resolver().url_patterns  # noqa: B018
# Imported here, because it needs the settings.
from wiggum_site.request_bodies import RequestBodies  # noqa: E402

application = RequestBodies(django)
gc.collect()
gc.freeze()
