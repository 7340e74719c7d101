"""The Django project: settings, URLs, entry points and the message broker."""

VERSION = "0.1.0"
