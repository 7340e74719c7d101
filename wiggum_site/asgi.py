"""The entry point for granian."""

import gc
import os
import signal
import warnings

from django.core.asgi import get_asgi_application
from django.urls import get_resolver

from refinement.supervisor import die_with_parent

if os.environ.get("WIGGUM_SUPERVISED"):
    # granian serves from a process of its own making, which must not outlive it and keep the port. The
    # supervisor made granian the leader of its process group, so its pid is known even if it is gone by now.
    die_with_parent(os.getpgrp(), signal.SIGKILL)
# Static files are handed over in one way for every kind of server, and Django remarks on that at each start.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wiggum_site.settings")
django = get_asgi_application()
# What was loaded stays for good: looking through it again and again would hold up a page now and then. The
# pages are loaded here, and not by the first request, to be among it.
get_resolver().url_patterns  # noqa: B018
# Imported here: it needs the settings, which only now are there.
from wiggum_site.request_bodies import RequestBodies  # noqa: E402

application = RequestBodies(django)
gc.collect()
gc.freeze()
