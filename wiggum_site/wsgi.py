"""The entry point for WSGI servers. Event streams require ASGI."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wiggum_site.settings")
application = get_wsgi_application()
